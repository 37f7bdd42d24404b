"""The summary scenario for the Python peers, as bench/summary/work.hpp has it."""

import atexit
import shutil
import tempfile

import numpy as np
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.util import tensor_util

import worker

CALLS, NUMBERS = 1000, 100_000


def number(i):
    return i % 100 / 64


def add_cases(make_writer):
    """make_writer(folder): a context with the functions scalar(value, step), histogram(values, step), flush() and path()."""

    def in_folder(write):
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        writer = make_writer(folder)

        def run():
            with writer:
                write(writer)

        def result():
            run()
            writer.flush()
            tensors = [tensor_util.make_ndarray(v.tensor) for e in EventFileLoader(writer.path()).Load() for v in e.summary.value]
            return [float(np.sum([t if t.ndim == 0 else t[:, 2].sum() for t in tensors]))]

        return worker.Work(run, result)

    def scalars(writer):
        for i in range(CALLS):
            writer.scalar(number(i), i)

    values = worker.normal([NUMBERS], 1)
    worker.case("summary/1000_scalars")(lambda: in_folder(scalars))
    worker.case("summary/histogram_100k")(lambda: in_folder(lambda writer: writer.histogram(values, 0)))
