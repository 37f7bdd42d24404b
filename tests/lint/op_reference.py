"""Generates docs/ops.md, the list of all public ops, and docs/ops/, a page for each family, from the headers and the op
table, or checks that they are current.

python3 tests/lint/op_reference.py TABLE [--write]

TABLE is the program op_facts of a build, which prints what the table knows about each op. A function and its doc
comment become an entry; overloads that only turn an option into a positional argument are omitted.
"""

import argparse
import re
import subprocess
import sys

import sources

DOCS = sources.ROOT / "docs"
HEADERS = sources.ROOT / "include" / "tandem"
# The families in the order in which a reader needs them: page, title, headers. A folder stands for its headers.
FAMILIES = [
    ("creation", "Creation", ["ops/create"]),
    ("conversion", "Conversion and copies", ["ops"]),
    ("shape", "Shape and layout", ["ops/shape"]),
    ("indexing", "Indexing and order", ["ops/index"]),
    ("pointwise", "Element by element", ["ops/pointwise"]),
    ("reductions", "Reductions and scans", ["ops/reduce"]),
    ("linear_algebra", "Linear algebra", ["ops/linalg"]),
    ("convolutions", "Convolutions and pooling", ["ops/conv"]),
    ("normalization", "Normalization and moments", ["ops/norm"]),
    ("attention", "Attention", ["ops/attention"]),
    ("recurrent", "Recurrent ops", ["ops/rnn"]),
    ("softmax", "Softmax, cross entropies, CTC", ["ops/softmax"]),
    ("embeddings", "Embeddings", ["ops/embedding"]),
    ("random", "Random numbers", ["ops/random"]),
    ("checks", "Checks and printing", ["ops/debug"]),
    # Built on tapes, graphs or layers, or optional components.
    ("decompositions", "Decompositions and solvers",
     [f"linalg/{name}.hpp" for name in ("solve", "lstsq", "det", "qr", "eigen", "svd", "expm")]),
    ("fourier", "Fourier transforms", ["signal/fft.hpp", "signal/frames.hpp", "signal/mel.hpp"]),
    ("images", "Images",
     [f"image/{name}.hpp" for name in ("decode", "encode", "convert", "resize", "crop", "flip", "color", "adjust", "transform",
                                       "boxes", "glimpse", "text", "mix", "measure")] + ["image_webp/webp.hpp"]),
    ("strings", "Strings and tables",
     [f"strings/{name}.hpp" for name in ("text", "regex", "numbers", "hash", "unicode", "lookup", "vocabulary", "codec", "csv")]),
    ("collectives", "Collectives", ["distribute/collectives.hpp"]),
    ("control_flow", "Control flow", [f"graph/control/{name}.hpp" for name in (
        "control", "while_loop", "scan", "vectorized_map", "beam_search")]),
    ("gradients", "Gradients and tests", ["autodiff/recompute.hpp", "autodiff/check.hpp", "core/determinism.hpp"]),
]
ACCURACY = sources.ROOT / "tests" / "ops" / "pointwise" / "accuracy_rows.inc"
COVERAGE = sources.ROOT / "tests" / "golden" / "coverage.txt"
FUNCTION = re.compile(r"^(?:TANDEM_API |inline |constexpr |template <.*?> (?:requires.*? )?)+(?:auto|void|bool|int|i64|double|memory::Info|[A-Z][\w:<>]*|std::[\w:<>]+) (\w+)\(")
DECLARES = re.compile(r"(?:\[\[nodiscard\]\] )*(?:TANDEM_API |inline |constexpr |template )")
# Functions whose op has another name than they: one name, two ops.
OTHER_OP = {re.compile(r"\bwhere\(const Tensor& condition, (?!OpOptions)"): "select",
            re.compile(r"\bsize\(const Tensor& a, OpOptions"): ""}  # sets::size is composed
