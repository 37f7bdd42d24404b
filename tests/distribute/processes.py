"""Tests of distribute with real processes, several of distribute_ranks.

processes.py collectives PROGRAM [--gloo TANDEM_RUN] [--mpi MPIRUN]   every operation, with 2 and 4 ranks
processes.py faults PROGRAM [--gloo TANDEM_RUN] [--mpi MPIRUN] [--rounds N] [--seed S]
    kills or stops a rank at a random moment: the others raise UnavailableError in time, and say who is missing
processes.py bits PROGRAM [--gloo TANDEM_RUN] [--mpi MPIRUN]   distribute_fit: the weights of a training have the same
    bits with 1, 2 and 4 processes, and when one was killed and all started again
processes.py signals PROGRAM [--gloo TANDEM_RUN] [--mpi MPIRUN]   distribute_fit: Ctrl-C in one process stops all after
    the same step
processes.py errors PROGRAM [--gloo TANDEM_RUN] [--mpi MPIRUN]   distribute_fit: what one process raises is an error of
    the other one while it lives
processes.py elastic PROGRAM [--gloo TANDEM_RUN]   distribute_elastic: one of four processes is killed, or stopped,
    and perhaps a second one while the others meet: those that are left go on
processes.py mpich PROGRAM [--mpi MPIRUN]   distribute_ranks built with MPICH, whose mpirun that is: every operation with
    2 and 4 ranks, and ranks that die or are stopped. Exits with status 77 without --mpi
"""

import argparse
import os
import random
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time

FROM_LAUNCHERS = re.compile(r"^(OMPI_|PMI_|PMIX_|SLURM_|RANK$|WORLD_SIZE$|LOCAL_|MASTER_|TANDEM_)")
TIMEOUT = 3.0  # of the operations in `faults`


def environment(**more):
    """Ours without what another launcher has set. MPI: several ranks a core, as root too, on this machine alone."""
    e = {name: value for name, value in os.environ.items() if not FROM_LAUNCHERS.match(name)}
    e.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
             OMPI_MCA_hwloc_base_binding_policy="none", OMPI_MCA_btl="self,vader,tcp", OMPI_MCA_plm="isolated",
             TANDEM_NUM_THREADS="1")
    e.update(more)
    return e


def mpirun(mpi, ranks, *command):
    return [mpi, "-n", str(ranks), *command]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def both_began(run):
    return all(f"rank {rank}: process" in run.stdout for rank in (0, 1))


