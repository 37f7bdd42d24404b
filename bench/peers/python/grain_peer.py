"""The data scenario with Grain: a MapDataset that as many threads read as the driver allows."""

import grain
import numpy as np

import pictures
import worker
from data import BATCH, NUMBERS, PASSED, ROW, ROW_BATCH, ROWS

_options = worker.options()
worker.stay_on(_options.threads)
_READ = grain.ReadOptions(num_threads=_options.threads if _options.threads > 1 else 0)


def _case(name, make, number, scenario="data/"):
    def work():
        dataset = make().to_iter_dataset(_READ)

        def run():
            for _ in dataset:
                pass

        return worker.Work(run, lambda: [sum(float(number(element)) for element in dataset)])

    worker.case(scenario + name)(work)


def _sum(x):
    return np.sum(x, dtype=np.float64)


def _rows():
    images, labels = worker.normal([ROWS, ROW], 1), np.arange(ROWS)
    source = grain.MapDataset.range(ROWS).map(lambda i: (images[i], labels[i]))
    return source.seed(1).shuffle().batch(ROW_BATCH)


_case("range_batch_200k", lambda: grain.MapDataset.range(NUMBERS).batch(BATCH), _sum)
_case("map_200k_scalars", lambda: grain.MapDataset.range(NUMBERS).map(lambda x: x * 2), _sum)
_case("map_200k_scalars_batched", lambda: grain.MapDataset.range(NUMBERS).batch(BATCH).map(lambda x: x * 2), _sum)
_case("shuffle_10k_of_200k", lambda: grain.MapDataset.range(NUMBERS).seed(1).shuffle(), _sum)
_case("shuffle_batch_60k_rows_of_784", _rows, lambda batch: _sum(batch[1]))


@worker.case("data_start/first_batch_of_60k_rows")
def _first():
    rows = _rows().to_iter_dataset(_READ)
    return worker.Work(lambda: next(iter(rows)), lambda: [])


@worker.case("data_resume/at_190k_of_200k")
def _resume():
    batches = grain.MapDataset.range(NUMBERS).seed(1).shuffle().batch(ROW_BATCH).to_iter_dataset(_READ)
    state = iter(batches).get_state()
    state["next_index"] = PASSED // ROW_BATCH

    def run():
        iterator = iter(batches)
        iterator.set_state(state)
        next(iterator)

    return worker.Work(run, lambda: [])


@worker.case("data_pictures/16_jpegs_to_224")
def _pictures():
    small = grain.MapDataset.source(pictures.files()).map(pictures.decoded).to_iter_dataset(_READ)

    def run():
        for _ in small:
            pass

    return worker.Work(run, lambda: [pictures.mean(pixels) for pixels in small])


worker.serve()
