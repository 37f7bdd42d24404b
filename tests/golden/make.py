"""Makes the golden values of tests/golden: inputs, outputs and gradients of operations, computed by PyTorch, NumPy and
SciPy in double precision, one .npz file for each family.

python3 -m venv v; v/bin/pip install numpy scipy torch; v/bin/python tests/golden/make.py [FAMILY ...]

An array is named CASE/PART. CASE is op:number. PART is x0, x1, ... (inputs), y0, y1, ... (outputs), p (integer
parameters), q (real parameters), w0, w1, ... (weights of the outputs) and g0, g1, ... (the gradient of the weighted sum
of all outputs by an input; missing where the op has none).
"""

import importlib
import pathlib
import sys

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).parent


class Family:
    """Collects the cases of one family."""

    def __init__(self, name):
        self.name, self.arrays, self.counts = name, {}, {}
        self.random = np.random.default_rng(abs(hash_of(name)))

    def normal(self, *shape):
        return representable(self.random.normal(size=shape))

    def uniform(self, low, high, *shape):
        return representable(self.random.uniform(low, high, size=shape))

    def integers(self, low, high, *shape):
        return self.random.integers(low, high, size=shape).astype(np.int64)

    def add(self, op, inputs, f, p=(), q=(), gradient=True):
        """Adds a case. f takes and returns torch tensors (one or a tuple); with gradient=False NumPy arrays."""
        case = f"{op}:{self.counts.get(op, 0)}"
        self.counts[op] = self.counts.get(op, 0) + 1
        inputs = [representable(x) if np.asarray(x).dtype.kind == "f" else np.asarray(x) for x in inputs]
        if gradient:
            outputs = self.differentiate(case, inputs, f)
        else:
            outputs = f(*inputs)
            outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        for i, x in enumerate(inputs):
            self.arrays[f"{case}/x{i}"] = x
        for i, y in enumerate(outputs):
            self.arrays[f"{case}/y{i}"] = np.asarray(y)
        if len(p):
            self.arrays[f"{case}/p"] = np.asarray(p, dtype=np.int64)
        if len(q):
            self.arrays[f"{case}/q"] = np.asarray(q, dtype=np.float64)

    def differentiate(self, case, inputs, f):
        tensors = [torch.tensor(x, requires_grad=x.dtype.kind in "fc") for x in inputs]
        outputs = f(*tensors)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        total = 0
        for i, y in enumerate(outputs):
            if not y.is_floating_point() and not y.is_complex():
                continue
            w = self.normal(*y.shape)
            self.arrays[f"{case}/w{i}"] = w
            total = total + (y * torch.tensor(w)).sum().real
        if torch.is_tensor(total) and total.requires_grad:
            wanted = [t for t in tensors if t.requires_grad]
            gradients = iter(torch.autograd.grad(total, wanted, allow_unused=True))
            for i, t in enumerate(tensors):
                g = next(gradients) if t.requires_grad else None
                if g is not None:
                    self.arrays[f"{case}/g{i}"] = resolved(g)
        return [resolved(y.detach()) for y in outputs]

    def save(self):
        path = FOLDER / f"{self.name}.npz"
        np.savez_compressed(path, **self.arrays)
        print(f"{path.name}: {sum(self.counts.values())} cases of {len(self.counts)} ops, {path.stat().st_size} bytes")


def resolved(t):
    """The NumPy array of a tensor that may be a lazy conjugate or negative."""
    return t.resolve_conj().resolve_neg().numpy()


def representable(x):
    """Doubles that float32 represents too, so that both precisions get the same inputs."""
    return np.asarray(x, dtype=np.float32).astype(np.float64)


def hash_of(text):
    """A seed that does not depend on the process, unlike hash()."""
    value = 1469598103934665603
    for byte in text.encode():
        value = (value ^ byte) * 1099511628211 % 2**63
    return value


def main():
    torch.set_num_threads(1)
    names = sys.argv[1:] or sorted(p.stem.removeprefix("cases_") for p in FOLDER.glob("cases_*.py"))
    sys.path.insert(0, str(FOLDER))
    for name in names:
        family = Family(name)
        importlib.import_module("cases_" + name).make(family)
        family.save()


if __name__ == "__main__":
    main()