def check_collectives(arguments):
    runs = []
    for ranks in (1, 2, 4):
        if arguments.gloo:
            command = [arguments.gloo, "-n", str(ranks), "--", arguments.program, "collectives", "gloo"]
            runs.append((f"gloo, {ranks}", command, {}))
        if arguments.mpi:
            command = mpirun(arguments.mpi, ranks, arguments.program, "collectives", "mpi")
            runs.append((f"mpi, {ranks}", command, {}))
            if ranks == 2:
                runs.append((f"mpi, {ranks}, one thread", command, {"TANDEM_MPI_FUNNELED": "1"}))
    for name, command, more in runs:
        ranks = int(re.search(r"\d+", name)[0])
        run = subprocess.run(command, env=environment(**more), capture_output=True, text=True, timeout=200)
        passed = len(re.findall(r"rank \d+: all passed", run.stdout))
        connected = len(re.findall(rf"rank \d+: process \d+, {name[:name.index(',')]}, 1 threads", run.stdout))
        if run.returncode or passed != ranks or connected != ranks:  # threads as TANDEM_NUM_THREADS says
            yield (f"{name} ranks: status {run.returncode}, {passed} passed, {connected} with this backend:\n"
                   f"{run.stdout[-3000:]}{run.stderr[-3000:]}")
    if arguments.gloo:  # two programs in a script of each rank meet apart
        train = f"{arguments.program} train 30 3"
        run = subprocess.run([arguments.gloo, "-n", "2", "--", "sh", "-c", f"{train} && {train}"], env=environment(),
                             capture_output=True, text=True, timeout=100)
        if run.returncode or run.stdout.count("all passed") != 4:
            yield f"gloo: one program after the other: status {run.returncode}:\n{run.stdout}{run.stderr}"
        run = subprocess.run([arguments.gloo, "-n", "2", "--", arguments.program, "unequal"], env=environment(),
                             capture_output=True, text=True, timeout=100)
        said = re.findall(r"rank (\d): FAILED_PRECONDITION: .*float32 by sum, 1000 elements.*\n", run.stdout)
        if run.returncode or sorted(said) != ["0", "1"]:
            yield f"gloo: unequal numbers of steps: status {run.returncode}:\n{run.stdout}{run.stderr}"
        alone = environment(RANK="0", WORLD_SIZE="2", LOCAL_RANK="0", LOCAL_WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                            MASTER_PORT=str(free_port()))
        run = subprocess.run([arguments.program, "alone", "1"], env=alone, capture_output=True, text=True, timeout=100)
        took = re.search(r"alone: ([\d.]+) s, ([\d.]+) s", run.stdout)
        if not took or float(took[1]) < 0.5 or float(took[2]) > 0.5:
            yield f"gloo: a rank that does not come: status {run.returncode}:\n{run.stdout}{run.stderr}"
    for name, launcher in (("gloo", [arguments.gloo, "-n", "2", "--"]), ("mpi", mpirun(arguments.mpi, 2))):
        if launcher[0] is None:
            continue
        run = subprocess.run([*launcher, arguments.program, "another"], env=environment(), capture_output=True, text=True,
                             timeout=100)
        said = re.findall(r"rank (\d): FAILED_PRECONDITION: .*by (?:sum|max), 4 elements.*\n", run.stdout)
        if name == "gloo" and run.returncode or sorted(said) != ["0", "1"] or (
                name == "mpi" and "(operation 150 of" not in run.stdout):  # a dead group of MPI does not end in order
            yield f"{name}: another operation: status {run.returncode}:\n{run.stdout}{run.stderr}"
    if arguments.mpi:  # of unequal numbers of steps the 200th operation is the first that differs
        run = subprocess.run(mpirun(arguments.mpi, 2, arguments.program, "unequal"), env=environment(),
                             capture_output=True, text=True, timeout=100)
        said = re.findall(r"rank (\d): FAILED_PRECONDITION: .*float32 by sum, 1000 elements.*\n", run.stdout)
        if sorted(said) != ["0", "1"]:
            yield f"mpi: unequal numbers of steps: status {run.returncode}:\n{run.stdout}{run.stderr}"
    if arguments.mpi:  # a rank that ends with a status ends the others, long before their timeout
        begin = time.monotonic()
        run = subprocess.run(mpirun(arguments.mpi, 2, arguments.program, "end", "5"), env=environment(),
                             capture_output=True, text=True, timeout=100)
        if run.returncode == 0 or time.monotonic() - begin > 30 or not both_began(run):
            yield (f"mpi: a rank that ends with 5: status {run.returncode} after {time.monotonic() - begin:.1f} s:\n"
                   f"{run.stdout}{run.stderr}")
        begin = time.monotonic()  # the others do not wait at exit() for one that is dead
        command = mpirun(arguments.mpi, 2, arguments.program, "vanish")
        command.insert(1, "--enable-recovery")
        run = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=100)
        if time.monotonic() - begin > 30 or not both_began(run):
            yield (f"mpi: the end without a rank that was killed takes {time.monotonic() - begin:.1f} s:\n"
                   f"{run.stdout}{run.stderr}")


