"""Matrix products, losses."""

import numpy as np
import torch
import torch.nn.functional as F


def make(f):
    for a, b in (((3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((9, 17), (17, 19)), ((3, 0), (0, 2)),
                 ((1, 35), (35, 20))):
        for flags in range(4):
            x = f.normal(*a) if not flags & 1 else f.normal(*a).swapaxes(-1, -2).copy()
            y = f.normal(*b) if not flags & 2 else f.normal(*b).swapaxes(-1, -2).copy()
            f.add("matmul", [x, y], lambda x, y: torch.matmul(x.mT if flags & 1 else x, y.mT if flags & 2 else y),
                  p=[flags & 1, flags >> 1])
    logits, labels = f.normal(6, 5), np.abs(f.normal(6, 5))
    labels /= labels.sum(1, keepdims=True)
    f.add("softmax_cross_entropy", [labels, logits], lambda p, x: -(p * torch.log_softmax(x, 1)).sum(1))
    f.add("sparse_softmax_cross_entropy", [f.integers(0, 5, 6), logits],
          lambda i, x: F.cross_entropy(x, i, reduction="none"))
    f.add("sigmoid_cross_entropy", [np.abs(np.tanh(f.normal(6, 5))), 9 * logits],
          lambda p, x: F.binary_cross_entropy_with_logits(x, p, reduction="none"))
    for kind, gates in (("lstm", 4), ("gru", 3)):
        recurrent(f, kind, gates)


def recurrent(f, kind, gates):
    """One layer over [batch, time, features]. Gate orders: LSTM i, f, c, o, as here; GRU z, r, h, PyTorch's is r, z, h."""
    batch, time, features, units = 3, 5, 4, 6
    x, kernel, recurrent_kernel = f.normal(batch, time, features), f.normal(features, gates * units), f.normal(units, gates * units)
    state, bias = f.normal(batch, units), f.normal(gates * units)

    def lstm(x, w, u, b, h, c):
        outputs = []
        for t in range(time):
            i, forget, g, o = torch.chunk(x[:, t] @ w + h @ u + b, 4, 1)
            c = torch.sigmoid(forget) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(h)
        return torch.stack(outputs, 1), h, c

    def gru(x, w, u, b, b2, h):
        outputs = []
        for t in range(time):
            xz, xr, xh = torch.chunk(x[:, t] @ w + b, 3, 1)
            hz, hr, hh = torch.chunk(h @ u + b2, 3, 1)
            z, r = torch.sigmoid(xz + hz), torch.sigmoid(xr + hr)
            h = z * h + (1 - z) * torch.tanh(xh + r * hh)
            outputs.append(h)
        return torch.stack(outputs, 1), h

    if kind == "lstm":
        f.add("lstm", [x, kernel, recurrent_kernel, bias, state, f.normal(batch, units)], lstm)
    else:
        f.add("gru", [x, kernel, recurrent_kernel, bias, f.normal(gates * units), state], gru)