TYPE = re.compile(r"(?:struct|enum class) (\w+)(?<!Options)(?<!Attrs)(?: : [\w:]+)? \{")
HIDDEN = {"detail", "rules", "control", "impl"}  # internal namespaces
INTERNAL = re.compile(r"InferCall|OpDef|const char\* op|class List|\b(?:next_key|key|collapse_leading)\(")
KEY = re.compile(r"^   (\S+(?: \S+)*?)  +(?!//)(\S.*)$")  # "///   throws    errors::...", not code with a comment
FIELDS = ("returns", "throws", "gradient", "source", "variables")  # keys besides the names of parameters and options
FIELD = re.compile(rf"^   ({'|'.join(FIELDS)}) (\S.*)$")  # in a block aligned to a shorter key


def declaration(lines, at):
    """The declaration that begins on a line, without its body, and the number of the line after it."""
    text = ""
    while at < len(lines):
        text += re.sub(r"(^|\s)//(?!/).*|\[\[nodiscard\]\] ", "", lines[at]).strip() + " "
        at += 1
        if text.count("(") == text.count(")") and re.search(r"[;}{]\s*$", text):
            break
    return re.sub(r"\)( const)? \{.*$", r")\1;", re.sub(r"\s+", " ", text.strip())), at


class Type:
    """A struct of values without constructors, or an enumeration: its comment and its members with theirs."""

    def __init__(self, scope, name, lines, comment):
        self.name = f"{scope}::{name}" if scope else name
        self.comment, self.members = list(comment), []  # members: what is declared, and what is said of it
        head, _, note = lines[0].partition("///<")
        self.is_enum, opened, code = head.strip().startswith("enum"), head.partition("{"), ""
        self.code = opened[0].strip().replace(f" {name}", f" {self.name}", 1) + " {"
        self.comment += [note.strip()] if note else []
        rest, before = [opened[2], *lines[1:]], ""  # before: the comment above a member
        for at, line in enumerate(rest):
            if re.match(r"\s*///[^<]", line):
                before += line.strip()[3:]
                continue
            code, _, note = (part.strip() for part in line.partition("///<"))
            code = re.sub(r"(^|\s)//.*", "", code)
            if at == len(rest) - 1:
                code = code.removesuffix("};").strip()
            if not code and note and not self.members:
                self.comment.append(note)
            elif not code and note:
                self.members[-1][1] += " " + note
            elif code and (self.is_enum or re.match(r"[\w:<>,* ={}]+;$", code)):
                self.members.append([code, (before + " " + note).strip()])
                before = ""
        self.code += " " + " ".join(code for code, _ in self.members) + " }"

    def is_described(self):
        return bool(self.comment) or bool(self.members) and all(note for _, note in self.members)

    def markdown(self):
        lines = [f"- `{self.code}`" + (": " + prose(self.comment)[0] if self.comment else "")]
        for code, note in self.members:
            code = re.sub(r" = [^,;]*", "", code.rstrip(",;"))
            name = code if self.is_enum else re.sub(r"^[^,]* (?=\w)", "", code)
            lines += [f"    - *{name}*: {note}"] if note else []
        return lines


