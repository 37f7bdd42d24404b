"""Compares data parallel training on two processes of one thread each with PyTorch's DistributedDataParallel over Gloo:
  .venv/bin/python bench/distribute/program.py build/release [--rounds 5] [--width 512] [--batch 256] [--steps 200]
In each round Tandem over Gloo, Tandem over MPI and PyTorch run one after the other; a ratio is the median over the rounds
of PyTorch's time over ours. The losses of the first steps must agree."""

import argparse
import os
import statistics
import subprocess
import sys


def read(text, size):
    r = {"loss": [], "size": size}
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["loss"]:
            r["loss"].append(float(words[1]))
        elif words[:1] == ["step"]:
            r["step"] = float(words[1])
        elif words[:1] == ["sum"]:
            r[int(words[1])] = float(words[2])
    return r


def run(command, **more):
    env = dict(os.environ, TANDEM_NUM_THREADS="1", OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **more)
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def finished(processes):
    texts = [p.communicate()[0] for p in processes]
    if any(p.returncode for p in processes):
        sys.exit("a process has failed: " + " ".join(processes[0].args))
    return read(texts[0], len(processes))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    for name, value in (("rounds", 5), ("width", 512), ("batch", 256), ("steps", 200)):
        parser.add_argument("--" + name, type=int, default=value)
    o = parser.parse_args()
    work = [str(o.width), str(o.batch), str(o.steps)]
    step = [os.path.join(o.build, "bench", "distribute_step")] + work
    ddp = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "ddp.py")] + work
    ways = {
        "tandem, gloo": lambda _: [run([os.path.join(o.build, "examples", "tandem_run"), "-n", "2", "--rank-0-plain",
                                        "--"] + step)],
        "tandem, mpi": lambda _: [run(["mpirun", "--oversubscribe", "-np", "2", "--bind-to", "none"] + step)],
        "pytorch, gloo": lambda i: [run(ddp, RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                                        MASTER_PORT=str(29600 + i)) for rank in (0, 1)],
    }
    rounds = []
    for i in range(o.rounds):
        rounds.append({name: finished(start(i)) for name, start in ways.items()})
        losses = [r["loss"] for r in rounds[-1].values()]
        for other in losses[1:]:
            if len(other) != 3 or any(abs(a - b) > 1e-3 * abs(a) for a, b in zip(losses[0], other)):
                sys.exit("the losses differ: %s" % losses)
    keys = [k for k in rounds[0]["pytorch, gloo"] if k not in ("loss", "size")]
    print("784-%d-%d-10, %d rows in all, medians of %d rounds" % (o.width, o.width, o.batch, o.rounds))
    for key in keys:
        line = "step, ms" if key == "step" else "all_reduce of %d KB, us" % (key >> 10)
        for name in ways:
            line += "  %s %.2f" % (name, statistics.median(r[name][key] for r in rounds))
        for name in list(ways)[:2]:
            ratios = sorted(r["pytorch, gloo"][key] / r[name][key] for r in rounds)
            line += "  pytorch / %s %.2f (%.2f to %.2f)" % (name, statistics.median(ratios), ratios[0], ratios[-1])
        print(line)


if __name__ == "__main__":
    main()
