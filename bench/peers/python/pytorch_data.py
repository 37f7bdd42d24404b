"""The data scenario with PyTorch's DataLoader: without worker processes, and with as many as there are threads
(@workers). Imported by pytorch_peer.py."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

import worker
from data import BATCH, NUMBERS, ROW, ROW_BATCH, ROWS


class _Twice(Dataset):
    """x * 2 of single numbers."""

    def __init__(self):
        self.x = torch.arange(NUMBERS)

    def __len__(self):
        return NUMBERS

    def __getitem__(self, i):
        return self.x[i] * 2


def _pass(loader, number):
    def run():
        for _ in loader:
            pass

    return worker.Work(run, lambda: [sum(float(number(element)) for element in loader)])


def add_cases(threads):
    sum_of = lambda x: np.sum(x.numpy(), dtype=np.float64)

    def case(name, dataset, number, **options):
        worker.case("data/" + name)(lambda: _pass(DataLoader(dataset(), **options), number))
        worker.case("data/" + name + "@workers")(
            lambda: _pass(DataLoader(dataset(), num_workers=threads, persistent_workers=True, **options), number))

    numbers = lambda: TensorDataset(torch.arange(NUMBERS))
    case("range_batch_200k", numbers, lambda batch: sum_of(batch[0]), batch_size=BATCH)
    case("map_200k_scalars_batched", _Twice, sum_of, batch_size=BATCH)
    rows = lambda: TensorDataset(torch.from_numpy(worker.normal([ROWS, ROW], 1)), torch.arange(ROWS))
    case("shuffle_batch_60k_rows_of_784", rows, lambda batch: sum_of(batch[1]), batch_size=ROW_BATCH, shuffle=True)
