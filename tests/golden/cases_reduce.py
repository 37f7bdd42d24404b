"""Reductions, scans, sorting and searching."""

import numpy as np
import torch

AXES = [((3, 4, 5), (0,), 0), ((3, 4, 5), (1,), 1), ((3, 4, 5), (0, 2), 0), ((3, 4, 5), (), 0), ((6,), (0,), 1),
        ((2, 3, 4, 5), (1, 3), 1), ((33, 17), (1,), 0), ((33, 17), (0,), 0)]


def reduced(f, name, function, low=-2.0, high=2.0):
    """function(x, axes, keepdims); no axes: all of them."""
    for shape, axes, keep in AXES:
        over = axes or tuple(range(len(shape)))
        f.add(name, [f.uniform(low, high, *shape)], lambda x: function(x, over, bool(keep)), p=[keep, *axes])


def prod(x, axes, keep):
    for axis in sorted(axes, reverse=True):
        x = torch.prod(x, axis, keepdim=keep)
    return x


def make(f):
    reduced(f, "reduce_sum", lambda x, a, k: torch.sum(x, a, keepdim=k))
    reduced(f, "reduce_mean", lambda x, a, k: torch.mean(x, a, keepdim=k))
    reduced(f, "reduce_prod", prod, 0.5, 1.5)
    reduced(f, "reduce_max", lambda x, a, k: torch.amax(x, a, keepdim=k))
    reduced(f, "reduce_min", lambda x, a, k: torch.amin(x, a, keepdim=k))
    reduced(f, "reduce_logsumexp", lambda x, a, k: torch.logsumexp(x, a, keepdim=k), -30, 30)
    reduced(f, "reduce_variance", lambda x, a, k: torch.var(x, a, correction=0, keepdim=k))
    reduced(f, "reduce_std", lambda x, a, k: torch.std(x, a, correction=0, keepdim=k))
    reduced(f, "reduce_euclidean_norm", lambda x, a, k: torch.linalg.vector_norm(x, 2, a, keepdim=k))
    f.add("reduce_prod", [np.array([[0.0, 2, 3], [0, 0, 5], [1, 2, 3]])], lambda x: torch.prod(x, 1), p=[0, 1])
    for shape, axis in (((7,), 0), ((3, 5), 1), ((3, 5), 0), ((2, 3, 4), 1)):
        f.add("argmax", [f.normal(*shape)], lambda x: torch.argmax(x, axis), p=[axis])
        f.add("argmin", [f.normal(*shape)], lambda x: torch.argmin(x, axis), p=[axis])
        f.add("cumsum", [f.normal(*shape)], lambda x: torch.cumsum(x, axis), p=[axis])
        f.add("cumprod", [f.normal(*shape)], lambda x: torch.cumprod(x, axis), p=[axis])
        f.add("sort", [f.normal(*shape)], lambda x: torch.sort(x, axis).values, p=[axis, 0])
        f.add("sort", [f.normal(*shape)], lambda x: torch.sort(x, axis, descending=True).values, p=[axis, 1])
        f.add("argsort", [f.integers(0, 4, *shape)], lambda x: torch.argsort(x, dim=axis, stable=True), p=[axis])
    for k in (0, 1, 3, 9):
        f.add("top_k", [f.normal(4, 9)], lambda x: tuple(torch.topk(x, k)), p=[k])
    for axis in (-1, 0, 1):
        f.add("softmax", [f.normal(4, 6, 3)], lambda x: torch.softmax(x, axis), p=[axis])
        f.add("log_softmax", [10 * f.normal(4, 6, 3)], lambda x: torch.log_softmax(x, axis), p=[axis])
