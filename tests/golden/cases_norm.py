"""Normalization, attention, recipes and pooling to a given size."""

import numpy as np
import torch
from torch.nn import functional


def last(x):
    """[n, h, w, c] to [n, c, h, w] and back."""
    return x.permute(0, 3, 1, 2)


def first(x):
    return x.permute(0, 2, 3, 1)


def attention(q, k, v, mask=None, causal=False):
    scores = q @ k.transpose(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + mask
    if causal:
        keep = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~keep, -np.inf)
    return torch.softmax(scores, -1) @ v


def combined(table, ids, segments, weights, combiner):
    """The weighted rows of each of 4 examples: their sum, their mean, or divided by the norm of the weights."""
    rows = []
    for k in range(4):
        w = weights[segments == k]
        total = (table[ids[segments == k]] * w[:, None]).sum(0)
        if combiner and len(w):
            total = total / (w.sum() if combiner == 1 else torch.sqrt((w * w).sum()))
        rows.append(total)
    return torch.stack(rows)


def make(f):
    for shape in ((4, 7), (2, 3, 33)):
        n = shape[-1]
        f.add("layer_norm", [f.normal(*shape), f.normal(n), f.normal(n)],
              lambda x, s, o: functional.layer_norm(x, (n,), s, o, 1e-3))
        f.add("rms_norm", [f.normal(*shape), f.normal(n)],
              lambda x, s: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * s)
    f.add("group_norm", [f.normal(2, 3, 4, 6), f.normal(6), f.normal(6)],
          lambda x, s, o: first(functional.group_norm(last(x), 3, s, o, 1e-3)), p=[3])
    f.add("instance_norm", [f.normal(2, 3, 4, 6)], lambda x: first(functional.group_norm(last(x), 6, None, None, 1e-3)))
    f.add("fused_batch_norm", [f.normal(3, 4, 2, 5), f.normal(5), f.normal(5)],
          lambda x, s, o: first(functional.batch_norm(last(x), None, None, s, o, True, 0, 1e-3)))
    f.add("l2_normalize", [f.normal(4, 5)], lambda x: functional.normalize(x, dim=1, eps=1e-12))
    f.add("moments", [f.normal(4, 5, 3)], lambda x: (x.mean((0, 1)), x.var((0, 1), correction=0)))
    q, k, v = [f.normal(2, 2, n, d) for n, d in ((5, 4), (7, 4), (7, 3))]
    f.add("attention", [q, k, v], attention)
    f.add("attention_mask", [q, k, v, f.normal(5, 7)], attention)
    f.add("attention_causal", [q, k, v], lambda q, k, v: attention(q, k, v, causal=True))
    f.add("softmax_entropy", [3 * f.normal(4, 6)],
          lambda x: -(torch.softmax(x, -1) * torch.log_softmax(x, -1)).sum(-1))
    f.add("gaussian_kl", [f.normal(4, 3), f.normal(4, 3), f.normal(4, 3), f.normal(4, 3)],
          lambda m, s, n, t: 0.5 * (t - s + (torch.exp(s) + (m - n)**2) / torch.exp(t) - 1).sum(-1))
    f.add("log_poisson_loss", [f.uniform(0.5, 4, 10), f.normal(10)],
          lambda t, x: functional.poisson_nll_loss(x, t, log_input=True, full=False, reduction="none"))
    f.add("weighted_cross_entropy", [f.uniform(0, 1, 10), f.normal(10)],
          lambda z, x: functional.binary_cross_entropy_with_logits(
              x, z, pos_weight=torch.tensor(2.5, dtype=torch.float64), reduction="none"), q=[2.5])
    f.add("entropy", [f.uniform(0.1, 1, 4, 5)], lambda p: -(p * torch.log(p)).sum(-1))
    f.add("cross_entropy", [f.uniform(0.1, 1, 4, 5), f.uniform(0.1, 1, 4, 5)], lambda p, q: -(p * torch.log(q)).sum(-1))
    f.add("l2_loss", [f.normal(4, 5)], lambda x: (x * x).sum() / 2)
    f.add("bias_add", [f.normal(2, 3, 4), f.normal(4)], lambda x, b: x + b)
    f.add("crelu", [f.normal(4, 5)], lambda x: torch.cat((torch.relu(x), torch.relu(-x)), -1))
    for size in ((1, 1), (2, 3), (5, 4)):
        f.add("adaptive_avg_pool", [f.normal(2, 7, 6, 2)], lambda x: first(functional.adaptive_avg_pool2d(last(x), size)),
              p=size)
        f.add("adaptive_max_pool", [f.normal(2, 7, 6, 2)], lambda x: first(functional.adaptive_max_pool2d(last(x), size)),
              p=size)
    f.add("conv1d_transpose", [f.normal(2, 4, 3), f.normal(3, 5, 3)],
          lambda x, w: functional.conv_transpose1d(x.permute(0, 2, 1), w.permute(2, 1, 0), stride=2).permute(0, 2, 1),
          p=[2, 9, 5])
    f.add("conv3d_transpose", [f.normal(1, 2, 3, 2, 3), f.normal(2, 2, 2, 4, 3)],
          lambda x, w: functional.conv_transpose3d(x.permute(0, 4, 1, 2, 3), w.permute(4, 3, 0, 1, 2), stride=2)
          .permute(0, 2, 3, 4, 1), p=[1, 4, 6, 4, 4])
    labels, sizes, steps = np.array([[1, 2, 2], [3, 1, 0], [0, 0, 0]]), np.array([3, 2, 0]), np.array([6, 4, 5])
    f.add("ctc_loss", [labels, f.normal(6, 3, 4), sizes, steps],
          lambda l, x, n, t: functional.ctc_loss(torch.log_softmax(x, -1), l, t, n, 0, "none"))
    for combiner in (0, 1, 2):
        f.add("embedding_lookup_sparse",
              [f.normal(5, 3), np.array([4, 0, 4, 2, 1]), np.array([2, 0, 0, 2, 2]), f.uniform(0.5, 2, 5)],
              lambda x, i, s, w: combined(x, i, s, w, combiner), p=[combiner, 4])
