"""Processes that come later join a training that runs: in the place of one that was killed, or from another tandem_run.
Nobody has a checkpoint: the state is that in memory. And several nodes, of which one is lost; and what happens to a
tandem_run that has joined another one.

elastic.py PROGRAM TANDEM_RUN   PROGRAM: distribute_elastic
"""

import itertools
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from processes import environment, free_port

STEPS = 66
SILENCE = "3"  # seconds until a machine counts as lost
numbers = itertools.count()


class Launcher:
    """A tandem_run, whose output goes to files of the folder."""

    def __init__(self, folder, launcher, options, *command):
        number = next(numbers)
        self.paths = [folder / f"{name}{number}" for name in ("out", "err")]
        with open(self.paths[0], "w") as out, open(self.paths[1], "w") as err:
            self.process = subprocess.Popen([launcher, *options, "--grace", "1", "--", *command], env=environment(),
                                            stdout=out, stderr=err)

    out = property(lambda self: self.paths[0].read_text())
    err = property(lambda self: self.paths[1].read_text())

    def until(self, text, seconds=60):
        """Waits until it has written that, or ends."""
        end = time.monotonic() + seconds
        while text not in self.out + self.err and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        return self

    def end(self, seconds=150):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self

    def texts(self):
        return f"status {self.process.returncode}:\n{self.out[-2500:]}{self.err[-2500:]}"


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
        return f"{name}: " + "\n".join(run.texts() for run in runs)
    return None


def check(folder, program, launcher):
    def start(options, *arguments):
        return Launcher(folder, launcher, options, program, "-", *arguments)

    alone = start(["-n", "1"]).end()
    if len(ends(alone)) != 1:
        yield f"one process: {alone.texts()}"
        return
    whole = ends(alone)[0][2]

    run = start(["-n", "3", "--min-processes", "2", "--max-replacements", "1"], "kill", "2", "30", "--wait", "3").end()
    yield problem("rank 2 of 3 is killed, and replaced", [run], 3, whole,
                  ["2 processes go on", r"rank 3 \(process \d+\) is to join them \(1 of 1\)"])
    # What those of the first world have taken twice are the steps since they were last kept; the last one has begun late.
    if max(n for *_, n in ends(run)) > STEPS + 5 or min(n for *_, n in ends(run)) > 45:
        yield f"a replacement: steps {ends(run)}"
    run = start(["-n", "3", "--min-processes", "2", "--max-replacements", "1"], "kill", "0", "30", "--wait", "3").end()
    yield problem("rank 0 of 3 is killed, and replaced", [run], 3, whole, ["2 processes go on"])

    meeting = ["--rendezvous", f"127.0.0.1:{free_port()}"]
    first = start(["-n", "2", "--min-processes", "1", *meeting], "--wait", "3")
    later = start(["-n", "1", "--join", *meeting])
    runs = [first.end(), later.end()]
    yield problem("one comes later", runs, 3, whole, [])
    if sorted(n for *_, n in ends(*runs))[1:] != [STEPS, STEPS]:
        yield f"one comes later: steps taken twice: {ends(*runs)}"
    if runs[0].out.count("it is rank") != 2:
        yield f"one comes later: the others have not met once: {runs[0].texts()}"

    meeting = ["--rendezvous", f"127.0.0.1:{free_port()}"]
    first = start(["-n", "1", *meeting], "--wait", "2")
    later = start(["-n", "1", "--join", *meeting])
    yield problem("one joins a single process", [first.end(), later.end()], 2, whole, [])

    meeting = ["--nnodes", "2", "--min-processes", "2", "--rendezvous", f"127.0.0.1:{free_port()}"]
    runs = [start(["-n", "2", "--node-rank", str(node), *meeting], "kill", "3", "30") for node in (0, 1)]
    yield problem("one of two nodes loses a process", [run.end() for run in runs], 3, whole, ["3 processes go on"])

    meeting = ["--nnodes", "2", "--min-processes", "2", "--silence", SILENCE, "--rendezvous", f"127.0.0.1:{free_port()}"]
    runs = [start(["-n", "2", "--node-rank", str(node), *meeting], "--until", folder / "killed") for node in (0, 1)]
    runs[0].until("rank 0 waits")  # and the others in the next operation
    runs[1].process.kill()  # and its processes with it
    runs[1].end()
    (folder / "killed").touch()
    yield problem("a node is lost", [runs[0].end()], 2, whole, ["node 1 .* has not been heard of .*; the others go on"])


def check_launchers(folder, launcher):
    """With shells in the place of programs that train."""
    def start(options, meeting, script):
        options = [*options, "--silence", SILENCE, "--rendezvous", meeting]
        return Launcher(folder, launcher, options, "sh", "-c", script)

    def address():
        return f"127.0.0.1:{free_port()}"

    def wrong(name, *runs):
        return f"{name}: " + "\n".join(run.texts() for run in runs)

    def until(name):
        return f"until test -e {folder}/{name}; do sleep 0.05; done"

    # One node ends well, and is lost before the other one has ended; see below.
    meeting = ["--nnodes", "2", "--min-processes", "1"]
    place = address()
    nodes = [start(["-n", "1", "--node-rank", str(node), *meeting], place,
                   f"test $RANK = 1 || {{ {until('lost')}; }}; echo ends") for node in (0, 1)]
    nodes[1].until("ends").process.kill()
    nodes[1].end()

    meeting = address()
    first = start(["-n", "2", "--min-processes", "1"], meeting, until("left") + "; sleep 1")
    later = start(["-n", "1", "--join"], meeting, "echo begins; exec sleep 1000").until("begins")
    later.process.send_signal(signal.SIGTERM)
    later.end()
    (folder / "left").touch()
    first.end()
    if later.process.returncode != 143 or first.process.returncode != 0 or "signal" in first.err:
        yield wrong("a signal to one that has joined", first, later)

    meeting = address()
    first = start(["-n", "2", "--min-processes", "2"], meeting, f"test $RANK = 1 || exit 0; {until('ended')}; exit 5")
    later = start(["-n", "1", "--join"], meeting, "true").end()
    (folder / "ended").touch()
    first.end()
    if later.process.returncode != 0 or first.process.returncode != 0 or "; the others have ended" not in first.err:
        yield wrong("one that has joined and ended well counts", first, later)

    meeting = address()
    first = start(["-n", "2", "--min-processes", "2"], meeting,
                  until("silent") + "; test $RANK = 0 || exit 5; exec sleep 1000")
    later = start(["-n", "1", "--join"], meeting, "echo begins; exec sleep 1000").until("begins")
    later.process.kill()
    later.end()
    first.until("has not been heard of")
    (folder / "silent").touch()
    first.end()
    if first.process.returncode != 5 or "; the others go on" not in first.err or "stopping the others" not in first.err:
        yield wrong("one that has joined and is lost does not count", first, later)

    (folder / "lost").touch()  # more than SILENCE later
    if nodes[0].end(60).process.returncode != 0:
        yield wrong("a node that has ended well is lost", *nodes)


def main():
    program, launcher = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found = itertools.chain(check(folder, program, launcher), check_launchers(folder, launcher))
        problems = [p for p in found if p]
    for p in problems:
        print("FAILED:", p)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
