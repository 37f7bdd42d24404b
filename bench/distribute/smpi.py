"""The communication of training steps on simulated clusters of 64, 1,024 and 4,096 machines, by SimGrid's SMPI.

smpi.py SKELETON_CPP   compiles it with smpicxx and runs it with smpirun; the time of a step must be near that of the
    formula of docs/distribute.md, t + 2 log2(p) a + 2 (p - 1) / p n / b
Exits with status 77 where SimGrid is not installed (Debian: libsimgrid-dev). The time is that of the simulated machines,
so it does not depend on the one that simulates.
"""

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

LATENCY, RATE = 2e-6, 11e9  # 100 Gbit/s
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="machine-" suffix="" radical="0-{last}" speed="10Gf" bw="{rate}Bps" lat="{latency}s"/>
</platform>
"""
# Ranks, seconds of computation, bytes of buckets, and the most that the simulated efficiency may be below the formula's,
# or, without computation, the most that the time may be above: small buckets of many ranks take longer than the formula
# says, since their messages are short. The memory of all ranks must fit: buckets of 1 MB for 1,024 of them.
RUNS = [
    (64, 0.068, [1 << 20, 5_700_000], 0.05),  # mnist_cnn
    (1024, 0.068, [1 << 20] * 6 + [1 << 19], 0.05),  # the same in more buckets
    (64, 0.0, [25 << 20], 1.3),
    (4096, 0.0, [1 << 18], 4.0),
]


def paper(ranks, seconds, buckets):
    return seconds + sum(2 * math.log2(ranks) * LATENCY + 2 * (ranks - 1) / ranks * n / RATE for n in buckets)


def main():
    if not shutil.which("smpicxx") or not shutil.which("smpirun"):
        print("skipped: SimGrid (smpicxx, smpirun) is not installed")
        sys.exit(77)
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/skeleton"
        subprocess.run(["smpicxx", "-O2", "-o", program, sys.argv[1]], check=True)
        for ranks, seconds, buckets, most in RUNS:
            with open(f"{folder}/platform.xml", "w") as f:  # a latency for each of the two links between machines
                f.write(PLATFORM.format(last=ranks - 1, rate=RATE, latency=LATENCY / 2))
            with open(f"{folder}/hosts", "w") as f:
                f.writelines(f"machine-{i}\n" for i in range(ranks))
            done = subprocess.run(
                ["smpirun", "-np", str(ranks), "-platform", f"{folder}/platform.xml", "-hostfile", f"{folder}/hosts",
                 "--cfg=smpi/simulate-computation:no", "--cfg=smpi/coll-selector:mpich", "--cfg=smpi/allreduce:rab",
                 "--cfg=smpi/host-speed:10Gf",
                 "--cfg=contexts/stack-size:256", "--cfg=smpi/display-timing:no", "--log=root.thres:warning", program,
                 "1", str(seconds), *map(str, buckets)],
                cwd=folder, env=dict(os.environ), capture_output=True, text=True, timeout=500)
            took = re.search(rf"{ranks} ranks: ([\d.]+) s a step", done.stdout)
            name = f"{ranks} ranks, {buckets} bytes"
            if done.returncode or not took:
                problems.append(f"{name}: status {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
                continue
            expected = paper(ranks, seconds, buckets)
            ratio, efficiency = float(took[1]) / expected, seconds / float(took[1])
            print(f"{name}: {1e3 * float(took[1]):.3f} ms a step, {1e3 * expected:.3f} ms on paper, efficiency "
                  f"{efficiency:.3f}", flush=True)
            if ratio > most if seconds == 0 else efficiency < seconds / expected - most:
                problems.append(f"{name}: {ratio:.2f} of the formula's time")
    for problem in problems:
        print("FAILED:", problem)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
