"""Measures how much of the sums of gradients is hidden behind the backward pass: two ranks of one thread each, in network
namespaces with a link of 1 Gbit/s and 100 us, train a network over Gloo. Needs root:
  python3 bench/distribute/network.py build/release [--rounds 5] [--width 512] [--batch 4096] [--steps 30]
In each round two processes that do not know of each other train on as many rows (what computes), then the two ranks. Beside
them what docs/distribute.md says on paper: the bytes of the gradients over the link, as if nothing overlapped."""

import argparse
import os
import statistics
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(root, "tests", "distribute"))
import network  # noqa: E402: tests/distribute/network.py has the machines

RANKS = 2


def numbers(process):
    text = process.communicate()[0]
    if process.returncode:
        sys.exit("a process has failed: " + " ".join(process.args))
    words = [line.split() for line in text.splitlines()]
    return {w[0]: float(w[1]) for w in words if len(w) == 2 and w[0] != "loss"}


def start(machine, command, **more):
    env = dict(os.environ, TANDEM_NUM_THREADS="1", **more)
    return subprocess.Popen(["ip", "netns", "exec", machine, "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"',
                             machine, *command], env=env, stdout=subprocess.PIPE, text=True)


def measure(machines, command, port):
    """Of one rank, and of all of them together."""
    one = command[:2] + [str(int(command[2]) // RANKS)] + command[3:]
    alone = [numbers(p) for p in [start(m, one) for m in machines]]
    together = [numbers(p) for p in [
        start(m, command, RANK=str(i), WORLD_SIZE=str(RANKS), LOCAL_RANK="0", LOCAL_WORLD_SIZE="1",
              MASTER_ADDR="192.168.77.1", MASTER_PORT=str(port)) for i, m in enumerate(machines)]][0]
    return max(a["step"] for a in alone), together["step"], together["exposed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    for name, value in (("rounds", 5), ("width", 512), ("batch", 4096), ("steps", 30)):
        parser.add_argument("--" + name, type=int, default=value)
    o = parser.parse_args()
    command = [os.path.join(o.build, "bench", "distribute_step"), str(o.width), str(o.batch), str(o.steps), "steps"]
    try:
        with network.Network(RANKS) as net:
            rounds = [measure(net.machines, command, 29600 + i) for i in range(o.rounds)]
    except network.Skip as e:
        sys.exit(f"no machines: {e}")
    compute, step, exposed = (statistics.median(r[i] for r in rounds) for i in range(3))
    shares = sorted(100 * r[2] / r[1] for r in rounds)
    n = 4 * ((784 + 1) * o.width + (o.width + 1) * o.width + (o.width + 1) * 10)
    on_paper = 2 * (RANKS - 1) / RANKS * n / 125e6 * 1e3
    print(f"784-{o.width}-{o.width}-10, {o.batch} rows in all, {n / 1e6:.2f} MB of gradients, medians of {o.rounds} rounds")
    print(f"a rank alone {compute:.1f} ms, the sums on paper {on_paper:.1f} ms, a step {step:.1f} ms")
    print(f"exposed {exposed:.1f} ms, {statistics.median(shares):.1f} % of a step ({shares[0]:.1f} to {shares[-1]:.1f})")


if __name__ == "__main__":
    main()