class Header:
    """The documented functions, the options, the structs of results and the enumerations of one header."""

    def __init__(self, path):
        self.functions, self.options, self.types = [], {}, {}
        self.parse(path.read_text().splitlines())

    def parse(self, lines):
        bare = sources.without_comments_and_strings("\n".join(lines)).splitlines()
        spaces, comment, depth, at = [], [], 0, 0  # spaces: the enclosing namespaces and the depths at which they end
        described = False  # whether the comment already has a declaration
        outer = None  # the depth at which the class began whose members are read
        while at < len(lines):
            line, begin = lines[at].strip(), at
            if line.startswith("namespace ") and "{" in bare[at]:
                spaces.append((line.split()[1].rstrip("{").replace("TANDEM_NS::", "").replace("TANDEM_NS", ""), depth))
            if line.startswith("///"):
                comment = [] if described else comment
                comment, described = comment + [line[3:].rstrip()], False
            elif match := re.match(r"struct (\w+Options) \{", line):
                at, comment = self.fields(match[1], lines, at + 1), []
            elif outer is None and (match := TYPE.match(line)) and not self.hidden(spaces):
                last = at + next(i for i in range(1, len(lines)) if (block := "".join(bare[at:at + i])).count("{") == block.count("}")) - 1
                if not re.search(rf"\b{match[1]}\(", " ".join(bare[at:last + 1])):  # a constructor: a class
                    scope = "::".join(name for name, _ in spaces if name)
                    self.types[match[1]] = Type(scope, match[1], lines[at:last + 1], [] if described else comment)
                    at = last
                comment = []
            elif comment and DECLARES.match(line) and not self.hidden(spaces) and outer is None:
                text, at = declaration(lines, at)
                match = FUNCTION.match(text)
                if match and not INTERNAL.search(text) and "= delete" not in text:
                    self.add("::".join(name for name, _ in spaces if name), match[1], text, comment, described)
                # Adjacent declarations below one comment share it.
                comment, described, at = comment if match else [], True, at - 1
            else:
                comment = []
            at += 1
            if outer is None and re.match(r"\s*(?:class|struct) [^;]*\{$", bare[at - 1]):
                outer = depth
            for code in bare[begin:at]:
                depth += code.count("{") - code.count("}")
            if outer is not None and depth <= outer:
                outer = None
            while spaces and depth <= spaces[-1][1]:
                spaces.pop()

    @staticmethod
    def hidden(spaces):
        return any(part in HIDDEN for name, _ in spaces for part in name.split("::"))

    def add(self, scope, name, text, comment, described):
        text = text.replace("TANDEM_API ", "")
        if described and self.functions and self.functions[-1][3] is comment:
            self.functions[-1][1].append(name)
            self.functions[-1][2].append(text)
        else:
            self.functions.append((scope, [name], [text], comment))

    def fields(self, name, lines, at):
        found, before = [], ""  # before: the comment above a field
        while not lines[at].strip().startswith("};"):
            line = lines[at].strip()
            if line.startswith("///<") and found:
                found[-1][2] += " " + line[4:].strip()
            elif match := re.match(r"[\w:<>,*& ]+? \*?(\w+) = (.*?);\s*(?:///< ?(.*))?$", line):
                found.append([match[1], match[2], (before + " " + (match[3] or "")).strip()])
            before = before + line[3:] if line.startswith("/// ") else ""
            at += 1
        self.options[name] = found
        return at


def table_of(program):
    """The contents of the table: name -> (dtypes, gradient, names of the inputs)."""
    rows = {}
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        name, dtypes, gradient, inputs = line.split("|")
        rows[name] = (dtypes, gradient, inputs)
    return rows


def maker_of(text, name):
    """The function that returns a definition, and those that it calls for it, in the text of their file."""
    body = (re.findall(rf"OpDef {name}\(.*?\n\}}", text, re.S) + [""])[0]
    return body + "".join(maker_of(text, other) for other in re.findall(r"OpDef \w+ = (\w+)\(", body))


def host_only():
    """The ops whose definitions have no CUDA kernel."""
    found = set()
    for text in (path.read_text() for path in HEADERS.rglob("*.inl")):
        rows = re.findall(r"OpDef \w+\{\s*\.name = \"(\w+)\"(.*?)\};", text, re.S)
        rows += [(name, maker_of(text, maker)) for name, maker in re.findall(r"OpDef (\w+)_op =\s+(?:\w+::)*(\w+)\(", text)]
        found |= {name for name, row in rows if row and not any(word in row for word in (".cuda", "alias", ".execute"))}
    return found


def prose(comment):
    """Converts a doc comment to Markdown: sentences, then a list of the keyed entries."""
    text, items = [], []
    for line in comment:
        if match := KEY.match(line) or FIELD.match(line):
            items.append([match[1], match[2]])
        elif items and line.startswith("   "):  # also one that clang-format has moved to the column of the keys
            items[-1][1] += " " + line.strip()
        else:
            text.append(line.strip())
    joined = " ".join(text)
    if match := re.search(r"(?<=[.;)]) gradient: (.*)$", joined):
        items.append(["gradient", match[1]])
        joined = joined[:match.start()]
    return joined, items


def option_fields(texts, options):
    """The fields of the options that declarations mention."""
    structs = dict.fromkeys(re.findall(r"\b\w+Options\b", " ".join(texts)))
    return [field for struct in structs for field in options.get(struct, [])]


