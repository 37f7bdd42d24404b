"""Element-wise ops of complex numbers."""

import numpy as np
import torch


def plane(f, *shape):
    return f.normal(*shape) + 1j * f.normal(*shape)


def make(f):
    for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid", "reciprocal", "square",
                 "abs", "angle", "rsqrt", "expm1", "log1p", "conj", "real", "imag", "negative"):
        g = {"conj": lambda x: torch.conj(x).resolve_conj(), "real": torch.real, "imag": torch.imag}.get(name)
        f.add(name, [plane(f, 40)], g or getattr(torch, name))
    for name, g in (("add", torch.add), ("subtract", torch.subtract), ("multiply", torch.multiply),
                    ("divide", torch.divide), ("pow", torch.pow)):
        f.add(name, [plane(f, 5, 4), plane(f, 4)], g)
    f.add("complex", [f.normal(7), f.normal(7)], torch.complex)
    f.add("matmul", [plane(f, 3, 4), plane(f, 4, 2)], torch.matmul)
    f.add("reduce_sum", [plane(f, 3, 4)], lambda x: x.sum(1))
    f.add("reduce_prod", [plane(f, 3, 4)], lambda x: x.prod(1))
    f.add("reduce_mean", [plane(f, 3, 4)], lambda x: x.mean(0))
    f.add("cumsum", [plane(f, 3, 4)], lambda x: x.cumsum(1))
    f.add("cumprod", [plane(f, 3, 4)], lambda x: x.cumprod(1))
    f.add("gather", [plane(f, 3, 4), f.integers(0, 3, 5)], lambda x, i: x[i])
