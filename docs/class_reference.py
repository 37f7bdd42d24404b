"""Writes the reference pages of classes from the doc comments of the headers: layers, losses, metrics, optimizers, tensors,
gradients, traced functions, data and files. The website has them (docs/site.py); docs/ops.md has the ops.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include/tandem"
sys.path.insert(0, str(ROOT / "tests/lint"))
import op_reference  # noqa: E402
import sources  # noqa: E402

# Page: title, what its top says, the headers.
PAGES = {
    "layers": ("Layers", "Layers, initializers, regularizers and constraints: `<tandem/layers.hpp>`, namespace `tandem::layers`.",
               ["module/model.hpp", "layers/*.hpp"]),
    "losses": ("Losses", "Losses as classes and as functions: `<tandem/losses.hpp>`, namespace `tandem::losses`.", ["losses/*.hpp"]),
    "metrics": ("Metrics", "Metrics, accumulated over batches: `<tandem/metrics.hpp>`, namespace `tandem::metrics`.", ["metrics/*.hpp"]),
    "optimizers": ("Optimizers", "Optimizers, schedules, clipping, averages of weights: `<tandem/optimizers.hpp>`.", ["optim/*.hpp"]),
    "tensors": ("Tensors", "Tensors, Variables, shapes, devices, modules, errors: `<tandem/tensor.hpp>`.",
                ["core/tensor.hpp", "core/variable.hpp", "core/assign_all.hpp", "base/shape.hpp", "base/spec.hpp", "base/dtype.hpp", "base/device.hpp",
                 "core/devices.hpp", "core/scope.hpp", "module/module.hpp", "base/error.hpp", "base/warning.hpp", "core/profile.hpp", "ops/random/generator.hpp"]),
    "gradients": ("Gradients", "Tapes and what stands beside them: `<tandem/tensor.hpp>`; checks by finite differences: `<tandem/testing.hpp>`.", ["autodiff/*.hpp", "core/indexed_slices.hpp"]),
    "traced": ("Traced functions, reference", "`function()`, control flow, graphs: `<tandem/function.hpp>`.",
               ["graph/trace/*.hpp", "graph/control/*.hpp", "graph/exec/memory_use.hpp", "graph/debug/graph_def.hpp", "core/cancel.hpp"]),
    "data": ("Data", "Files and mini-batches: `<tandem/data.hpp>`, the component `tandem::data`.", ["data/*.hpp", "data/dataset/*.hpp"]),
    "image_layers": ("Layers for images", "Layers that augment images: `<tandem/image.hpp>`, the component `tandem::image`; "
                     "its ops are [images](ops/images.md).", ["image/layers.hpp"]),
    "sound_layers": ("Layers for sounds", "Spectrograms as layers: `<tandem/signal.hpp>`, the component `tandem::signal`; "
                     "its ops are [Fourier transforms](ops/fourier.md).", ["signal/layers.hpp"]),
    "string_tables": ("Tables and vocabularies", "Lookup tables, vocabularies, `layers::StringLookup`, `TextVectorization`, `Hashing` and `HashedCrossing`: `<tandem/strings.hpp>`, the "
                      "component `tandem::strings`; its ops are [strings and tables](ops/strings.md).",
                      [f"strings/{name}.hpp" for name in ("lookup_layer", "text_vectorization", "hash_layers", "vocabulary", "lookup")]),
    "gpu": ("GPU, reference", "Queries and control of GPUs: `<tandem/cuda.hpp>`.", ["cuda.hpp"]),
    "files": ("Files", "Tensors, arrays, records and graphs in files: `<tandem/io.hpp>`, the component `tandem::io`.", ["io/*.hpp"]),
    "saved_models": ("Saved models, reference", "Traced functions as directories: `<tandem/saved_model.hpp>`, the component "
                     "`tandem::saved_model`.", [f"saved_model/{name}.hpp" for name in ("signature", "save", "load")]),
    "servers": ("Serving, reference", "A model server: `<tandem/serving.hpp>`, the component `tandem::serving`.",
                [*(f"serving/{name}.hpp" for name in ("server", "options", "listener", "engine", "request", "core", "rest", "http_route", "web_files", "log", "config_file", "status")),
                 "serving_grpc/listener.hpp"]),
    "training": ("Training", "Trainer, callbacks, checkpoints: `<tandem/train.hpp>`, the component `tandem::train`.",
                 ["train/*.hpp"]),
    "distribution": ("Distributed training, reference", "Several processes: `<tandem/distribute.hpp>`, the component "
                     "`tandem::distribute`.", [f"distribute/{name}.hpp" for name in ("strategy", "report", "sharded_embedding", "communicator", "sim_cluster", "transport", "device_transport")]),
    "summaries": ("Summaries", "Event files for TensorBoard: `<tandem/summary.hpp>`, the component `tandem::summary`.",
                  ["summary/file_writer.hpp", "summary/functions.hpp", "summary/hparams.hpp", "summary/event.hpp", "summary/reader.hpp",
                   "summary/plugin_data.hpp", "summary/tensor_board.hpp", "summary/profile.hpp",
                   "summary/report.hpp", "summary/report_server.hpp"]),
    "plots": ("Pictures and reports, reference", "SVG and HTML: `<tandem/plot.hpp>`, the component `tandem::plot`.",
              [f"plot/{name}.hpp" for name in ("figure", "values", "lines", "scatter", "bars", "heat_map", "images", "graph",
                                               "plot_model", "report")]),
}
DOCUMENTED = ("layers", "losses", "metrics", "optim", "data", "io", "train", "saved_model", "serving", "serving_grpc", "distribute", "summary", "plot", "core",
              "module", "autodiff", "graph", "image", "signal", "strings")
# The namespaces whose documented classes all have an entry.
COMPLETE = ("layers", "losses", "metrics", "optimizers", "data", "train", "lookup", "plot")

CLASS = re.compile(r"(?:class|struct)(?: TANDEM_API)?(?: \[\[nodiscard\]\])? (\w+)(?: final)?(?: : (.*))? \{")
SKIPPED = re.compile(r"^(friend|\[\[deprecated|using (?!\w+ = (?!.*decltype))|using [a-z_]+ =|static constexpr|TANDEM_|virtual ~|~|static_assert)|= (delete|default);|\boperator=\(")
BASE = re.compile(r"(?:^|, )(?:public )?((?:\w+::)*)(\w+)(?:<([\w:]+)>)?")
# What concepts of detail:: stand for in declarations, and other parts of it.
CONCEPTS = {"PositionalRate": "LearningRate", "Rate": "double"}
FORMS = [(re.compile(r"(?:tandem::)?detail::PairFunction (\w+)"), r"Tensor \1(const Tensor& y_true, const Tensor& y_pred)"),
         (re.compile(r", (?:tandem::)?detail::Ignored \w+ = \{\}"), ""),
         (re.compile(r" requires\((?=[^()]*detail::)(?:[^()]|\([^()]*\))*\)"), "")]


def public_form(text):
    """A declaration in terms that a user knows; empty if it is for the library alone."""
    text = re.sub(r"\) (?:const )?: .*$", ");", text)  # without what a constructor initializes
    if match := re.match(r"template <(?:tandem::)?detail::(\w+) (\w+)> (.*)", text):
        known = CONCEPTS.get(match[1])
        text = re.sub(rf"\b{match[2]}\b", known, match[3]) if known else f"template <class {match[2]}> {match[3]}"
    for pattern, form in FORMS:
        text = pattern.sub(form, text)
    return "" if "detail::" in text else text


class Members:
    """The public members of a class, each with its comment, and where its body ends."""

    def __init__(self, lines, bare, at, is_struct):
        self.found = []
        plain = [line.partition("///<")[0] for line in lines]
        public, comment, depth = is_struct, [], 0
        while at < len(lines):
            line = lines[at].strip()
            if depth == 1 and re.match(r"(public|private|protected):", line):
                public, comment = line.startswith("public"), []
            elif depth == 1 and line.startswith("///"):
                comment.append(line[3:].rstrip())
            elif depth == 1 and public and line and not line.startswith(("//", "}", "#")):
                text, end = op_reference.declaration(plain, at)
                while end < len(lines) and lines[end].strip().startswith("///<"):
                    end += 1
                notes = [line.partition("///<")[2].rstrip() for line in lines[at:end] if "///<" in line]
                if not SKIPPED.search(text) and not CLASS.match(line) and (form := public_form(text)):
                    self.found.append((form, comment + notes))
                comment = []
                while at < end:
                    depth += bare[at].count("{") - bare[at].count("}")
                    at += 1
                continue
            depth += bare[at].count("{") - bare[at].count("}")
            at += 1
            if depth == 0:
                break
        self.end = at


class Class:
    """A documented class of a header."""

    def __init__(self, scope, match, parameter, comment, members):
        self.scope, self.name, self.parameter, self.comment, self.members = scope, match[1], parameter, comment, members
        self.bases = BASE.findall(match[2] or "")

    def inherit(self, hidden):
        """Takes the members of base classes that have no entry of their own: of `hidden`, those in detail::."""
        for space, name, argument in self.bases:
            base = hidden.get(name) if "detail::" in space or "detail" in self.scope else None
            if not base:
                continue
            base.inherit(hidden)
            names = {named(text) for text, _ in self.members}
            rename = (lambda text: re.sub(rf"(?:typename )?\b{base.parameter}\b", argument, text)) if argument else str
            self.members = self.members + [(rename(text), about) for text, about in base.members if named(text) not in names]
            if not op_reference.prose(self.comment)[1]:
                at = next((i for i, line in enumerate(base.comment) if op_reference.KEY.match(line)), len(base.comment))
                self.comment = self.comment + base.comment[at:]
        self.bases = []


def named(text):
    """What a declaration declares: the name before its parameters or its value."""
    match = re.search(r"(operator\(\)|\w+)\(", text) or re.search(r"(\w+)(?: =.*)?;", text)
    return match[1] if match else text


def classes(path, is_hidden=False):
    """The documented public classes of a header, or those of its hidden namespaces."""
    lines = path.read_text().splitlines()
    bare = sources.without_comments_and_strings("\n".join(lines)).splitlines()
    spaces, comment, depth, at, parameter = [], [], 0, 0, ""
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("namespace ") and "{" in bare[at]:
            spaces.append((line.split()[1].rstrip("{").replace("TANDEM_NS::", "").replace("TANDEM_NS", ""), depth))
        if line.startswith("///"):
            comment.append(line[3:].rstrip())
        elif comment and (match := CLASS.match(line)) and op_reference.Header.hidden(spaces) == is_hidden:
            members = Members(lines, bare, at, line.startswith("struct"))
            if not match[1].endswith("Options"):
                yield Class("::".join(name for name, _ in spaces if name), match, parameter, comment, members.found)
            comment, at, parameter = [], members.end, ""
            continue
        elif not line.startswith("template"):
            comment, parameter = [], ""
        elif match := re.match(r"template <class (\w+)>$", line):
            parameter = match[1]
        depth += bare[at].count("{") - bare[at].count("}")
        at += 1
        while spaces and depth <= spaces[-1][1]:
            spaces.pop()


def keyed(comment):
    """The Markdown of a comment: sentences and code as they alternate, then its keys."""
    out, text, code = [], [], []

    def flush():
        if text:
            out.extend([" ".join(line.strip() for line in text), ""])
        if code:
            out.extend(["```cpp", *(line[3:] for line in code), "```", ""])
        text.clear(), code.clear()

    for number, line in enumerate(comment):
        if op_reference.KEY.match(line) and not line.startswith("    ") or op_reference.FIELD.match(line):
            flush()
            return out + [f"- *{key}*: {value}" for key, value in op_reference.prose(comment[number:])[1]] + [""]
        if line.startswith("   "):
            code.append(line)
            continue
        if code:
            flush()
        text.append(line)
    flush()
    return out


def escaped(line):
    """Without what Markdown would take for a tag or, where a lambda is told of, for a link."""
    return re.sub(r"`[^`]*`|<|\](?=\()", lambda match: {"<": "&lt;", "]": "\\]"}.get(match[0], match[0]), line)


def escaped_lines(lines):
    inside = False
    for line in lines:
        inside ^= line.startswith("```")
        yield line if inside else escaped(line)


def fields(constructors, options):
    """The options that constructors take; below the name of their struct if there are several."""
    structs = [name for name in dict.fromkeys(re.findall(r"\b\w+Options\b", " ".join(constructors))) if options.get(name)]
    for name in structs:
        if len(structs) > 1:
            yield f"- `{name}`"
        for field, default, note in options[name]:
            yield ("    " if len(structs) > 1 else "") + f"- *.{field}* = `{default}`" + (f": {note}" if note else "")


def entry(found, options):
    out = [f"## `{found.scope}::{found.name}`" if found.scope else f"## `{found.name}`", "", *keyed(found.comment)]
    constructors = [text for text, _ in found.members
                    if re.match(rf"(?:explicit |constexpr |template <.*?> (?:requires .*?)?)*{found.name}\(", text)]
    if constructors:
        told = {text: [f"// {line.strip()}" for line in about] for text, about in found.members}
        out += ["```cpp", *(line for text in constructors for line in [*told[text], text]), "```", ""]
    out += [*fields(constructors, options), ""]
    for text, about in found.members:
        if text not in constructors:
            what, items = op_reference.prose(about)
            out += [f"- `{text}` {what}".rstrip()] + [f"    - *{key}*: {value}" for key, value in items]
    return out + [""]


def page(title, about, patterns):
    paths = [path for pattern in patterns for path in sorted(HEADERS.glob(pattern))]
    ops = {path for _, _, entries in op_reference.FAMILIES for path in op_reference.headers_of(entries)}  # functions in docs/ops/
    options, hidden, out = {}, {}, []
    for path in sorted(HEADERS.rglob("*.hpp")):
        if path.relative_to(HEADERS).parts[0] in DOCUMENTED:
            options |= op_reference.Header(path).options
            hidden |= {found.name: found for found in classes(path, is_hidden=True)}
    for path in paths:
        for found in classes(path):
            found.inherit(hidden)
            out += entry(found, options)
        enums = [found for found in op_reference.Header(path).types.values() if found.is_enum]
        for found in enums:
            out += [f"## `{found.name}`", "", *found.markdown(), ""]
        for scope, names, texts, comment in op_reference.Header(path).functions if path not in ops else ():
            out += [line.replace("### ", "## ") for line in op_reference.entry(scope, names, texts, comment, options, {}, set())]
    return "\n".join([f"# {title}", "", about, "", *escaped_lines("\n".join(out).splitlines())]).rstrip() + "\n"


def missing():
    """The documented classes of complete namespaces that no page has, and enumerations without a description."""
    paged = {path for _, _, patterns in PAGES.values() for pattern in patterns for path in HEADERS.glob(pattern)}
    for path in sorted({*HEADERS.rglob("*.hpp")} - paged):
        for found in classes(path):
            if found.scope in COMPLETE:
                yield f"{path.relative_to(HEADERS)}: {found.scope}::{found.name} is on no page of docs/class_reference.py"
    for path in sorted(paged):
        yield from (f"{path.relative_to(HEADERS)}: no comment describes {found.name}"
                    for found in op_reference.Header(path).types.values() if found.is_enum and not found.is_described())


def write(folder):
    if problems := list(missing()):
        sys.exit("\n".join(problems))
    for name, (title, about, patterns) in PAGES.items():
        (folder / f"reference_{name}.md").write_text(page(title, about, patterns))