def types_of(texts, options, types):
    """The types of results, parameters and options of declarations, in the order in which they are named."""
    fields = " ".join(default for _, default, _ in option_fields(texts, options))
    named = [types[name] for name in dict.fromkeys(re.findall(r"\b[A-Z]\w*", " ".join(texts) + " " + fields)) if name in types]
    inner = " ".join(code for found in named for code, _ in found.members)
    return list(dict.fromkeys(named + [types[name] for name in re.findall(r"\b[A-Z]\w*", inner) if name in types]))


def unknown_keys(names, texts, comment, options):
    """The keys of a comment that name no field, parameter or option: a line of prose reads as one."""
    known = {*FIELDS, *re.findall(r"\w+", " ".join(texts)), *(field[0] for field in option_fields(texts, options))}
    return [f"{names[0]}: '{key}' names no field, parameter or option; wrap its doc comment differently"
            for key, _ in prose(comment)[1] if not set(key.split(", ")) <= known]


def wrong_names(names, texts, rows):
    """Tensor parameters that the op of the same name calls otherwise."""
    found = []
    for name in dict.fromkeys(names):
        op = next((other for pattern, other in OTHER_OP.items() if pattern.search(texts[0])), name)
        parameters = re.findall(r"const Tensor(?:List)?& (\w+)", " ".join(text for text in texts if f" {name}(" in text))
        if op in rows:
            found += [f"{name}: its parameter '{p}' is not among the op's input_names, \"{rows[op][2]}\""
                      for p in parameters if p not in re.findall(r"\w+", rows[op][2])]
    return found


def entry(scope, names, texts, comment, options, rows, on_host, types=()):
    """The Markdown of the functions that share a comment, and of types that they are the first to name."""
    what, items = prose(comment)
    lines = ["### " + heading(scope, names), "", "```cpp", *texts, "```", "", what, ""]
    lines += [f"- *{key}*: {value}" for key, value in items]
    for field, default, note in option_fields(texts, options):
        lines.append(f"- *.{field}* = `{default}`" + (f": {note}" if note else ""))
    for found in types:
        lines += found.markdown()
    for name in dict.fromkeys(names):
        op = next((other for pattern, other in OTHER_OP.items() if pattern.search(texts[0])), name)
        if op in rows:
            dtypes, gradient, _ = rows[op]
            which = f" of `{name}`" if len(titles_of(scope, names)) > 1 else ""
            lines.append(f"- *kernel*{which}: {dtypes}; {'CPU' if op in on_host else 'CPU and GPU'}" +
                         {"has": "", "blocked": "; the gradient stops here", "none": "; no gradient"}[gradient])
    while lines[-1] == "":
        lines.pop()
    return lines + [""]


def accuracy(text):
    """The table of the rows ACCURACY(op, reference, from, to, float32, float64, scale)."""
    lines = ["## Accuracy", "",
             "The largest errors in units of the last place, from subnormal numbers to the largest ones, on every instruction",
             "set. `tests/ops/pointwise/accuracy_test.cpp` checks them against `long double`. *of* is what an error is relative",
             "to where that is larger than the true value. Subnormal results of `nn::swish` and `nn::mish`, of arguments below",
             "-87 (`float64`: -708), keep the digits of a subnormal e^x: they are off by up to |x| of the smallest numbers.", "",
             "| function | from | to | float32 | float64 | of |", "|---|---|---|---|---|---|"]
    scales = {"relative": "", "one_below_zero": "1 below 0", "digamma_scale": "0.002 near 1.46"}
    for row in re.findall(r"^ACCURACY\(([^)]*)\)", text, re.M):
        op, _, low, high, single, double, scale = re.split(r",\s*", row)
        lines.append(f"| `{op}` | {low} | {high} | {single} | {double} | {scales[scale]} |")
    return lines + [""]


def not_offered(text):
    """The ops of the list of all ops that are missing, with their reasons."""
    rows = re.findall(r"^([\w:]+): missing (.+)$", text, re.M)
    return ["## Not offered", ""] + [f"- `{name}`: {reason}" for name, reason in rows] + [""]


