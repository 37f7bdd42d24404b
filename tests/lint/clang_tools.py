"""clang-format over the code and clang-tidy over the library; --fix formats in place instead.

Not a test: the results depend on the version of the tools, which is 14, as in Debian 12.
"""

import argparse
import concurrent.futures
import json
import pathlib
import shutil
import subprocess

import sources


def tool(name):
    path = shutil.which(f"{name}-14") or shutil.which(name)
    if not path:
        raise SystemExit(f"{name} is missing (Debian: apt-get install {name}-14)")
    return path


def clang_format(fix):
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    command = [tool("clang-format"), *mode, *map(str, sources.files())]
    return subprocess.run(command).returncode == 0


def tidy_one(source, build):
    command = [tool("clang-tidy"), "-p", str(build), "--quiet", "--extra-arg=-Wno-unknown-warning-option", str(source)]
    run = subprocess.run(command, capture_output=True, text=True)
    return run.stdout if run.returncode else ""


def clang_tidy(build, jobs):
    """Library files that this build compiles; tests use a precompiled header that clang cannot read."""
    known = {entry["file"] for entry in json.loads((build / "compile_commands.json").read_text())}
    chosen = [path for path in sources.files(("src",), {".cpp"}) if str(path) in known]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        findings = [text for text in pool.map(lambda path: tidy_one(path, build), chosen) if text]
    print("\n".join(findings))
    return not findings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    clean = clang_format(arguments.fix)
    if arguments.build:
        clean = clang_tidy(arguments.build, arguments.jobs) and clean
    raise SystemExit(0 if clean else 1)


if __name__ == "__main__":
    main()
