"""Decompositions and solvers. Of results that are free up to signs only what is not is compared."""

import numpy as np
import scipy.linalg
import torch


def well(f, *shape):
    """Well conditioned square matrices."""
    return f.normal(*shape) + 4 * np.eye(shape[-1])


def definite(f, *shape):
    a = f.normal(*shape)
    return a @ np.swapaxes(a, -1, -2) + 2 * np.eye(shape[-1])


def qr(a):
    q, r = torch.linalg.qr(a)
    s = torch.sign(torch.diagonal(r, dim1=-2, dim2=-1)).detach()
    return q * s[..., None, :], r * s[..., :, None]


def make(f):
    for batch in ((), (2,)):
        f.add("inv", [well(f, *batch, 4, 4)], torch.linalg.inv)
        f.add("solve", [well(f, *batch, 4, 4), f.normal(*batch, 4, 2)], torch.linalg.solve)
        f.add("det", [f.normal(*batch, 4, 4)], torch.linalg.det)
        f.add("slogdet", [well(f, *batch, 4, 4)], lambda a: torch.linalg.slogdet(a).logabsdet)
        f.add("logdet", [definite(f, *batch, 4, 4)], torch.logdet)
        f.add("cholesky", [definite(f, *batch, 4, 4)],
              lambda a: torch.linalg.cholesky(0.5 * (a + a.transpose(-1, -2))))
        f.add("triangular_solve", [well(f, *batch, 4, 4), f.normal(*batch, 4, 2)],
              lambda a, b: torch.linalg.solve_triangular(torch.tril(a), b, upper=False))
        f.add("qr", [f.normal(*batch, 5, 3)], qr)
        f.add("svd", [f.normal(*batch, 5, 3)], torch.linalg.svdvals)
        f.add("eigvalsh", [definite(f, *batch, 4, 4)],
              lambda a: torch.linalg.eigvalsh(0.5 * (a + a.transpose(-1, -2))))
        f.add("pinv", [f.normal(*batch, 5, 3)], torch.linalg.pinv)
        f.add("lstsq", [f.normal(*batch, 6, 3), f.normal(*batch, 6, 2)], lambda a, b: torch.linalg.pinv(a) @ b)
    f.add("expm", [f.normal(3, 3)], scipy.linalg.expm, gradient=False)
    f.add("expm", [4 * f.normal(4, 4)], scipy.linalg.expm, gradient=False)
    f.add("cholesky_solve", [np.linalg.cholesky(definite(f, 4, 4)), f.normal(4, 2)],
          lambda c, b: torch.cholesky_solve(b, torch.tril(c)))
