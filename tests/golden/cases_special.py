"""Special functions against SciPy, with the derivatives that SciPy has."""

import numpy as np
import scipy.special as sp


def add(f, name, inputs, function, *gradients):
    """gradients: by input, the derivative as a function of the inputs, or None."""
    case = f"{name}:{f.counts.get(name, 0)}"
    f.add(name, inputs, function, gradient=False)
    y = f.arrays[f"{case}/y0"]
    w = f.arrays[f"{case}/w0"] = f.normal(*y.shape)
    for i, g in enumerate(gradients):
        if g is not None:
            f.arrays[f"{case}/g{i}"] = w * g(*inputs)


def make(f):
    for low, high in ((0.05, 3.0), (3.0, 60.0), (-9.9, -0.1)):
        x = f.uniform(low, high, 24)
        add(f, "lgamma", [x], sp.gammaln, sp.digamma)
        add(f, "digamma", [x], sp.digamma, (lambda x: sp.polygamma(1, x)) if low > 0 else None)
    for low, high in ((0.01, 0.99), (1e-8, 1e-3)):
        x = f.uniform(low, high, 24)
        add(f, "ndtri", [x], sp.ndtri, lambda x: np.sqrt(2 * np.pi) * np.exp(sp.ndtri(x) ** 2 / 2))
    x = f.uniform(0.02, 1.98, 24)
    add(f, "erfcinv", [x], sp.erfcinv, lambda x: -np.sqrt(np.pi) / 2 * np.exp(sp.erfcinv(x) ** 2))
    for low, high in ((-3.0, 3.0), (5.0, 30.0)):
        x = f.uniform(low, high, 24)
        add(f, "bessel_i0", [x], sp.i0, sp.i1)
        add(f, "bessel_i1", [x], sp.i1, lambda x: sp.i0(x) - sp.i1(x) / x)
        add(f, "bessel_i0e", [x], sp.i0e, lambda x: sp.i1e(x) - np.sign(x) * sp.i0e(x))
        add(f, "bessel_i1e", [x], sp.i1e, lambda x: sp.i0e(x) - sp.i1e(x) * (np.sign(x) + 1 / x))
    for a, x in ((0.3, 2.0), (5.0, 5.0), (40.0, 60.0)):
        a, x = f.uniform(0.2 * a, 2 * a, 16), f.uniform(0.05, 2 * x, 16)
        density = lambda a, x: np.exp((a - 1) * np.log(x) - x - sp.gammaln(a))
        add(f, "igamma", [a, x], sp.gammainc, None, density)
        add(f, "igammac", [a, x], sp.gammaincc, None, lambda a, x: -density(a, x))
    for size in (1.0, 20.0):
        a, b, x = f.uniform(0.2, 2 * size, 16), f.uniform(0.2, 2 * size, 16), f.uniform(0.02, 0.98, 16)
        add(f, "betainc", [a, b, x], sp.betainc, None, None,
            lambda a, b, x: np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - sp.betaln(a, b)))
    n, x = f.integers(0, 5, 20).astype(np.float64), f.uniform(0.3, 9, 20)
    add(f, "polygamma", [n, x], lambda n, x: sp.polygamma(n.astype(int), x), None,
        lambda n, x: sp.polygamma(n.astype(int) + 1, x))
    x, q = f.uniform(1.2, 9, 20), f.uniform(0.2, 9, 20)
    add(f, "zeta", [x, q], sp.zeta, None, lambda x, q: -x * sp.zeta(x + 1, q))
    x = f.uniform(0.2, 5, 4, 3)
    add(f, "lbeta", [x], lambda x: sp.gammaln(x).sum(1) - sp.gammaln(x.sum(1)))
