"""The files of the data scenario, as bench/data/work.hpp has them, and its sizes."""

import atexit
import os
import tempfile

NUMBERS, FEW_NUMBERS, BATCH, SHUFFLE = 200_000, 20_000, 1024, 10_000
ROWS, ROW, ROW_BATCH = 60_000, 784, 128
RECORDS, RECORD_BYTES = 20_000, 784
CSV_ROWS, CSV_COLUMNS, CSV_BATCH = 100_000, 10, 256
LINES = 20_000
PASSED = 190_000 // ROW_BATCH * ROW_BATCH


def temporary(write):
    """The path of a file that write(path) has written; it is removed at exit."""
    handle, path = tempfile.mkstemp()
    os.close(handle)
    atexit.register(os.remove, path)
    write(path)
    return path


def line(i):
    return f"{i} the quick brown fox jumps over the lazy dog and runs through the wide green fields of wheat"


def field(i):
    return f"{i * 7919 % 2000 - 1000}.{100000 + i * 104729 % 900000}"


def csv_file():
    def write(path):
        with open(path, "w") as out:
            for i in range(CSV_ROWS):
                out.write(",".join(field(i * CSV_COLUMNS + c) for c in range(CSV_COLUMNS)) + "\n")

    return temporary(write)


def text_file():
    def write(path):
        with open(path, "w") as out:
            out.writelines(line(i) + "\n" for i in range(LINES))

    return temporary(write)
