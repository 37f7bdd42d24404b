"""Prints how large the library is: the archives, their code and data by family, and a program that uses a little of it.

Usage: size_report.py BUILD_FOLDER [COMPILER]. `./dev size` builds a release and calls it.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "bench/compile_cost/tandem_matmul.cpp"


def output(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def stripped(path, folder, *options):
    copy = pathlib.Path(folder) / path.name
    output("strip", *options, "-o", copy, path)
    return copy.stat().st_size


def family_of(path):
    """The family of a source below src/: ops/conv of ops/conv.cpp, cpu/index of cpu/index_lookup.cpp."""
    folder, _, name = path.rpartition("/")
    return (folder + "/" if folder else "") + name.split("_")[0]


def by_family(build, archive):
    """Bytes of code and data of an archive's objects by family."""
    sizes, source = collections.Counter(), re.compile(rf"(CMakeFiles/{archive.stem.removeprefix('lib')}\.dir/src/(.+)\.cpp\.o):")
    objects = dict(found.groups() for line in output("ninja", "-C", build, "-t", "targets", "all").splitlines()
                   if (found := source.match(line)))
    if not objects:
        sys.exit(f"{build}: no objects of single sources; configure with -DTANDEM_UNITY_BATCH=1")
    for line in output("size", *(build / name for name in objects)).splitlines()[1:]:
        text, data, bss, _, _, name = line.split(None, 5)
        sizes[family_of(objects[pathlib.Path(name).relative_to(build).as_posix()])] += int(text) + int(data)
    return sizes


def main():
    build = pathlib.Path(sys.argv[1])
    compiler = sys.argv[2] if len(sys.argv) > 2 else "c++"
    archives = sorted(p for p in build.glob("libtandem*.a") if "test" not in p.name)
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'archive':28} {'MB':>7} {'stripped':>9} {'code, data':>11}")
        for archive in archives:
            sizes = by_family(build, archive)
            print(f"{archive.name:28} {archive.stat().st_size / 1e6:7.2f} {stripped(archive, folder, '--strip-debug') / 1e6:9.2f} "
                  f"{sum(sizes.values()) / 1e6:11.2f}")
        print("\nlibtandem.a by family, MB of code and data")
        for family, size in by_family(build, build / "libtandem.a").most_common():
            print(f"  {family:26} {size / 1e6:7.2f}")
        program = pathlib.Path(folder) / "hello_matmul"
        output(compiler, "-std=c++20", "-O2", "-DNDEBUG", f"-I{ROOT}/include", PROGRAM, build / "libtandem.a",
               "-Wl,--gc-sections", "-pthread", "-o", program)
        output(program)
        print(f"\na program that multiplies two matrices, stripped: {stripped(program, folder) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
