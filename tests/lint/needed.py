"""Checks the shared libraries that programs need: only the C and C++ runtime, RE2 (tandem::strings), zlib (tandem::io
and tandem::data), libjpeg and libpng (tandem::image), libwebp (tandem::image_webp), prometheus-cpp and OpenSSL (tandem::serving), gRPC
(tandem::serving_grpc), MPI (tandem::distribute_mpi), Gloo (tandem::distribute_gloo), and Tandem itself if it is shared.

Programs therefore start on a machine without NVIDIA libraries, fmt or a BLAS.
"""

import argparse
import re
import subprocess

import sources

NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[(.+)\]")
ALLOWED = re.compile(r"^(lib(stdc\+\+|m|gcc_s|c|pthread|dl|rt|atomic|asan|ubsan|tsan|re2|jpeg|png16|webp|prometheus-cpp-core|ssl|crypto|grpc\+\+|grpc|gpr|absl_\w+|mpi|mpich|gloo|z|tandem(_\w+)?)|ld-linux.*)\.so(\.|$)")


def beyond(name, dynamic_section):
    return [f"{name}: needs {library}" for library in NEEDED.findall(dynamic_section) if not ALLOWED.match(library)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--readelf", required=True)
    arguments = parser.parse_args()
    problems = []
    for program in arguments.programs:
        run = subprocess.run([arguments.readelf, "-d", program], capture_output=True, text=True, check=True)
        if not NEEDED.search(run.stdout):
            problems.append(f"{program}: no needed libraries at all; is it a program?")
        problems += beyond(program, run.stdout)
    sources.report("needed", problems)


if __name__ == "__main__":
    main()
