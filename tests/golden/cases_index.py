"""Segments, scatters, searches, blocks and lengths."""

import numpy as np
import torch

REDUCE = {"sum": "sum", "mean": "mean", "prod": "prod", "max": "amax", "min": "amin"}


def scattered(x, index, updates, how):
    rows = index[:, 0].reshape(-1, *[1] * (x.dim() - 1)).expand(updates.shape)
    return x.scatter_reduce(0, rows, updates, how)


def segmented(x, ids, count, how):
    """Reduces the rows of x by their ids; missing ids give 0 (products 1)."""
    rows = []
    for k in range(count):
        of_k = x[ids == k]
        if of_k.shape[0]:
            rows.append({"sum": lambda: of_k.sum(0), "mean": lambda: of_k.mean(0), "prod": lambda: of_k.prod(0),
                         "max": lambda: of_k.amax(0), "min": lambda: of_k.amin(0),
                         "sqrt_n": lambda: of_k.sum(0) / np.sqrt(of_k.shape[0])}[how]())
        else:
            rows.append(torch.full(x.shape[1:], 1.0 if how == "prod" else 0.0, dtype=x.dtype))
    return torch.stack(rows)


def make(f):
    for shape in ((7,), (7, 3), (7, 2, 2)):
        ids = np.array([0, 0, 1, 3, 3, 3, 4])
        for how in ("sum", "mean", "prod", "max", "min"):
            f.add("segment_" + how, [f.normal(*shape), ids], lambda x, i: segmented(x, i, 5, how))
        mixed = np.array([3, 0, 2, 0, 1, 3, 2])
        for how in ("sum", "mean", "prod", "max", "min", "sqrt_n"):
            f.add("unsorted_segment_" + how, [f.normal(*shape), mixed], lambda x, i: segmented(x, i, 4, how), p=[4])
    index = np.array([[4], [0], [3]])
    for shape in ((5,), (5, 3)):
        x, u = f.normal(*shape), f.normal(3, *shape[1:])
        f.add("tensor_scatter_nd_update", [x, index, u], lambda x, i, u: x.index_put((i[:, 0],), u))
        f.add("tensor_scatter_nd_add", [x, np.array([[4], [0], [4]]), u],
              lambda x, i, u: x.index_put((i[:, 0],), u, accumulate=True))
        f.add("tensor_scatter_nd_sub", [x, np.array([[4], [0], [4]]), u],
              lambda x, i, u: x.index_put((i[:, 0],), -u, accumulate=True))
        f.add("tensor_scatter_nd_max", [x, index, u], lambda x, i, u: scattered(x, i, u, "amax"))
        f.add("tensor_scatter_nd_min", [x, index, u], lambda x, i, u: scattered(x, i, u, "amin"))
    ramp = np.sort(f.normal(2, 6))
    for right in (0, 1):
        f.add("searchsorted", [ramp, f.normal(2, 4)], lambda s, v: torch.searchsorted(s, v, right=bool(right)), p=[right])
    f.add("bincount", [f.integers(0, 6, 20), f.normal(20)],
          lambda i, w: torch.zeros(8, dtype=torch.float64).index_add(0, i, w), p=[8])
    f.add("repeat", [f.normal(3, 4), np.array([2, 0, 1])], lambda x, r: torch.repeat_interleave(x, r, 0), p=[0])
    f.add("repeat", [f.normal(3, 4), np.array([1, 0, 3, 2])], lambda x, r: torch.repeat_interleave(x, r, 1), p=[1])
    f.add("boolean_mask", [f.normal(5, 3), f.integers(0, 2, 5)], lambda x, m: x[m > 0])
    f.add("cumulative_logsumexp", [10 * f.normal(4, 6)], lambda x: torch.logcumsumexp(x, 1), p=[1])
    f.add("reverse_sequence", [f.normal(3, 5, 2), np.array([2, 5, 0])],
          lambda x, n: torch.stack([torch.cat((torch.flip(row[:k], (0,)), row[k:])) for row, k in zip(x, n)]))
    f.add("space_to_depth", [f.normal(2, 4, 6, 3)],
          lambda x: x.reshape(2, 2, 2, 3, 2, 3).permute(0, 1, 3, 2, 4, 5).reshape(2, 2, 3, 12), p=[2])
    f.add("depth_to_space", [f.normal(2, 2, 3, 12)],
          lambda x: x.reshape(2, 2, 3, 2, 2, 3).permute(0, 1, 3, 2, 4, 5).reshape(2, 4, 6, 3), p=[2])
    f.add("clip_by_value", [3 * f.normal(4, 5)], lambda x: torch.clamp(x, -1, 1.5), q=[-1, 1.5])
    a, b = f.integers(-20, 20, 30), f.integers(1, 7, 30) * np.where(f.integers(0, 2, 30), 1, -1)
    f.add("floordiv_int", [a, b], np.floor_divide, gradient=False)
    f.add("floormod_int", [a, b], np.mod, gradient=False)
    f.add("truncatediv_int", [a, b], lambda x, y: np.trunc(x / y).astype(np.int64), gradient=False)
    f.add("truncatemod_int", [a, b], lambda x, y: np.fmod(x, y), gradient=False)
