"""Checks that each header of a topic is complete in header-only mode: an object file with every function that it defines
needs none that it does not. TANDEM_PART=k/n in the environment: only the k-th of n parts of the headers.
"""

import argparse
import os
import pathlib
import re
import subprocess
import tempfile

import sources

TOPICS = ("tensor", "nn", "function", "layers", "losses", "metrics", "optimizers")


def missing(compiler, nm, topic, folder):
    """The names of the functions that the header declares, uses and does not define."""
    unit = pathlib.Path(folder) / f"{topic}.cpp"
    unit.write_text(f"#include <tandem/{topic}.hpp>\n")
    object_file = unit.with_suffix(".o")
    subprocess.run([compiler, "-std=c++20", "-O0", "-fkeep-inline-functions", "-DTANDEM_HEADER_ONLY=1",
                    "-DTANDEM_HIGHEST_SET=1", f"-I{sources.ROOT}/include", "-c", unit, "-o", object_file], check=True)
    listed = subprocess.run([nm, "-uC", object_file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s*U (tandem::.*)$", listed, re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--nm", required=True)
    args = parser.parse_args()
    part, parts = map(int, os.environ.get("TANDEM_PART", "1/1").split("/"))
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for topic in TOPICS[part - 1::parts]:
            problems += [f"tandem/{topic}.hpp: does not define {name}"
                         for name in missing(args.compiler, args.nm, topic, folder)]
    sources.report("topics", problems)


if __name__ == "__main__":
    main()
