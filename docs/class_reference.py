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
    "string_tables": ("Tables and vocabularies", "Lookup tables, vocabularies, `layers::StringLookup` and `layers::TextVectorization`: `<tandem/strings.hpp>`, the "
                      "component `tandem::strings`; its ops are [strings and tables](ops/strings.md).",
                      [f"strings/{name}.hpp" for name in ("lookup_layer", "text_vectorization", "vocabulary", "lookup")]),
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
                     "`tandem::distribute`.", [f"distribute/{name}.hpp" for name in ("strategy", "sharded_embedding", "communicator", "sim_cluster", "transport")]),
    "summaries": ("Summaries", "Event files for TensorBoard: `<tandem/summary.hpp>`, the component `tandem::summary`.",
                  ["summary/file_writer.hpp", "summary/functions.hpp", "summary/hparams.hpp", "summary/event.hpp", "summary/reader.hpp",
                   "summary/plugin_data.hpp", "summary/tensor_board.hpp", "summary/profile.hpp",
                   "summary/report.hpp", "summary/report_server.hpp"]),
    "plots": ("Pictures and reports, reference", "SVG and HTML: `<tandem/plot.hpp>`, the component `tandem::plot`.",
              [f"plot/{name}.hpp" for name in ("figure", "values", "lines", "scatter", "bars", "heat_map", "images", "graph",
                                               "plot_model", "report")]),
}
DOCUMENTED = ("layers", "losses", "metrics", "optim", "data", "io", "train", "saved_model", "serving", "serving_grpc", "distribute", "summary", "plot", "core",
              "module", "autodiff", "graph", "image", "strings")
# The namespaces whose documented classes all have an entry.
COMPLETE = ("layers", "losses", "metrics", "optimizers", "data", "train", "lookup", "plot")

CLASS = re.compile(r"(?:class|struct)(?: TANDEM_API)?(?: \[\[nodiscard\]\])? (\w+)(?: final)?(?: :.*)? \{")
SKIPPED = re.compile(r"^(friend|using|static constexpr|TANDEM_|virtual ~|~|static_assert)|= (delete|default);|\boperator=\(")


class Members:
    """The public members of a class, each with its comment, and where its body ends."""

    def __init__(self, lines, bare, at, is_struct):
        self.found = []
        public, comment, depth = is_struct, [], 0
        while at < len(lines):
            line = lines[at].strip()
            if depth == 1 and re.match(r"(public|private|protected):", line):
                public, comment = line.startswith("public"), []
            elif line.startswith("///<"):
                pass
            elif depth == 1 and line.startswith("///"):
                comment.append(line[3:].rstrip())
            elif depth == 1 and public and line and not line.startswith(("//", "}", "#")):
                text, end = op_reference.declaration(lines, at)
                if not SKIPPED.search(text) and not CLASS.match(line) and "detail::" not in text:
                    text = re.sub(r"\) (?:const )?: .*$", ");", text)  # without what a constructor initializes
                    self.found.append((re.sub(r" ?///<.*", "", text), comment))
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


def classes(path):
    """(scope, name, comment, members) of each documented public class of a header."""
    lines = path.read_text().splitlines()
    bare = sources.without_comments_and_strings("\n".join(lines)).splitlines()
    spaces, comment, depth, at = [], [], 0, 0
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("namespace ") and "{" in bare[at]:
            spaces.append((line.split()[1].rstrip("{").replace("TANDEM_NS::", "").replace("TANDEM_NS", ""), depth))
        if line.startswith("///"):
            comment.append(line[3:].rstrip())
        elif comment and (match := CLASS.match(line)) and not op_reference.Header.hidden(spaces):
            members = Members(lines, bare, at, line.startswith("struct"))
            if not match[1].endswith("Options"):
                yield "::".join(name for name, _ in spaces if name), match[1], comment, members.found
            comment, at = [], members.end
            continue
        elif not line.startswith("template"):
            comment = []
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


def entry(scope, name, comment, members, options):
    out = [f"## `{scope}::{name}`" if scope else f"## `{name}`", "", *keyed(comment)]
    constructors = [text for text, _ in members if re.match(rf"(?:explicit |template <.*?> (?:requires .*?)?)*{name}\(", text)]
    if constructors:
        out += ["```cpp", *constructors, "```", ""]
    for field, default, note in op_reference.option_fields(constructors, options):
        out.append(f"- *.{field}* = `{default}`" + (f": {note}" if note else ""))
    out += [""]
    for text, about in members:
        if text not in constructors:
            what, items = op_reference.prose(about)
            out += [f"- `{text}` {what}".rstrip()] + [f"    - *{key}*: {value}" for key, value in items]
    return out + [""]


def page(title, about, patterns):
    paths = [path for pattern in patterns for path in sorted(HEADERS.glob(pattern))]
    ops = {path for _, _, entries in op_reference.FAMILIES for path in op_reference.headers_of(entries)}  # functions in docs/ops/
    options, out = {}, []
    for path in sorted(HEADERS.rglob("*.hpp")):
        if path.relative_to(HEADERS).parts[0] in DOCUMENTED:
            options |= op_reference.Header(path).options
    for path in paths:
        for scope, name, comment, members in classes(path):
            out += entry(scope, name, comment, members, options)
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
        for scope, name, _, _ in classes(path):
            if scope in COMPLETE:
                yield f"{path.relative_to(HEADERS)}: {scope}::{name} is on no page of docs/class_reference.py"
    for path in sorted(paged):
        yield from (f"{path.relative_to(HEADERS)}: no comment describes {found.name}"
                    for found in op_reference.Header(path).types.values() if found.is_enum and not found.is_described())


def write(folder):
    if problems := list(missing()):
        sys.exit("\n".join(problems))
    for name, (title, about, patterns) in PAGES.items():
        (folder / f"reference_{name}.md").write_text(page(title, about, patterns))
