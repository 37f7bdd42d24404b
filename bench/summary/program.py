"""The size of event files and the cost of a call: Tandem, tf.summary and torch.utils.tensorboard write the same scalars.

.venv/bin/python bench/summary/program.py build/release/bench/summary_sizes [COUNT]

A call takes time of the clock, and processor time of the thread that makes it; the threads of the writers come on top of the latter.
"""

import os
import subprocess
import sys
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf
from torch.utils.tensorboard import SummaryWriter


class Clock:
    """Nanoseconds a call of what runs in its block: of the clock, and processor time of this thread."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.begin = time.perf_counter(), time.thread_time()
        return self

    def __exit__(self, *error):
        self.nanoseconds = [1e9 * (end - begin) / self.count for begin, end in zip(self.begin, (time.perf_counter(), time.thread_time()))]


def tensorflow(folder, count):
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default(), Clock(count) as clock:
        for i in range(count):
            tf.summary.scalar("loss", i % 100 / 64, step=i)
    writer.close()
    return clock.nanoseconds


def torch(folder, count):
    with SummaryWriter(folder) as writer, Clock(count) as clock:
        for i in range(count):
            writer.add_scalar("loss", i % 100 / 64, i)
    return clock.nanoseconds


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    tandem = lambda folder, n: [float(x) for x in subprocess.run([program, folder, str(n)], check=True, capture_output=True, text=True).stdout.split()[:2]]
    for name, write in ("tandem", tandem), ("tensorflow", tensorflow), ("torch", torch):
        with tempfile.TemporaryDirectory() as folder:
            clock, thread = write(folder, count)
            size = sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder))
            print(f"{name:12} {clock:10.0f} ns a call, {thread:10.0f} of its thread {size / count:8.1f} bytes a scalar")


if __name__ == "__main__":
    main()
