"""Checks the object code of the library.

Baseline: a function outside the v3 and v4 namespaces uses no instruction that an x86-64 baseline CPU lacks. Without
this a weak inline function compiled in a v4 region could be the copy that the linker keeps for everyone.
Others: no symbol in namespace Eigen, whose templates a program may have compiled with other flags.
Once: no two members define the same strong symbol, which would mean that a guard has emitted a family twice.
Statics: if one thread initializes a function-local static variable while another one forks, it is never ready in the
child. Each one that needs a guard is initialized when the library is loaded, or under a lock that fork() waits for, or
belongs to one thread.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import tempfile

import sources

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
REGISTER = re.compile(r"%(ymm|zmm|k[0-7]\b)")
# VEX forms on xmm, and the scalar instructions that x86-64-v2 and v3 add.
MNEMONIC = re.compile(
    r"^\s*[0-9a-f]+:\s+(v(?!er[rw])[a-z0-9]+|andn|bextr|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx|lzcnt|popcnt|movbe)[lqw]?\s")


GUARD = re.compile(r" [A-Za-z] guard variable for tandem::\w+::(\w[\w:]*)[(\[]")
MADE_AT_LOAD = {"Module::places", "detail::ForkMutexes::all", "detail::at_fork", "detail::turns", "memory::central",
                "random::impl::sequences", "cpu::fourier::plans", "summary::detail::LiveRecorders::all"}
MADE_UNDER_A_LOCK = {"cpu::pool::start"}
OF_A_THREAD = {"debugging::impl::numerics_trap", "debugging::impl::op_counter", "debugging::impl::placement_log",
               "detail::observe", "memory::thread_cache"}


def made_at_first_use(names):
    """Functions with a guarded static variable that a fork may find half-initialized, from the output of nm -C."""
    found = {match[1] for match in map(GUARD.search, names) if match}
    return [f"{name}: its static variable is made at the first call, perhaps during a fork (util/at_fork.hpp)"
            for name in sorted(found - MADE_AT_LOAD - MADE_UNDER_A_LOCK - OF_A_THREAD)]


def beyond_baseline(listing):
    """Functions in a disassembly that use instructions outside the baseline, one line each."""
    found = {}
    name = ""
    for line in listing:
        match = FUNCTION.match(line)
        if match:
            name = match[1]
        elif "2v3" not in name and "2v4" not in name and (REGISTER.search(line) or MNEMONIC.match(line)):
            found.setdefault(name, line.strip())
    return [f"{name}: outside v3 and v4, but uses: {line}" for name, line in found.items()]


def defined_twice(names):
    """Strong symbols that two members define, from the output of nm -A."""
    members = collections.defaultdict(set)
    for line in names:
        where, _, rest = line.rpartition(":")
        fields = rest.split()
        if len(fields) == 3 and fields[1] in "TDBR":
            members[fields[2]].add(where)
    return [f"{symbol}: defined in {', '.join(sorted(where))}" for symbol, where in members.items() if len(where) > 1]


def of_others(names):
    """Weak symbols of Eigen under its own name, from the output of nm -C: a program's own could replace them."""
    return [f"{line.strip()}: Eigen is not renamed" for line in names if re.search(r"(?<![A-Za-z])Eigen::", line)]


def lines_of(*command):
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield from process.stdout
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")


# All functions in one section: the time of objdump grows with the square of their number.
ONE_SECTION = "SECTIONS { .text 0 : { *(.text .text.*) } }"


def listing(library, tools):
    """The disassembly of each member of a library; one by one, since linked together they would share functions."""
    seen = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        script, linked = pathlib.Path(folder, "one_section.ld"), f"{folder}/linked.o"
        script.write_text(ONE_SECTION)
        for member in lines_of(tools.ar, "t", library):
            name = member.strip()
            seen[name] += 1
            subprocess.run([tools.ar, "xN", str(seen[name]), pathlib.Path(library).resolve(), name], cwd=folder, check=True)
            subprocess.run([tools.ld, "-r", "--force-group-allocation", "-T", script, "-o", linked, f"{folder}/{name}"], check=True)
            yield from lines_of(tools.objdump, "-d", "--no-show-raw-insn", linked)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("libraries", nargs="+")
    for tool in ("ar", "ld", "nm", "objdump"):
        parser.add_argument(f"--{tool}", required=True)
    arguments = parser.parse_args()
    problems = []
    for library in arguments.libraries:
        problems += defined_twice(lines_of(arguments.nm, "-A", "--defined-only", library))
        problems += made_at_first_use(lines_of(arguments.nm, "-C", "--defined-only", library))
        problems += of_others(lines_of(arguments.nm, "-C", "--defined-only", library))[:5]
        problems += beyond_baseline(listing(library, arguments))
    sources.report("symbols", problems)


if __name__ == "__main__":
    main()
