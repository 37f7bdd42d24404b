"""Layout and indexing."""

import numpy as np
import torch


def make(f):
    for perm in ((1, 0), (2, 0, 1), (0, 2, 1), (3, 1, 0, 2)):
        shape = (3, 4, 2, 5)[:len(perm)]
        f.add("transpose", [f.normal(*shape)], lambda x: x.permute(perm), p=perm)
    for axis in (0, 1, -1):
        f.add("concat", [f.normal(2, 3, 2), f.normal(2, 3, 2), f.normal(2, 3, 2)], lambda *x: torch.cat(x, axis), p=[axis])
        f.add("stack", [f.normal(2, 3), f.normal(2, 3)], lambda *x: torch.stack(x, axis), p=[axis])
        f.add("gather", [f.normal(5, 6, 4), f.integers(0, 4, 2, 3)],
              lambda x, i: torch.index_select(x, axis, i.flatten()).reshape(
                  [*x.shape[:axis % 3], 2, 3, *x.shape[axis % 3 + 1:]]), p=[axis])
        f.add("reverse", [f.normal(3, 4, 2)], lambda x: torch.flip(x, (axis,)), p=[axis])
        f.add("roll", [f.normal(3, 4, 2)], lambda x: torch.roll(x, -5, axis), p=[-5, axis])
        f.add("take_along_axis", [f.normal(4, 4, 4), f.integers(0, 4, 4, 4, 4)],
              lambda x, i: torch.take_along_dim(x, i, axis), p=[axis])
    for multiples in ((2, 1, 3), (1, 1, 1), (0, 2, 1)):
        f.add("tile", [f.normal(2, 3, 2)], lambda x: torch.tile(x, multiples), p=multiples)
    for before, after in (((0, 1), (2, 0)), ((1, 1), (1, 2))):
        f.add("pad", [f.normal(4, 5)],
              lambda x: torch.nn.functional.pad(x, (before[1], after[1], before[0], after[0])),
              p=[before[0], after[0], before[1], after[1]])
    f.add("where", [f.integers(0, 2, 3, 4), f.normal(3, 4), f.normal(4)], lambda c, a, b: torch.where(c > 0, a, b))
    f.add("gather_nd", [f.normal(4, 5, 3), f.integers(0, 4, 6, 2)], lambda x, i: x[i[:, 0], i[:, 1]])
    f.add("scatter_nd", [f.integers(0, 5, 7, 1), f.normal(7, 2)],
          lambda i, u: torch.zeros(5, 2, dtype=torch.float64).index_add(0, i[:, 0], u), p=[5, 2])