class Ranks:
    """Running ranks and what they write."""

    def __init__(self, processes):
        self.processes = processes
        self.text = ""
        self.selector = selectors.DefaultSelector()
        for process in processes:
            self.selector.register(process.stdout, selectors.EVENT_READ)

    def read(self, seconds, until=lambda text: False):
        end = time.monotonic() + seconds
        while not until(self.text) and self.selector.get_map() and (left := end - time.monotonic()) > 0:
            for key, _ in self.selector.select(left):
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    self.selector.unregister(key.fileobj)
                self.text += chunk.decode(errors="replace")
        return until(self.text)

    def pids(self):
        return {int(rank): int(pid) for rank, pid in re.findall(r"rank (\d+): process (\d+)", self.text)}

    def end(self):
        for pid in self.pids().values():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in self.processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def start(arguments, backend, ranks):
    train = [arguments.program, "train", str(TIMEOUT)]
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    if backend == "mpi":  # without --enable-recovery mpirun ends all ranks with the first one
        command = mpirun(arguments.mpi, ranks, *train)
        command.insert(1, "-disable-auto-cleanup" if arguments.test == "mpich" else "--enable-recovery")
        return Ranks([subprocess.Popen(command, env=environment(), **pipe)])
    port = str(free_port())  # not by tandem_run, which ends the others
    return Ranks([subprocess.Popen(train, env=environment(
        RANK=str(r), WORLD_SIZE=str(ranks), LOCAL_RANK=str(r), LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
        MASTER_PORT=port), **pipe) for r in range(ranks)])


def check_fault(arguments, backend, generator, kind):
    ranks = generator.choice([2, 3, 4])
    victim = generator.randrange(ranks)
    name = f"{backend}, {ranks} ranks, {kind.name} of rank {victim}"
    group = start(arguments, backend, ranks)
    try:
        if not group.read(60, lambda text: len(re.findall(r"rank \d+: step 0\n", text)) == ranks):
            yield f"{name}: did not start:\n{group.text[-2000:]}"
            return
        group.read(generator.uniform(0, 1.5))
        os.kill(group.pids()[victim], kind)
        at = time.monotonic()
        # Oversubscribed machines start to print late: what counts is the time that the ranks themselves measure.
        all_said = group.read(TIMEOUT + 10, lambda text: len(re.findall(r"UNAVAILABLE.*\n", text)) >= ranks - 1)
        took = time.monotonic() - at
        said = re.findall(r"rank (\d+): UNAVAILABLE after ([\d.]+) s in step (\d+): (.*)", group.text)
        if not all_said or len(said) < ranks - 1:
            yield f"{name}: {len(said)} ranks have raised after {took:.1f} s:\n{group.text[-3000:]}"
            return
        print(f"{name}: {', '.join(f'rank {r} after {waited} s' for r, waited, *_ in said)}; {said[0][3][:300]}")
        for rank, waited, step, text in said:
            if float(waited) > TIMEOUT + 1:
                yield f"{name}: rank {rank} has waited for {waited} s"
            if kind == signal.SIGSTOP and float(waited) < TIMEOUT - 0.1:  # it might have gone on
                yield f"{name}: rank {rank} has waited for {waited} s only: {text}"
            if not text.startswith("all_reduce") or f"at step {step}" not in text:
                yield f"{name}: rank {rank} does not say what it did: {text}"
            missing = rf"rank {victim} \(node .*\) was last seen( at step \d+)?, "
            if not re.search(missing, text) and not (victim == 0 and "rank 0, which keeps the heartbeats, was last seen" in text):
                yield f"{name}: rank {rank} does not say who is missing: {text}"
    finally:
        group.end()


def check_restart(arguments):
    """tandem_run starts the ranks again, and they meet at the same store."""
    command = [arguments.gloo, "-n", "3", "--max-restarts", "1", "--", arguments.program, "train", str(TIMEOUT), "60"]
    group = Ranks([subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)])
    try:
        group.read(60, lambda text: len(re.findall(r"rank \d+: step 0\n", text)) == 3)
        os.kill(group.pids()[1], signal.SIGKILL)
        group.read(60, lambda text: len(re.findall(r"rank \d+: all passed", text)) == 3)
        status = group.processes[0].wait(timeout=20)
        if status or "restart 1 of 1" not in group.text or group.text.count("all passed") != 3:
            yield f"a restart: status {status}:\n{group.text[-3000:]}"
    finally:
        group.end()