def public_header(path):
    """The narrowest header for users that declares what the header does: that includes it, or a header that does."""
    line = f'#include "tandem/{path.relative_to(HEADERS)}"'
    lists = {"tensor.hpp": HEADERS / "ops/tensor.hpp", "nn.hpp": HEADERS / "ops/nn.hpp"}
    lists |= {header.name: header for header in sorted(HEADERS.glob("*.hpp")) if header.name not in lists}
    for name, file in lists.items():
        text = file.read_text()
        inner = (HEADERS.parent / header for header in re.findall(r'#include "(tandem/[^"]+\.hpp)"', text))
        if line in text or any(line in header.read_text() for header in inner):
            return name
    raise LookupError(f"no header directly in include/tandem/ has {path}")


def titles_of(scope, names):
    return list(dict.fromkeys(f"{scope}::{name}" if scope else name for name in names))


def heading(scope, names):
    return ", ".join(f"`{title}`" for title in titles_of(scope, names))


def anchor(text):
    """What a heading is called in a link, by GitHub and by mkdocs."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def headers_of(entries):
    """The headers of a family: those of folders in alphabetical order."""
    for entry in entries:
        path = HEADERS / entry
        yield from sorted(path.glob("*.hpp")) if path.is_dir() else [path]


NOTE = "<!-- Generated by tests/lint/op_reference.py from the headers; a test keeps it current. -->"


def pages(program, problems):
    """The pages by their paths below docs/."""
    rows, on_host = table_of(program), host_only()
    families = [(page, title, {path: Header(path) for path in headers_of(entries)}) for page, title, entries in FAMILIES]
    options = {name: fields for _, _, headers in families for header in headers.values() for name, fields in header.options.items()}
    all_types = {name: found for _, _, headers in families for header in headers.values() for name, found in header.types.items()}
    index = ["# Operations", "", NOTE, "",
             "Every public op, by family. The pages of the families have the declarations, what each op does, and its options. All",
             "are in namespace `tandem` and take `.name` too; options are given as `{.axis = 1}`. *kernel* has the dtypes and",
             "devices of the op's own kernel; an op without one is composed of others. `float16` and `bfloat16` are accepted",
             "wherever `float32` is. Decompositions and solvers are the component `tandem::linalg`, Fourier transforms",
             "`tandem::signal`, images `tandem::image`, strings and tables `tandem::strings`.", ""]
    found = {}
    for page, title, headers in families:
        out, links, told = [f"# {title}", "", NOTE, "", "[All ops](../ops.md)", ""], {}, set()
        types = all_types | {name: found for header in headers.values() for name, found in header.types.items()}
        for path, header in headers.items():
            if not header.functions:
                continue
            out.extend([f"## {path.stem}", "", f"`#include <tandem/{public_header(path)}>`", ""])
            for scope, names, texts, comment in header.functions:
                problems.extend(unknown_keys(names, texts, comment, options) + wrong_names(names, texts, rows))
                new = [found for found in types_of(texts, options, types) if found not in told]
                told.update(new)
                problems.extend(f"{found.name}: {page}.md names it, and no comment describes it" for found in new
                                if not found.is_described())
                out.extend(entry(scope, names, texts, comment, options, rows, on_host, new))
                for name in titles_of(scope, names):
                    links.setdefault(name, f"[`{name}`](ops/{page}.md#{anchor(heading(scope, names))})")
        index.extend([f"## [{title}](ops/{page}.md)", "", ",\n".join(links.values()), ""])
        found[f"ops/{page}.md"] = out
    return {path: "\n".join(lines).rstrip() + "\n" for path, lines in
            {"ops.md": index + accuracy(ACCURACY.read_text()) + not_offered(COVERAGE.read_text()), **found}.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    problems = []
    wanted = pages(arguments.table, problems)
    present = {path.relative_to(DOCS).as_posix(): path for path in [DOCS / "ops.md", *(DOCS / "ops").glob("*.md")]}
    if arguments.write:
        (DOCS / "ops").mkdir(exist_ok=True)
        for name in present.keys() - wanted.keys():
            present[name].unlink()
        for name, text in wanted.items():
            (DOCS / name).write_text(text)
    else:
        stale = [name for name, text in wanted.items() if name not in present or not present[name].is_file() or
                 present[name].read_text() != text] + sorted(present.keys() - wanted.keys())
        problems += [f"docs/{name} is not current; run: python3 tests/lint/op_reference.py build/dev/op_facts --write"
                     for name in stale]
    sources.report("op_reference", problems)


if __name__ == "__main__":
    sys.exit(main())
