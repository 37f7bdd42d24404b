"""The data scenario in tf.data. Imported by tensorflow_peer.py."""

import numpy as np
import tensorflow as tf

import pictures
import worker
from data import (BATCH, CSV_BATCH, CSV_COLUMNS, FEW_NUMBERS, NUMBERS, PASSED, RECORD_BYTES, RECORDS, ROW, ROW_BATCH, ROWS,
                  SHUFFLE, csv_file, temporary, text_file)


def _pass(dataset, number, total=lambda numbers: [sum(numbers)]):
    """A pass over a data set; the sum of number(element) is compared."""

    def run():
        for _ in dataset:
            pass

    return worker.Work(run, lambda: total([float(number(element)) for element in dataset]))


def _begun(dataset):
    """The first element of an iteration."""
    return worker.Work(lambda: next(iter(dataset)), lambda: [])


def _records():
    def write(path):
        with tf.io.TFRecordWriter(path) as writer:
            for i in range(RECORDS):
                image = tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes([97 + i % 26]) * RECORD_BYTES]))
                label = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
                features = tf.train.Features(feature={"image": image, "label": label})
                writer.write(tf.train.Example(features=features).SerializeToString())

    return tf.data.TFRecordDataset(temporary(write))


_FEATURES = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def add_cases(threads):
    calls = threads if threads > 1 else None
    sum_of = lambda x: np.sum(x.numpy(), dtype=np.float64)
    case = lambda name, dataset, number: worker.case("data/" + name)(lambda: _pass(dataset(), number))
    scalars = lambda n: tf.data.Dataset.from_tensor_slices(np.arange(n))
    case("range_batch_200k", lambda: tf.data.Dataset.range(NUMBERS).batch(BATCH), sum_of)
    case("map_20k_scalars", lambda: scalars(FEW_NUMBERS).map(lambda x: x * 2, num_parallel_calls=calls), sum_of)
    case("map_200k_scalars_batched", lambda: scalars(NUMBERS).batch(BATCH).map(lambda x: x * 2, num_parallel_calls=calls), sum_of)
    case("shuffle_10k_of_200k_batched", lambda: tf.data.Dataset.range(NUMBERS).shuffle(SHUFFLE).batch(BATCH), sum_of)

    def rows():
        images, labels = worker.normal([ROWS, ROW], 1), np.arange(ROWS)
        return tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(ROWS).batch(ROW_BATCH).prefetch(2)

    case("shuffle_batch_60k_rows_of_784", rows, lambda batch: sum_of(batch[1]))
    case("tfrecord_20k", _records, lambda r: len(r.numpy()))
    single = lambda r: tf.io.parse_single_example(r, _FEATURES)["label"]
    case("tfrecord_20k_parse_single", lambda: _records().map(single, num_parallel_calls=calls), sum_of)
    several = lambda r: tf.io.parse_example(r, _FEATURES)["label"]
    case("tfrecord_20k_parse_batched", lambda: _records().batch(128).map(several, num_parallel_calls=calls), sum_of)
    columns = lambda: tf.data.experimental.CsvDataset(csv_file(), [0.0] * CSV_COLUMNS).batch(CSV_BATCH)
    case("csv_100k_rows_of_10_floats", columns, lambda batch: sum_of(batch[3]))
    case("text_20k_lines", lambda: tf.data.TextLineDataset(text_file()), lambda text: len(text.numpy()))
    worker.case("data_start/first_batch_of_60k_rows")(lambda: _begun(rows()))
    order = lambda: tf.data.Dataset.range(NUMBERS).shuffle(NUMBERS).batch(ROW_BATCH)
    worker.case("data_resume/at_190k_of_200k")(lambda: _begun(order().skip(PASSED // ROW_BATCH)))

    def small(file):
        pixels = tf.io.decode_jpeg(file, channels=3, dct_method="INTEGER_ACCURATE")
        return tf.image.resize(pixels, [pictures.SIDE, pictures.SIDE])

    files = lambda: tf.data.Dataset.from_tensor_slices(pictures.files()).map(small, num_parallel_calls=calls)
    mean = lambda pixels: np.mean(pixels.numpy(), dtype=np.float64)
    worker.case("data_pictures/16_jpegs_to_224")(lambda: _pass(files(), mean, list))
