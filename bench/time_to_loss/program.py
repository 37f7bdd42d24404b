"""Trains one model with Tandem and with PyTorch from the same weights, on the same batches in the same order, with the
same optimizer, and compares the steps and the seconds that each needs to reach a loss.

python bench/time_to_loss/program.py PROGRAM [--model mlp|cnn] [--data DIR] [--threads 1,2] [--steps 600] [--loss 0.1]
                                     [--rounds 5] [--compile]

PROGRAM is time_to_loss of the build folder. DIR has MNIST's four files; without it the digits are blurred prototypes
with noise. The models: dense layers of 256, 256 and 10; two convolutions of 5 x 5 x 32 and 64 with maximum pooling, and
dense layers of 1024 and 10. Batches of 100, Adam, learning rate 1e-3, an epsilon of 1e-12, which the two add in
different places. The loss is reached when its mean over 20 steps
is below the bound. Time runs from the first step, so that it includes tracing and compilation; it is the median of the
rounds, which alternate between the two. PyTorch's pictures are in the channels-last format; --compile uses
torch.compile. Needs PyTorch and NumPy.
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy
import torch
from torch import nn
from torch.nn import functional

BATCH, WINDOW, RATE, EPSILON = 100, 20, 1e-3, 1e-12
SHAPES = {
    "mlp": [(784, 256), (256, 256), (256, 10)],
    "cnn": [(5, 5, 1, 32), (5, 5, 32, 64), (7 * 7 * 64, 1024), (1024, 10)],
}


def read_idx(path):
    path = path if path.exists() else path.with_name(path.name + ".gz")
    data = (gzip.open if path.suffix == ".gz" else open)(path, "rb").read()
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * len(shape)).reshape(shape).copy()


def load(folder):
    """Images uint8 [n, 28, 28] and labels int64 [n]."""
    if folder:
        images, labels = (read_idx(pathlib.Path(folder) / name)
                          for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"))
        return images, labels.astype(numpy.int64)
    random = numpy.random.default_rng(1)
    prototypes = numpy.kron(random.uniform(0, 255, (10, 7, 7)), numpy.ones((4, 4)))
    labels = random.integers(0, 10, 8500)
    noise = random.normal(0, 250, (len(labels), 28, 28))
    return numpy.clip(prototypes[labels] + noise, 0, 255).astype(numpy.uint8), labels


def inputs_of(arguments):
    images, labels = load(arguments.data)
    random = numpy.random.default_rng(2)
    epochs = -(-arguments.steps * BATCH // (len(labels) // BATCH * BATCH))
    rows = [random.permutation(len(labels))[:len(labels) // BATCH * BATCH] for _ in range(epochs)]
    order = numpy.concatenate(rows)[:arguments.steps * BATCH].reshape(arguments.steps, BATCH).astype(numpy.int32)
    given = {"images": images, "labels": labels, "order": order, "learning_rate": numpy.float32(RATE),
             "epsilon": numpy.float64(EPSILON)}
    for i, shape in enumerate(SHAPES[arguments.model]):
        bound = (6 / (numpy.prod(shape[:-2]) * (shape[-2] + shape[-1]))) ** 0.5  # Glorot and Bengio 2010
        given[f"weight_{i}"] = random.uniform(-bound, bound, shape).astype(numpy.float32)
    return given


class Network(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.convolutions, self.dense = nn.ModuleList(), nn.ModuleList()
        for w in map(torch.from_numpy, weights):
            if w.ndim == 4:
                layer = nn.Conv2d(w.shape[2], w.shape[3], 5, padding=2)
                layer.weight = nn.Parameter(w.permute(3, 2, 0, 1).clone(memory_format=torch.channels_last))
                self.convolutions.append(layer)
            else:
                layer = nn.Linear(*w.shape)
                layer.weight = nn.Parameter(w.t().clone())
                self.dense.append(layer)
            nn.init.zeros_(layer.bias)

    def forward(self, images):
        x = images.float() / 255
        if self.convolutions:
            x = x.unsqueeze(1).contiguous(memory_format=torch.channels_last)
        for layer in self.convolutions:
            x = functional.max_pool2d(functional.relu(layer(x)), 2)
        x = (x.permute(0, 2, 3, 1) if self.convolutions else x).flatten(1)
        for layer in self.dense[:-1]:
            x = functional.relu(layer(x))
        return self.dense[-1](x)


def train_pytorch(given, threads, compiled):
    """The losses and the seconds since the start, by step."""
    torch.set_num_threads(threads)
    torch._dynamo.reset()
    images, labels, order = (torch.from_numpy(given[name]) for name in ("images", "labels", "order"))
    model = Network([given[f"weight_{i}"] for i in range(sum(name.startswith("weight_") for name in given))])
    adam = torch.optim.Adam(model.parameters(), lr=RATE, eps=EPSILON)
    wrap = torch.compile if compiled else lambda f: f
    forward = wrap(lambda rows: functional.cross_entropy(model(images[rows]), labels[rows]))
    update = wrap(lambda: adam.step())
    losses, seconds, begin = [], [], time.perf_counter()
    for rows in order:
        adam.zero_grad()
        loss = forward(rows)
        loss.backward()
        update()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - begin)
    return numpy.array(losses), numpy.array(seconds)


def train_ours(program, model, given, threads):
    with tempfile.TemporaryDirectory() as folder:
        numpy.savez(folder + "/inputs.npz", **given)
        subprocess.run([program, model, str(threads), folder + "/inputs.npz", folder + "/outputs.npz"], check=True)
        with numpy.load(folder + "/outputs.npz") as outputs:
            return outputs["losses"], outputs["seconds"]


def smooth(losses):
    """The mean of the last WINDOW losses, from step WINDOW on."""
    return numpy.convolve(losses, numpy.ones(WINDOW) / WINDOW, "valid")


def reached(losses, bound):
    """The number of steps after which the loss is reached; None if it is not."""
    below = numpy.flatnonzero(smooth(losses) < bound)
    return int(below[0]) + WINDOW if len(below) else None


def compare(arguments, given, threads):
    ours, peer = [], []
    for i in range(arguments.rounds):
        runs = [(ours, lambda: train_ours(arguments.program, arguments.model, given, threads)),
                (peer, lambda: train_pytorch(given, threads, arguments.compile))]
        for times, run in runs[::-1] if i % 2 else runs:
            times.append(run())
    summary = {"model": arguments.model, "threads": threads, "loss": arguments.loss}
    at = []
    for name, runs in ("tandem", ours), ("pytorch " + torch.__version__, peer):
        steps = reached(runs[0][0], arguments.loss)
        if steps is None:
            raise SystemExit(f"{name} does not reach the loss: {smooth(runs[0][0])[-1]:.4f}; try more --steps")
        at.append([seconds[steps - 1] for _, seconds in runs])
        summary[name] = {"steps": steps, "seconds": round(statistics.median(at[-1]), 3)}
    ratios = numpy.percentile(numpy.array(at[1]) / numpy.array(at[0]), [25, 50, 75])
    summary["ratio"] = [round(float(r), 2) for r in ratios]
    a, b = ours[0][0], peer[0][0]
    summary["largest difference of the loss"] = {
        "first 10 steps": float(f"{abs(a - b)[:10].max():.2g}"),
        "smoothed": float(f"{abs(smooth(a) - smooth(b)).max():.2g}")}
    print(json.dumps(summary), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--model", choices=list(SHAPES), default="mlp")
    parser.add_argument("--data")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--loss", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    given = inputs_of(arguments)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)  # both sides: what else runs would disturb two threads most
    except PermissionError:
        pass
    for threads in map(int, arguments.threads.split(",")):
        compare(arguments, given, threads)


if __name__ == "__main__":
    main()
