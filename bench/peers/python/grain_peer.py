"""The data scenario with Grain: a MapDataset that the consumer's thread reads, or as many threads as the driver allows
(@threads), which is slower where an element costs little."""

import grain
import numpy as np
from grain import experimental

import pictures
import worker
from data import BATCH, FEW_NUMBERS, NUMBERS, PASSED, ROW, ROW_BATCH, ROWS, record_file

_options = worker.options()
worker.stay_on(_options.threads)
_SERIAL, _THREADS = grain.ReadOptions(num_threads=0), grain.ReadOptions(num_threads=_options.threads)


def _case(name, make, number, total=lambda numbers: [sum(numbers)], read=_SERIAL):
    def work():
        dataset = make()
        if isinstance(dataset, grain.MapDataset):
            dataset = dataset.to_iter_dataset(read)

        def run():
            for _ in dataset:
                pass

        return worker.Work(run, lambda: total([float(number(element)) for element in dataset]))

    worker.case(name)(work)


def _sum(x):
    return np.sum(x, dtype=np.float64)


def _rows():
    images, labels = worker.normal([ROWS, ROW], 1), np.arange(ROWS)
    source = grain.MapDataset.range(ROWS).map(lambda i: (images[i], labels[i]))
    return source.seed(1).shuffle().batch(ROW_BATCH)


def _first(read):
    rows = _rows().to_iter_dataset(read)
    return worker.Work(lambda: next(iter(rows)), lambda: [])


def _pictures():
    return grain.MapDataset.source(pictures.files()).map(pictures.decoded)


_case("data/range_batch_200k", lambda: grain.MapDataset.range(NUMBERS).batch(BATCH), _sum)
_case("data/map_20k_scalars", lambda: grain.MapDataset.range(FEW_NUMBERS).map(lambda x: x * 2), _sum)
_case("data/map_200k_scalars_batched", lambda: grain.MapDataset.range(NUMBERS).batch(BATCH).map(lambda x: x * 2), _sum)
_case("data/shuffle_10k_of_200k_batched", lambda: grain.MapDataset.range(NUMBERS).seed(1).shuffle().batch(BATCH), _sum)
# Its reader does not look at checksums. There is no reader of CSV files.
_case("data/tfrecord_20k", lambda: experimental.TFRecordIterDataset(record_file()), len)
for _name, _read in ("", _SERIAL), ("@threads", _THREADS):
    _case("data/shuffle_batch_60k_rows_of_784" + _name, _rows, lambda batch: _sum(batch[1]), read=_read)
    _case("data_pictures/16_jpegs_to_224" + _name, _pictures, pictures.mean, list, _read)
    worker.case("data_start/first_batch_of_60k_rows" + _name)(lambda read=_read: _first(read))


@worker.case("data_resume/at_190k_of_200k")
def _resume():
    batches = grain.MapDataset.range(NUMBERS).seed(1).shuffle().batch(ROW_BATCH).to_iter_dataset(_SERIAL)
    state = iter(batches).get_state()
    state["next_index"] = PASSED // ROW_BATCH

    def run():
        iterator = iter(batches)
        iterator.set_state(state)
        next(iterator)

    return worker.Work(run, lambda: [])


worker.serve()
