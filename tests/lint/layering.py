"""Checks which files may include which, and which headers must not be included by declarations.

A .hpp file declares, an .inl file defines. Files directly in include/tandem/ are for users, who include nothing else; they
have a topic each, and they alone include .inl files, in header-only mode. src/ compiles each .inl file once.
"""

import re
import sys

import op_reference
import sources

sys.path.insert(0, str(sources.ROOT / "docs"))
import class_reference  # noqa: E402

COMPONENTS = sources.components()
LAYERS = ["base", "util", "attrs", "core", "module", "ops", "cpu", "autodiff", "graph", "layers", "losses", "metrics", "optim",
          *(folder for component in COMPONENTS.values() for folder in component["folders"])]
# The components that have a table of their ops.
WITH_TABLES = tuple(name for name, component in COMPONENTS.items() if component.get("ops"))
# The folders outside of ops/ whose definitions may include kernels.
DEFINE_OPS = ("optim", *WITH_TABLES)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
HEAVY = {"iostream", "functional", "regex", "ranges"}
CUDA_HEADER = re.compile(r"^(cuda|cublas|cudnn|cufft|curand|cusolver|nvrtc|nvToolsExt|driver_types)")
FORMAT = "tandem/util/format.hpp"
# Headers that refer to kernels; only for the definitions of ops.
FOR_DEFINITIONS = re.compile(r"/(row|define)\.hpp$|_kernels\.hpp$")
# The rules of pointwise ops without the op definitions, for the kernels of fused programs.
RULES = "tandem/ops/pointwise/rules.inl"
# What lies below tensors: value types, utilities, attributes of ops.
LOWEST = ("base", "util", "attrs")
# The core headers that kernels may include: their call, their op, scratch memory. None of them uses tensors.
KERNELS_SEE = ("tandem/core/allocator.hpp", "tandem/core/kernel.hpp", "tandem/core/op.hpp")
# The table of all ops, and the components whose definitions load graphs, which name ops.
TABLE, LOADERS = "tandem/op_table.hpp", ("saved_model",)
# The headers that the CUDA part may include at its boundary.
CUDA_SEES = ("tandem/core/backend.hpp", "tandem/core/uploads.hpp", "tandem/cuda.hpp", "tandem/optim/rules.hpp")
# cuda/nccl implements the interface of these.
NCCL_SEES = ("distribute", "distribute_nccl")


def is_definition(name):
    return name.endswith((".inl", ".inc")) or not name.startswith("tandem/")


def is_umbrella(name):
    return name.count("/") == 1 and name.startswith("tandem/")


def folder_of(header):
    parts = header.split("/")
    return parts[1] if len(parts) > 2 else ""


def ops_may(name, header):
    folder, defines = folder_of(header), is_definition(name) or FOR_DEFINITIONS.search(name)
    if folder == "ops":
        # Files directly in ops/ are shared by all families; all.hpp lists the families.
        path = name.split("/")
        return defines or header.count("/") == 2 or len(path) == 3 or path[2] == header.split("/")[2]
    return folder in (*LOWEST, "core") or (bool(defines) and folder == "cpu")


def allowed(name, header):
    """May the file `name` (below include/, or cuda/...) include this header of the project?"""
    if header == "tandem/config.hpp" or is_umbrella(name):
        return True
    if name.startswith("cuda/"):
        return folder_of(header) in (*LOWEST, "ops", "cpu") or header in KERNELS_SEE or header in CUDA_SEES or \
            header.startswith("cuda/") or (name.startswith("cuda/nccl/") and folder_of(header) in NCCL_SEES)
    folder = folder_of(name)
    if header == TABLE and is_definition(name):
        return folder in LOADERS
    if folder == "ops":
        return ops_may(name, header)
    if folder == "cpu":
        return folder_of(header) in (*LOWEST, "cpu") or header in KERNELS_SEE
    above = LAYERS[: LAYERS.index(folder) + 1]
    if folder == "core" and is_definition(name):
        above = above + ["ops"]
    return folder_of(header) in above and (folder_of(header) != "cpu" or folder in DEFINE_OPS and bool(is_definition(name) or FOR_DEFINITIONS.search(name)))


