"""Checks that every .hpp and .inl file compiles by itself with each given compiler, without warnings.

--together compiles all .hpp files as one unit instead, in reverse order, with -Wconversion and -Wshadow, too; with --header-only in that mode, for one
instruction set (the source of the kernels is the same in each), followed by all .inl files in reverse order. --system
gives the include folders of other packages. --passed names a file that records what has passed with which files, so
that only files whose includes have changed are compiled again. TANDEM_PART=k/n in the environment: of the files alone,
only the k-th of n parts.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile

import sources


def when_changed(path):
    return os.stat(path).st_mtime_ns if os.path.exists(path) else 0


class Passed:
    """The commands that have passed, with the modification times of the files that each one has read."""

    def __init__(self, path):
        self.path = path
        self.files = json.loads(path.read_text()) if path and path.exists() else {}

    def holds(self, key):
        return key in self.files and all(when_changed(name) == time for name, time in self.files[key].items())

    def note(self, key, dependencies):
        self.files[key] = {name: when_changed(name) for name in dependencies}

    def save(self):
        if self.path:
            self.path.write_text(json.dumps(self.files))


def compile_alone(compiler, header, options, passed):
    """None, or the error."""
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *options, "-x", "c++", "-"]
    key = " ".join([*command, header])
    if passed.holds(key):
        return None
    with tempfile.TemporaryDirectory() as folder:
        reads = pathlib.Path(folder) / "reads.d"
        run = subprocess.run([*command, "-MD", "-MF", reads, "-MT", "reads"], input=f'#include "{header}"\n',
                             capture_output=True, text=True)
        if run.returncode:
            return f"{compiler}: {header} does not compile alone:\n{run.stderr[:3000]}"
        files = reads.read_text().replace("\\\n", " ").removeprefix("reads:").split()
    if not files:
        return f"{compiler}: no list of the files that {header} includes"
    passed.note(key, files)
    return None


def compile_together(compiler, headers, options):
    """None, or the error; the order differs from that of the umbrellas. With the warnings of strict users."""
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
    command = [compiler, "-std=c++20", "-fsyntax-only", *warnings, *options, "-x", "c++", "-"]
    text = "".join(f'#include "{header}"\n' for header in reversed(headers))
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    return f"{compiler}: the headers do not compile together:\n{run.stderr[:3000]}" if run.returncode else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", action="append", required=True)
    parser.add_argument("--system", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", 2)))
    parser.add_argument("--header-only", action="store_true")
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--only", help="one file, instead of all")
    parser.add_argument("--without", action="append", default=[], help="folders whose component is not built")
    parser.add_argument("--passed", type=pathlib.Path)
    arguments = parser.parse_args()
    passed = Passed(arguments.passed)
    include = sources.ROOT / "include"
    options = [f"-I{include}", *[f"-isystem{folder}" for folder in arguments.system]]
    if arguments.header_only:
        options += ["-DTANDEM_HEADER_ONLY=1", "-DTANDEM_HIGHEST_SET=1"]
    suffixes = {".hpp"} if arguments.together and not arguments.header_only else {".hpp", ".inl"}
    headers = [path.relative_to(include).as_posix() for path in sources.files(("include",), suffixes)]
    headers.sort(key=lambda header: (not header.endswith(".inl"), header))  # after the reversal, definitions come last
    headers = [header for header in headers if not header.startswith(tuple(f"tandem/{f}/" for f in arguments.without))]
    if arguments.only:
        headers = [arguments.only]
    if arguments.together:
        problems = [compile_together(compiler, headers, options) for compiler in arguments.compiler]
        sources.report("headers together", [problem for problem in problems if problem])
    part, parts = map(int, os.environ.get("TANDEM_PART", "1/1").split("/"))
    headers = headers[part - 1::parts]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [pool.submit(compile_alone, compiler, header, options, passed)
                for header in headers for compiler in arguments.compiler]
        problems = [run.result() for run in runs if run.result()]
    passed.save()
    sources.report("headers alone", problems)


if __name__ == "__main__":
    main()
