"""Trains a small network on the digits 0 to 4 with PyTorch, and writes its weights: what fine_tune begins with.

Usage: pretrain.py FOLDER FILE. FOLDER has MNIST's files. fine_tune/weights.hpp has the file that this has written.
"""

import gzip
import sys

import numpy
import torch
from safetensors.torch import save_file
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.out = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1), nn.Linear(144, 5)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = nn.functional.max_pool2d(torch.relu(self.conv2(x)), 4)
        return self.out(x.flatten(1))


def read(name, offset):
    with gzip.open(f"{sys.argv[1]}/{name}.gz") as f:
        return numpy.frombuffer(f.read(), numpy.uint8, offset=offset)


def digits(prefix):
    images, labels = read(f"{prefix}-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28), read(f"{prefix}-labels-idx1-ubyte", 8)
    chosen = labels < 5
    return torch.tensor(images[chosen] / 255, dtype=torch.float32), torch.tensor(labels[chosen], dtype=torch.int64)


torch.set_num_threads(1)
torch.manual_seed(1)
x, y = digits("train")
net = Net()
adam = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(10):
    for rows in torch.randperm(len(x)).split(50):
        adam.zero_grad()
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        adam.step()
    print(f"epoch {epoch + 1}: {loss.item():.4f}")
x, y = digits("t10k")
print(f"{100 * (net(x).argmax(1) == y).float().mean().item():.1f} % of {len(x)} held-out digits right")
save_file({name: value.contiguous() for name, value in net.state_dict().items()}, sys.argv[2])
