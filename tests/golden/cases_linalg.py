"""Contractions and norms. The number of an equation or an order in the lists of linalg_test.cpp is parameter p0."""

import numpy as np
import torch

EQUATIONS = [
    ("ij,jk->ik", (3, 4), (4, 5)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("ii->", (4, 4)), ("ii->i", (4, 4)),
    ("i,j->ij", (3,), (4,)), ("ij->ji", (3, 4)), ("ij->j", (3, 4)), ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    ("abc,cd,be->ade", (2, 3, 4), (4, 5), (3, 2)), ("ij,ij->", (3, 4), (3, 4)), ("bhmd,bhnd->bhmn", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("ij,jk", (3, 4), (4, 2)), ("iji->j", (3, 4, 3)), ("b...d,de->b...e", (2, 3, 4, 5), (5, 2)),
]
NORMS = [2, 1, np.inf, 3, 0.5]


def make(f):
    for number, (equation, *shapes) in enumerate(EQUATIONS):
        f.add("einsum", [f.normal(*s) for s in shapes], lambda *x: torch.einsum(equation, *x), p=[number])
    for axes in (0, 1, 2):
        f.add("tensordot", [f.normal(2, 3, 4), f.normal(*(2, 3, 4)[3 - axes:], 5)],
              lambda a, b: torch.tensordot(a, b, dims=axes), p=[axes])
    f.add("kron", [f.normal(2, 3), f.normal(4, 2)], torch.kron)
    f.add("cross", [f.normal(5, 3), f.normal(5, 3)], lambda a, b: torch.linalg.cross(a, b))
    for n in (0, 1, 2, 5):
        f.add("matrix_power", [f.normal(2, 3, 3) + 3 * np.eye(3)], lambda a: torch.linalg.matrix_power(a, n), p=[n])
    for lower, upper in ((-1, 0), (0, -1), (1, 1), (2, 0)):
        f.add("band_part", [f.normal(2, 4, 5)],
              lambda x: x * torch.tensor([[float((lower < 0 or i - j <= lower) and (upper < 0 or j - i <= upper))
                                           for j in range(5)] for i in range(4)], dtype=torch.float64), p=[lower, upper])
    for number, order in enumerate(NORMS):
        for axis in (0, 1):
            f.add("norm", [f.normal(4, 5)], lambda x: torch.linalg.vector_norm(x, order, axis), p=[number, axis])
    f.add("matrix_norm", [f.normal(2, 4, 5)], lambda x: torch.linalg.matrix_norm(x, "fro"), p=[0])
    f.add("matrix_norm", [f.normal(2, 4, 5)], lambda x: torch.linalg.matrix_norm(x, 1), p=[1])
    f.add("matrix_norm", [f.normal(2, 4, 5)], lambda x: torch.linalg.matrix_norm(x, np.inf), p=[2])
    f.add("trace", [f.normal(2, 4, 5)], lambda x: torch.diagonal(x, dim1=-2, dim2=-1).sum(-1))
    f.add("matvec", [f.normal(2, 4, 5), f.normal(2, 5)], lambda a, v: (a @ v[..., None])[..., 0])
