"""Shared by the Python peers: the protocol of the driver, and the exact inputs and digests of bench/runner.cpp.

A peer is one file <name>_peer.py that adds its cases with @case and ends with serve(). Its process is a worker of the
driver like any other (bench/runner.hpp): compilation happens when a case is opened, before anything is timed.
"""

import argparse
import dataclasses
import os
import sys
import time
import traceback
from typing import Callable

import numpy as np

_cases = {}


@dataclasses.dataclass
class Work:
    """A case that is ready: `run()` does the work once and waits for it, `result()` returns the numbers to compare."""

    run: Callable
    result: Callable


def case(name):
    """Decorator: registers the function, which makes the Work, under the name."""

    def add(make):
        _cases[name] = make
        return make

    return add


def options():
    """Parses the command line passed by the driver."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true", required=True, help="answer the driver on standard input")
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def stay_on(processors):
    """Restricts the process to this many of its processors, which thread pools take as their size."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:processors])


def _random_words(seed, count):
    return np.random.RandomState(seed).randint(0, 1 << 32, count, dtype=np.uint32)


def normal(shape, seed, scale=1.0):
    """std::normal_distribution<float> of libstdc++ over std::mt19937 (the polar method, two numbers per pair)."""
    count = int(np.prod(shape))
    fresh = min(count, 65536)
    pairs = _random_words(seed, 2 * fresh + 256).astype(np.float32) / np.float32(2**32)
    uniform = np.minimum(pairs, np.nextafter(np.float32(1), np.float32(0)))
    x, y = (np.float32(2) * uniform - np.float32(1)).reshape(-1, 2).T
    square = x * x + y * y
    kept = (square <= 1) & (square != 0)
    x, y, square = x[kept], y[kept], square[kept]
    factor = np.sqrt(np.float32(-2) * np.log(square) / square)
    values = np.stack([y * factor, x * factor], 1).ravel()[:fresh] * np.float32(scale)
    return np.resize(values, count).reshape(shape)


def indices(shape, bound, seed):
    return (_random_words(seed, int(np.prod(shape))) % np.uint32(bound)).astype(np.int64).reshape(shape)


def flat(*arrays):
    """The concatenated values of the arrays."""
    return np.concatenate([np.asarray(a, np.float32).ravel() for a in arrays])


def _digest(values):
    picked = 61
    wide = values.astype(np.float64)
    weights = 1 + np.arange(len(wide)) % 7 / 7
    samples = values[:: max(1, len(values) // picked)][:picked]
    numbers = [len(values), np.abs(wide).sum(), (wide * weights).sum(), len(samples), *samples]
    return " ".join(f"{float(n):.9g}" for n in numbers)


class _Session:
    """The state of a worker: at most one open case."""

    work = None
    iterations = 1

    def list(self):
        return " ".join(_cases)

    def open(self, name):
        self.work = None
        self.work = _cases[name]()
        digest = _digest(np.asarray(self.work.result(), np.float32).ravel())
        for _ in range(3):  # recompilation once the state exists happens here
            if self._seconds(1) > 0.25:
                break
        return digest

    def _seconds(self, iterations):
        run = self.work.run
        start = time.perf_counter()
        for _ in range(iterations):
            run()
        return time.perf_counter() - start

    def calibrate(self, seconds):
        """The number of iterations that takes about this long, found by doubling."""
        seconds, iterations = float(seconds), 1
        while (taken := self._seconds(iterations)) < seconds / 2:
            iterations *= 8 if taken < seconds / 20 else 2
        self.iterations = max(1, round(iterations * seconds / taken))
        return str(self.iterations)

    def sample(self):
        if self.iterations > 1:
            self.work.run()  # wakes the pool: the process was stopped before
        return f"{self._seconds(self.iterations) / self.iterations:.12g}"

    def close(self):
        self.work = None
        return ""


def serve():
    """Answers each input line with one line until the input ends. Output of libraries goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    session = _Session()
    requests = {"list", "open", "calibrate", "sample", "close"}
    for line in sys.stdin:
        verb, *arguments = line.split()
        try:
            if verb not in requests:
                raise ValueError("unknown request: " + line)
            reply = "ok " + getattr(session, verb)(*arguments)
        except Exception as error:  # the driver prints it in the table and continues with the next case
            traceback.print_exc()
            reply = "error " + " ".join(f"{type(error).__name__}: {error}".split())[:200]
        print(reply.strip(), file=answers, flush=True)
