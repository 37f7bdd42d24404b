"""Who may include whom, and which headers stay out of a header's light top half.

A header's top half ends at the first `#if` on a TANDEM_IMPLEMENT_ guard; the rest is its implementation half. A file
<name>_impl.hpp or row.hpp is an implementation half of its own, and so is an .inc file; no
top half includes the former two.
"""

import re

import sources

LAYERS = ["base", "core", "ops", "cpu", "autodiff", "graph", "nn", "optim", "data", "image", "io", "summary", "train",
          "serving", "distribute"]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
GUARD = re.compile(r"^\s*#\s*(ifdef|if)\b.*\bTANDEM_IMPLEMENT_")
HEAVY = {"iostream", "functional", "regex", "ranges"}
CUDA_HEADER = re.compile(r"^(cuda|cublas|cudnn|cufft|curand|cusolver|nvrtc|nvToolsExt|driver_types)")
IMPLEMENTATION = ("_impl.hpp", "/row.hpp", ".inc")
FORMAT = "tandem/base/format.hpp"


def includes(name, text):
    """Yields (line, delimiter, header, in the implementation half)."""
    implementation = name.endswith(IMPLEMENTATION) or not name.startswith("tandem/")
    for number, line in enumerate(text.splitlines(), 1):
        implementation = implementation or bool(GUARD.match(line))
        match = INCLUDE.match(line)
        if match:
            yield number, match[1], match[2], implementation


def folder_of(header):
    parts = header.split("/")
    return parts[1] if len(parts) > 2 else ""


def ops_may(path, header, implementation):
    folder = folder_of(header)
    if folder == "ops":
        # Files directly in ops/ (scalar_math, rule) are what all families share, and all.hpp there lists the families.
        shared = header.count("/") == 2
        return implementation or shared or len(path) == 3 or path[2] == header.split("/")[2]
    return folder in ("base", "core") or (implementation and folder in ("cpu", "cuda"))


# What a kernel sees of core: its call, its row, and memory for scratch (which knows no tensor).
KERNELS_SEE = ("tandem/core/kernel.hpp", "tandem/core/op.hpp", "tandem/core/allocator.hpp")


# The GPU's side of the two borders it stands on, and the update rules, which are kernels in all but the folder.
DEVICES_SEE = ("tandem/core/backend.hpp", "tandem/cuda.hpp", "tandem/optim/rules.hpp")


def kernels_may(own, header):
    return folder_of(header) in ("base", "ops", *own) or header in KERNELS_SEE


def up_to(folder, *but):
    return [layer for layer in LAYERS[: LAYERS.index(folder) + 1] if layer not in but]


def allowed(name, header, implementation):
    """May the file `name` (below include/, or cuda/...) include this header of the project?"""
    if header == "tandem/config.hpp":
        return True
    if name in ("tandem/tandem.hpp", "tandem/op_table.hpp"):
        return header != "tandem/cuda.hpp"
    path = name.split("/")
    if path[0] == "cuda" or path[1] == "cuda":
        return kernels_may(("cuda", "cpu"), header) or header.startswith("cuda/") or header in DEVICES_SEE
    if len(path) == 2:  # cuda.hpp
        return implementation or folder_of(header) in ("base", "core")
    folder = path[1]
    if folder == "ops":
        return ops_may(path, header, implementation)
    if folder == "cpu":
        return kernels_may(("cpu",), header)
    return folder_of(header) in up_to(folder, *(("cpu",) if folder in ("autodiff", "graph") else ()))


def heavy(name, delimiter, header, implementation):
    """Why this header may not stand here, or None."""
    if CUDA_HEADER.match(header) and delimiter == "<":
        return None if name.startswith("cuda/") else "CUDA headers belong to cuda/"
    if header.startswith("fmt/"):
        return f"fmt costs every header-only program half a second: {FORMAT} writes numbers"
    if implementation:
        return None
    if header in HEAVY or header.startswith("Eigen/") or header.startswith("unsupported/"):
        return "too heavy for a top half"
    return "belongs to implementation halves" if header == FORMAT or header.endswith(IMPLEMENTATION[:2]) else None


def check(name, text):
    problems = []
    for line, delimiter, header, implementation in includes(name, text):
        where = f"{name}:{line}: includes {header}"
        reason = heavy(name, delimiter, header, implementation)
        if reason:
            problems.append(f"{where}: {reason}")
        if header.startswith(("tandem/", "cuda/")) and not allowed(name, header, implementation):
            problems.append(f"{where}: not a layer that it may use")
    return problems


def check_source(name, text):
    """src/ holds no code: guards and includes alone, so that header-only mode loses nothing."""
    code = sources.without_comments_and_strings(text)
    return [f"{name}:{number}: src/ files only define guards and include headers" for number, line in
            enumerate(code.splitlines(), 1)
            if line.strip() and not re.match(r"\s*#\s*(define TANDEM_IMPLEMENT_\w+( 1)?|include\b.*)\s*$", line)]


def main():
    problems = []
    for path in sources.files(("include", "cuda")):
        name = path.relative_to(sources.ROOT).as_posix()
        problems += check(name.removeprefix("include/"), path.read_text())
    for path in sources.files(("src",)):
        problems += check_source(path.relative_to(sources.ROOT).as_posix(), path.read_text())
    sources.report("layering", problems)


if __name__ == "__main__":
    main()