def heavy(name, delimiter, header):
    """The reason why this header must not be included here, or None."""
    if CUDA_HEADER.match(header) and delimiter == "<":
        return None if name.startswith("cuda/") else "CUDA headers belong to cuda/"
    if header.startswith("fmt/"):
        return f"header-only programs would need fmt, and pay half a second for it: {FORMAT} writes numbers"
    if header == "span":
        return "its constraints cost every header-only program a second: tandem/base/span.hpp has Span"
    if is_definition(name) or FOR_DEFINITIONS.search(name):
        return None
    if header in HEAVY or header.startswith(("Eigen/", "unsupported/")):
        return "too heavy for declarations"
    if header.endswith(".inl") and not is_umbrella(name):
        return "declarations do not bring definitions"
    return "belongs to definitions" if FOR_DEFINITIONS.search(header) or header == FORMAT else None


def check(name, text):
    problems = []
    for match in INCLUDE.finditer(text):
        delimiter, header = match[1], match[2]
        where = f"{name}:{text.count(chr(10), 0, match.start()) + 1}: includes {header}"
        reason = heavy(name, delimiter, header)
        if name.endswith(".inl") and header.endswith(".inl") and not is_umbrella(name) and RULES not in (name, header):
            reason = "what two .inl files share is declared in a .hpp file"
        if reason:
            problems.append(f"{where}: {reason}")
        if header.startswith(("tandem/", "cuda/")) and not allowed(name, header):
            problems.append(f"{where}: not a layer that it may use")
    return problems


def check_definition(name, text, headers):
    """An .inl file includes the header of the same name if there is one, and in any case a header of its folder."""
    own, folder = name.removesuffix(".inl") + ".hpp", name.rpartition("/")[0] + "/"
    included = [match[2] for match in INCLUDE.finditer(text)]
    if own in headers and own not in included:
        return [f"{name}: does not include {own}"]
    if own not in headers and not any(header.startswith(folder) for header in included):
        return [f"{name}: includes no header of its folder, which would declare what it defines"]
    return []


def check_source(name, text):
    """src/ contains no code, so that header-only mode is complete."""
    code = sources.without_comments_and_strings(text)
    return [f"{name}:{number}: src/ files only include .inl files" for number, line in enumerate(code.splitlines(), 1)
            if line.strip() and not re.match(r'\s*#\s*include\b', line)] + \
           [f"{name}: includes {match[2]}, not an .inl file" for match in INCLUDE.finditer(text)
            if not match[2].endswith(".inl")]


def wrong_unit(name, text):
    """src/a/ compiles what include/tandem/a/ defines; a component also its kernels in cpu/."""
    folder = folder_of("tandem/" + name.removeprefix("src/"))
    return [f"{name}: includes {match[2]}, whose unit is in src/{folder_of(match[2])}/" for match in INCLUDE.finditer(text)
            if folder_of(match[2]) != folder and not (folder in COMPONENTS and folder_of(match[2]) == "cpu")]


def included_once(definitions, lists):
    """Each .inl file is in exactly one unit of src/ and one umbrella. `lists`: kind -> the included .inl files."""
    problems = []
    for kind, included in lists.items():
        problems += [f"{name}: is in {included.count(name)} {kind}, not in one" for name in sorted(definitions)
                     if included.count(name) != 1]
    return problems


def missing_lists(headers, table, name_of_table="tandem/op_table.hpp", folders=("ops", "autodiff", "optim")):
    """The op table names every list of ops in these folders. `headers`: name -> text."""
    return [f"{name}: {match[1]} is not in {name_of_table}" for name, text in headers.items()
            if folder_of(name) in folders
            for match in re.finditer(r"^TANDEM_(?:DECLARE_)?OPS\((\w+),", text, re.M)
            if not re.search(rf"\b{match[1]}\b", table)]


# What users read, and what shows how Tandem is used.
FOR_USERS = ("README.md", "docs/*.md", "examples/**/*.[ch]pp", "tests/packaging/**/*.cpp", "bench/compile_cost/*.cpp")


