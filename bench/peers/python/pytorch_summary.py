"""The summary scenario with torch.utils.tensorboard. Imported by pytorch_peer.py."""

import os

from torch.utils.tensorboard import SummaryWriter

import summary


class _Writer:
    def __init__(self, folder):
        self.folder = folder
        self.writer = SummaryWriter(folder)
        self.flush = self.writer.flush

    def path(self):
        return os.path.join(self.folder, os.listdir(self.folder)[0])

    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass

    def scalar(self, value, step):
        self.writer.add_scalar("loss", value, step)

    def histogram(self, values, step):
        self.writer.add_histogram("x", values, step, bins=30)


def add_cases():
    summary.add_cases(_Writer)
