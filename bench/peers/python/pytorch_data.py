"""The data scenario with PyTorch's DataLoader: without worker processes, and with as many as there are threads
(@workers). Imported by pytorch_peer.py."""

import itertools

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

import pictures
import worker
from data import BATCH, NUMBERS, PASSED, ROW, ROW_BATCH, ROWS


class _Twice(Dataset):
    """x * 2 of single numbers."""

    def __init__(self):
        self.x = torch.arange(NUMBERS)

    def __len__(self):
        return NUMBERS

    def __getitem__(self, i):
        return self.x[i] * 2


class _Pictures(Dataset):
    def __init__(self):
        self.files = pictures.files()

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return torch.from_numpy(pictures.decoded(self.files[i]))


def _pass(loader, number, total=lambda numbers: [sum(numbers)]):
    def run():
        for _ in loader:
            pass

    return worker.Work(run, lambda: total([float(number(element)) for element in loader]))


def _begun(loader, batches):
    """The first element behind so many batches: a DataLoader makes and drops those."""
    return worker.Work(lambda: next(itertools.islice(loader, batches, None)), lambda: [])


def add_cases(threads):
    sum_of = lambda x: np.sum(x.numpy(), dtype=np.float64)

    def both(name, work, dataset, **options):
        worker.case(name)(lambda: work(DataLoader(dataset(), **options)))
        worker.case(name + "@workers")(
            lambda: work(DataLoader(dataset(), num_workers=threads, persistent_workers=True, **options)))

    def case(name, dataset, number, **options):
        both("data/" + name, lambda loader: _pass(loader, number), dataset, **options)

    numbers = lambda: TensorDataset(torch.arange(NUMBERS))
    case("range_batch_200k", numbers, lambda batch: sum_of(batch[0]), batch_size=BATCH)
    case("map_200k_scalars_batched", _Twice, sum_of, batch_size=BATCH)
    rows = lambda: TensorDataset(torch.from_numpy(worker.normal([ROWS, ROW], 1)), torch.arange(ROWS))
    case("shuffle_batch_60k_rows_of_784", rows, lambda batch: sum_of(batch[1]), batch_size=ROW_BATCH, shuffle=True)
    both("data_start/first_batch_of_60k_rows", lambda loader: _begun(loader, 0), rows, batch_size=ROW_BATCH, shuffle=True)
    both("data_resume/at_190k_of_200k", lambda loader: _begun(loader, PASSED // ROW_BATCH), numbers, batch_size=ROW_BATCH,
         shuffle=True)
    both("data_pictures/16_jpegs_to_224", lambda loader: _pass(loader, lambda x: pictures.mean(x.numpy()), list), _Pictures, batch_size=None)