def check_faults(arguments):
    generator = random.Random(arguments.seed)
    print("seed", arguments.seed)
    if arguments.gloo:
        yield from check_restart(arguments)
    for i in range(arguments.rounds):
        for backend in ("gloo", "mpi"):
            if getattr(arguments, backend):
                yield from check_fault(arguments, backend, generator, (signal.SIGKILL, signal.SIGSTOP)[i % 2])


def check_mpich(arguments):
    if not arguments.mpi:
        print("skipped: MPICH is not installed (Debian: mpich, libmpich-dev)")
        sys.exit(77)
    for ranks in (2, 4):
        run = subprocess.run(mpirun(arguments.mpi, ranks, arguments.program, "collectives", "mpi"), env=environment(),
                             capture_output=True, text=True, timeout=200)
        passed = len(re.findall(r"rank \d+: all passed", run.stdout))
        print(f"{ranks} ranks: {passed} have passed")
        if run.returncode or passed != ranks or run.stdout.count(", mpi, 1 threads") != ranks:
            yield f"{ranks} ranks: status {run.returncode}:\n{run.stdout[-3000:]}{run.stderr[-3000:]}"
    # Its launcher ends the others with a rank that dies, unless it is told not to.
    run = subprocess.run(mpirun(arguments.mpi, 2, arguments.program, "vanish"), env=environment(), capture_output=True,
                         text=True, timeout=100)
    print(f"a rank that is killed: status {run.returncode}")
    if run.returncode == 0:
        yield f"a rank that is killed: status {run.returncode}:\n{run.stdout}{run.stderr}"
    command = mpirun(arguments.mpi, 2, arguments.program, "end", "5")
    command.insert(1, "-disable-auto-cleanup")
    run = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=100)
    said = re.findall(r"FAILED: (barrier: .*rank 1 \(node .*\) was last seen.* \(its process has ended\).*)", run.stdout)
    print(f"a rank that ends with 5: {said}")
    if len(said) != 1:
        yield f"a rank that ends with 5: status {run.returncode}:\n{run.stdout}{run.stderr}"
    print("seed", arguments.seed)
    yield from check_fault(arguments, "mpi", random.Random(arguments.seed), signal.SIGSTOP)


def check_bits(arguments):
    results = {}

    def run(name, command):
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=200)
        found = re.search(r"weights \w+ after \d+ steps", done.stdout)
        results[name] = found[0] if found else f"status {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"

    program, epochs = arguments.program, "19"  # of 11 steps
    for ranks in (1, 2, 4):
        if arguments.gloo:
            run(f"gloo, {ranks}", [arguments.gloo, "-n", str(ranks), "--", program, epochs, "-"])
        if arguments.mpi:
            run(f"mpi, {ranks}", mpirun(arguments.mpi, ranks, program, epochs, "-"))
    if arguments.gloo:
        with tempfile.TemporaryDirectory() as folder:
            run("gloo, 2, one killed in step 100",
                [arguments.gloo, "-n", "2", "--max-restarts", "1", "--", program, epochs, f"{folder}/run", "100"])
        with tempfile.TemporaryDirectory() as folder:
            run("gloo, 4, for 8 epochs", [arguments.gloo, "-n", "4", "--", program, "8", f"{folder}/run"])
            run("gloo, 2 after 4", [arguments.gloo, "-n", "2", "--", program, epochs, f"{folder}/run"])
            del results["gloo, 4, for 8 epochs"]
    for name, text in results.items():
        print(f"{name}: {text}")
    first = next(iter(results.values()))
    yield from (f"{name}: {text}, not {first}" for name, text in results.items() if text != first)
    if not first.endswith("after 209 steps"):
        yield first


