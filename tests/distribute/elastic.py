"""Processes that come later join a training that runs: in the place of one that was killed, or from another tandem_run.
Nobody has a checkpoint: the state is that in memory. And several nodes, of which one is lost.

elastic.py PROGRAM TANDEM_RUN   PROGRAM: distribute_elastic
"""

import re
import subprocess
import sys
import time

from processes import environment, free_port

STEPS = 66


class Launcher:
    def __init__(self, launcher, program, options, arguments):
        command = [launcher, *options, "--grace", "1", "--", program, "-", *arguments]
        self.process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)

    def end(self, seconds=150):
        try:
            self.out, self.err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.out, self.err = self.process.communicate(timeout=30)
        return self


def ends(*launchers):
    """(rank, size, weights, steps taken by the process) of all that have ended well."""
    found = []
    for run in launchers:
        text = rf"rank (\d) of (\d): weights ([\d.]+) after {STEPS} steps, (\d+) here"
        found += [(int(r), int(p), float(w), int(n)) for r, p, w, n in re.findall(text, run.out)]
    return sorted(found)


def problem(name, runs, size, whole, said):
    got = ends(*runs)
    print(f"{name}: {got}")
    texts = "".join(run.err for run in runs)
    if (any(run.process.returncode for run in runs) or [(r, p) for r, p, *_ in got] != [(r, size) for r in range(size)] or
            any(abs(w - whole) > 1e-3 for *_, w, _ in got) or not all(re.search(s, texts) for s in said)):
        parts = [f"status {run.process.returncode}:\n{run.out[-2500:]}{run.err[-2500:]}" for run in runs]
        return f"{name}: " + "\n".join(parts)
    return None


def check(program, launcher):
    def start(options, *arguments):
        return Launcher(launcher, program, options, arguments)

    alone = start(["-n", "1"]).end()
    [(_, _, whole, _)] = ends(alone)

    run = start(["-n", "3", "--min-processes", "2", "--max-replacements", "1"], "kill", "2", "30", "wait", "3").end()
    yield problem("rank 2 of 3 is killed, and replaced", [run], 3, whole,
                  ["2 processes go on", r"rank 3 \(process \d+\) is to join them \(1 of 1\)"])
    # What those of the first world have taken twice are the steps since they were last kept; the last one has begun late.
    if max(n for *_, n in ends(run)) > STEPS + 5 or min(n for *_, n in ends(run)) > 45:
        yield f"a replacement: steps {ends(run)}"
    run = start(["-n", "3", "--min-processes", "2", "--max-replacements", "1"], "kill", "0", "30", "wait", "3").end()
    yield problem("rank 0 of 3 is killed, and replaced", [run], 3, whole, ["2 processes go on"])

    meeting = ["--rendezvous", f"127.0.0.1:{free_port()}"]
    first = start(["-n", "2", "--min-processes", "1", *meeting], "wait", "3")
    later = start(["-n", "1", "--join", *meeting])
    runs = [first.end(), later.end()]
    yield problem("one comes later", runs, 3, whole, [])
    if sorted(n for *_, n in ends(*runs))[1:] != [STEPS, STEPS]:
        yield f"one comes later: steps taken twice: {ends(*runs)}"

    meeting = ["--nnodes", "2", "--min-processes", "2", "--rendezvous", f"127.0.0.1:{free_port()}"]
    runs = [start(["-n", "2", "--node-rank", str(node), *meeting], "kill", "3", "30") for node in (0, 1)]
    yield problem("one of two nodes loses a process", [run.end() for run in runs], 3, whole, ["3 processes go on"])

    meeting = ["--nnodes", "2", "--min-processes", "2", "--rendezvous", f"127.0.0.1:{free_port()}"]
    runs = [start(["-n", "2", "--node-rank", str(node), *meeting], "wait", "5") for node in (0, 1)]
    time.sleep(8)  # they wait at step 40
    runs[1].process.kill()  # and its processes with it
    runs[1].end()
    yield problem("a node is lost", [runs[0].end()], 2, whole, ["node 1 .* has not been heard of .*; the others go on"])


def main():
    problems = [p for p in check(*sys.argv[1:3]) if p]
    for p in problems:
        print("FAILED:", p)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