def private_includes(name, text):
    """Users include the headers directly in tandem/ alone."""
    return [f"{name}: includes {match[2]}, which is not for users" for match in INCLUDE.finditer(text)
            if match[2].startswith("tandem/") and match[2].count("/") > 1]


HEADER_ONLY = re.compile(r"^#if TANDEM_IS_HEADER_ONLY\n.*?^#endif", re.S | re.M)
# The folders whose public headers the topics have; op_reference.py looks for those of ops.
TOPICS = ("autodiff", "module", "layers", "losses", "metrics", "optim", *(f for c in COMPONENTS.values() for f in c["folders"]))


def is_public(name):
    """Whether a header documents a class or a function outside of the hidden namespaces."""
    path = sources.ROOT / "include" / name
    return any(True for _ in class_reference.classes(path)) or bool(op_reference.Header(path).functions)


def unreached(texts, public=is_public):
    """The public headers that a program with a compiled library does not have, whatever topics it includes: those that only
    definitions include. `texts`: header -> text."""
    todo = [name for name in texts if is_umbrella(name)]
    found = set(todo)
    for name in todo:
        for match in INCLUDE.finditer(HEADER_ONLY.sub("", texts[name])):
            if match[2] in texts and match[2] not in found:
                found.add(match[2])
                todo.append(match[2])
    return [f"{name}: no header directly in tandem/ leads to it in compiled mode (layers: list it in layers/all.hpp)"
            for name in sorted(texts.keys() - found)
            if folder_of(name) in TOPICS and not FOR_DEFINITIONS.search(name) and public(name)]


def unpaid_pass(name, text, scenarios):
    """A pass names in its first lines a benchmark scenario that it improves."""
    if not name.startswith("tandem/graph/passes/") or not name.endswith(".inl"):
        return []
    head = text.split("#pragma once")[0].partition("Benchmark row")[2]
    if set(re.findall(r"\w+", head)) & scenarios:
        return []
    return [f"{name}: its first lines name no benchmark row (bench/) that it improves"]


# A call of one of printf's functions, to the end of the statement, and conversions of numbers with a fraction.
PRINTF_CALL = re.compile(r'printf\((?:"(?:\\.|[^"\\])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|[^;"])*')
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
CONVERSION = re.compile(r"%(?:%|(?:\d+\$)?[-+ #0'I]*[\d*]*(?:\.[\d*]*)?[lL]?([aefg]))", re.I)
# What prints without fmt. fputs, of a text that is there already, is not it.
PRINTF = re.compile(r"(?:\bstd::|(?<![\w:.>)])::|(?<![\w:.>]))(?:[a-z]*printf|puts|putchar)\(|\bstd::(?:cout|cerr|clog)\s*<<")
# Programs without fmt: they show how tensors are printed, or what a program costs; those of others.
WITHOUT_FMT = ("examples/first_", "bench/compile_cost/", "bench/startup/", "bench/peers/")


def printed(name, text):
    """The library writes numbers by util/format.hpp, not in the locale of the program; programs print with fmt."""
    if name.startswith(("tandem/", "cuda/")):
        return [f"{name}: {match[0][:40]}... writes the decimal point of the locale: {FORMAT} has rounded_text, fixed_text"
                for match in PRINTF_CALL.finditer(sources.without_comments(text))
                if any(c[1] for string in STRING.findall(match[0]) for c in CONVERSION.finditer(string))]
    if name.startswith(WITHOUT_FMT):
        return []
    return [f"{name}: programs print with fmt, not with {match[0]}..."
            for match in PRINTF.finditer(sources.without_comments_and_strings(text))]


# The functions of graph/ that are not lazy (graph/lazy.hpp): with a static variable, or called by destructors, virtual
# functions or the definitions of ops.
EAGER = {"checking_slot", "is_checking", "VariableLocks::held_locks", "VariableLocks::yield", "detail::call_values",
         "detail::find_variable", "detail::CallValues::find", "VariableLocks::contains", "VariableLocks::has",
         "VariableLocks::holds_any", "VariableLocks::let_others_pass", "VariableLocks::lock", "VariableLocks::lock_all",
         "VariableLocks::unlock", "turns", "turn_thread", "tracer_slot", "Tracer::current", "Tracer::leave",
         "control_code", "infer_call", "infer_leaf"}
