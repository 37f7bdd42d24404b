"""The files of the data scenario, as bench/data/work.hpp has them, and its sizes."""

import atexit
import os
import struct
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


def _varint(n):
    more = []
    while n > 127:
        more.append(n & 127 | 128)
        n >>= 7
    return bytes([*more, n])


def _field(number, content):
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _example(i):
    """The bytes of a tf.train.Example: image, and label i."""
    image = _field(1, _field(1, bytes([ord("a") + i % 26]) * RECORD_BYTES))
    label = _field(3, _field(1, _varint(i)))
    features = ((b"image", image), (b"label", label))
    return _field(1, b"".join(_field(1, _field(1, name) + _field(2, value)) for name, value in features))


def record_file():
    """A TFRecord file without checksums, for readers that do not look at them."""

    def write(path):
        with open(path, "wb") as out:
            for record in map(_example, range(RECORDS)):
                out.write(struct.pack("<QI", len(record), 0) + record + bytes(4))

    return temporary(write)


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
