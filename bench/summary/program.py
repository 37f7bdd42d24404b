"""The size of event files and the cost of a call: Tandem, tf.summary and torch.utils.tensorboard write the same scalars.

.venv/bin/python bench/summary/program.py build/release/bench/summary_sizes [COUNT]
"""

import os
import subprocess
import sys
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf
from torch.utils.tensorboard import SummaryWriter


def tensorflow(folder, count):
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default():
        begin = time.perf_counter()
        for i in range(count):
            tf.summary.scalar("loss", i % 100 / 64, step=i)
        seconds = time.perf_counter() - begin
    writer.close()
    return 1e9 * seconds / count


def torch(folder, count):
    with SummaryWriter(folder) as writer:
        begin = time.perf_counter()
        for i in range(count):
            writer.add_scalar("loss", i % 100 / 64, i)
        return 1e9 * (time.perf_counter() - begin) / count


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    tandem = lambda folder, n: float(subprocess.run([program, folder, str(n)], check=True, capture_output=True, text=True).stdout.split()[0])
    for name, write in ("tandem", tandem), ("tensorflow", tensorflow), ("torch", torch):
        with tempfile.TemporaryDirectory() as folder:
            nanoseconds = write(folder, count)
            size = sum(os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder))
            print(f"{name:12} {nanoseconds:10.0f} ns a call {size / count:8.1f} bytes a scalar")


if __name__ == "__main__":
    main()