FUNCTION = re.compile(r"^(?:\[\[[\w:, ]+\]\] )?(?:TANDEM_INLINE|inline) (?!.*\boperator\b)[^=;({]*?([\w:~]+)\(", re.M)


def laziness(name, text):
    """In graph/ every function that is defined outside of a class is lazy; elsewhere none is."""
    code = sources.without_comments_and_strings(text)
    if not name.startswith("tandem/graph/"):
        return [f"{name}: TANDEM_LAZY is for graph/ alone (graph/lazy.hpp)"] if "TANDEM_LAZY" in code else []
    return [f"{name}: {function} is not lazy (graph/lazy.hpp)" for function in FUNCTION.findall(code)
            if function not in EAGER and "~" not in function]


def cycles(includes):
    """Groups of headers that include each other; `includes`: header -> headers."""
    order, low, stack, found = {}, {}, [], []

    def visit(name):
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in includes.get(name, ()):
            if other not in order:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], order[other])
        if low[name] == order[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(" ".join(sorted(stack[at:])) + ": include each other")
            del stack[at:]

    for name in sorted(includes):
        if name not in order:
            visit(name)
    return found


# What costs each program that includes tandem.hpp, or a part of it, a tenth of a second or more.
HEAVY_FOR_ALL = {"algorithm", "memory", "ostream", "unordered_map", "sstream", "thread"}


def heavy_for_all(texts, root="tandem/tandem.hpp"):
    """Of the declarations that `root` includes, those that include a heavy standard header. `texts`: header -> text."""
    found, todo = {root}, [root]
    problems = []
    for name in todo:
        for match in INCLUDE.finditer(texts[name]):
            header = match[2]
            if header in HEAVY_FOR_ALL:
                problems.append(f"{name}: includes {header}, too heavy for what tandem.hpp declares")
            elif header.endswith(".hpp") and header in texts and header not in found:
                found.add(header)
                todo.append(header)
    return problems


def main():
    texts = {path.relative_to(sources.ROOT).as_posix().removeprefix("include/"): path.read_text()
             for path in sources.files(("include", "cuda", "src"))}
    headers = {name for name in texts if name.endswith(".hpp") and name.startswith("tandem/")}
    definitions = {name for name in texts if name.endswith(".inl") and not is_umbrella(name) or name == "tandem/cuda.inl"}
    scenarios = {path.parent.name for path in (sources.ROOT / "bench").glob("*/*.cpp")}
    problems, in_sources, in_umbrellas = [], [], []
    for name, text in texts.items():
        included = [match[2] for match in INCLUDE.finditer(text)]
        if name.startswith("src/"):
            problems += check_source(name, text) + wrong_unit(name, text)
            in_sources += included
            continue
        problems += check(name, text) + unpaid_pass(name, text, scenarios) + laziness(name, text) + printed(name, text)
        if name in definitions:
            problems += check_definition(name, text, headers)
        elif is_umbrella(name):
            in_umbrellas += included
    problems += included_once(definitions - {RULES}, {"units of src/": in_sources, "umbrellas": in_umbrellas})
    for path in sources.files(("bench", "examples")):
        problems += printed(path.relative_to(sources.ROOT).as_posix(), path.read_text())
    for pattern in FOR_USERS:
        for path in sorted(sources.ROOT.glob(pattern)):
            problems += private_includes(path.relative_to(sources.ROOT).as_posix(), path.read_text())
    declared = {name: texts[name] for name in headers}
    problems += missing_lists(declared, texts["tandem/op_table.hpp"])
    for folder in WITH_TABLES:
        table = f"tandem/{folder}_op_table.hpp"
        problems += missing_lists(declared, texts[table], table, (folder,))
    problems += heavy_for_all(declared)
    problems += unreached(declared)
    problems += cycles({name: [match[2] for match in INCLUDE.finditer(texts[name])] for name in headers})
    sources.report("layering", problems)


if __name__ == "__main__":
    main()