def check_signals(arguments):
    """The gradients of the step after the signal carry it to rank 0, which has not received it."""
    for name, launcher in (("gloo", [arguments.gloo, "-n", "2", "--"]), ("mpi", mpirun(arguments.mpi, 2))):
        if launcher[0] is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            command = [*launcher, arguments.program, "19", f"{folder}/run", "100", str(int(signal.SIGINT))]
            done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=200)
        stops = sorted(re.findall(r"rank \d has stopped after step \d+ with status \d+", done.stdout))
        print(f"{name}: {stops}")
        if stops != [f"rank {rank} has stopped after step 101 with status 130" for rank in (0, 1)]:
            yield f"{name}: status {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


def check_errors(arguments):
    """Rank 1 stays alive after its error, so that only its report can say to rank 0 what it has raised."""
    for name, launcher in (("gloo", [arguments.gloo, "-n", "2", "--"]), ("mpi", mpirun(arguments.mpi, 2))):
        if launcher[0] is None:
            continue
        command = [*launcher, arguments.program, "19", "-", "100", "0"]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=200)
        said = re.search(r"FAILED: rank 0: (.*)", done.stdout)
        print(f"{name}: {said and said[1]}")
        if done.returncode == 0 or not said or not re.search(
                r"at step \d+: \w+: rank 1 \(node .*\) has raised: test: an error of rank 1 alone", said[1]):
            yield f"{name}: status {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


def check_elastic(arguments):
    """The sum of the weights is that of a training by one process, up to rounding."""
    if not arguments.gloo:
        return
    weights = {}
    runs = [("one process", 1, 1, [])]
    kill = ["--timeout", "8", "kill"]
    runs += [(f"rank {rank} of 4 is killed", 4, 3, [*kill, str(rank), "30"]) for rank in (0, 2)]
    # The meeting takes about 20 ms, and then they connect. SimCluster has a second loss at each point of it.
    runs += [(f"and rank {other} {wait} us later", 4, 2, [*kill, "3", "30", str(other), str(wait)])
             for other, wait in ((0, 0), (2, 25000), (1, 45000))]
    runs.append(("rank 1 of 4 is stopped", 4, 3, ["--timeout", "10", "stop", "1", "30"]))
    said = {"kill": "3 processes go on", "stop": "was left out"}
    for name, ranks, left, more in runs:
        with tempfile.TemporaryDirectory() as folder:
            launcher = [arguments.gloo, "-n", str(ranks), "--min-processes", str(min(ranks, 2)), "--grace", "1", "--"]
            done = subprocess.run([*launcher, arguments.program, f"{folder}/run", *more], env=environment(),
                                  capture_output=True, text=True, timeout=200)
        ends = re.findall(r"rank (\d) of (\d): weights ([\d.]+) after 66 steps,", done.stdout)
        weights[name] = [float(w) for *_, w in ends]
        print(f"{name}: {ends}; {''.join(re.findall(r'rank 2: (.*)', done.stdout))[:300]}")
        if (done.returncode or sorted((int(r), int(p)) for r, p, _ in ends) != [(r, left) for r in range(left)] or
                any(abs(w - weights["one process"][0]) > 1e-3 for w in weights[name]) or
                not re.search(said[more[2]] if more else "", done.stderr)):
            yield f"{name}: status {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
            return
    command = [arguments.gloo, "-n", "2", "--min-processes", "2", "--", "sh", "-c"]
    done = subprocess.run([*command, "test $RANK = 0 || exit 5; exec sleep 60"], env=environment(), capture_output=True,
                          text=True, timeout=50)
    if done.returncode != 5 or "stopping the others" not in done.stderr:
        yield f"fewer than --min-processes are left: status {done.returncode}:\n{done.stdout}{done.stderr}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("test", choices=["collectives", "faults", "bits", "signals", "errors", "elastic", "mpich"])
    parser.add_argument("program")
    parser.add_argument("--gloo", help="tandem_run")
    parser.add_argument("--mpi", help="mpirun")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    arguments = parser.parse_args()
    checks = {"collectives": check_collectives, "faults": check_faults, "bits": check_bits, "signals": check_signals,
              "errors": check_errors, "elastic": check_elastic, "mpich": check_mpich}
    problems = list(checks[arguments.test](arguments))
    for problem in problems:
        print("FAILED:", problem)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
