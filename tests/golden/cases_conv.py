"""Convolution and pooling in NHWC layout, filters [spatial.., in, out]. PyTorch's layout is NCHW, [out, in, spatial..]."""

import itertools

import torch
import torch.nn.functional as F

CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}


def same_padding(size, kernel, stride, dilation):
    """TensorFlow's rule: the smaller half first."""
    total = max((-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
    return total // 2, total - total // 2


def padded(x, kernel, stride, dilation, same, value=0.0):
    """x in NCHW."""
    if not same:
        return x
    pads = [same_padding(n, k, stride, dilation) for n, k in zip(x.shape[2:], kernel)]
    return F.pad(x, [p for pair in reversed(pads) for p in pair], value=value)


def first(x):  # channels first
    return x.movedim(-1, 1)


def last(x):
    return x.movedim(1, -1)


def convolution(x, w, stride, dilation, same, groups=1):
    kernel = w.shape[:-2]
    spatial = len(kernel)
    y = padded(first(x), kernel, stride, dilation, same)
    return last(CONV[spatial](y, w.movedim(-1, 0).movedim(-1, 1), stride=stride, dilation=dilation, groups=groups))


def depthwise(x, w, stride, dilation, same):
    height, width, channels, multiplier = w.shape
    filters = w.permute(2, 3, 0, 1).reshape(channels * multiplier, 1, height, width)
    y = padded(first(x), (height, width), stride, dilation, same)
    return last(F.conv2d(y, filters, stride=stride, dilation=dilation, groups=channels))


def average(x, kernel, stride, same):
    """Divides by the number of pixels inside."""
    y = padded(first(x), kernel, stride, 1, same)
    ones = padded(torch.ones_like(first(x)), kernel, stride, 1, same)
    spatial = len(kernel)
    pool = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}[spatial]
    return last(pool(y, kernel, stride) / pool(ones, kernel, stride).detach())


def make(f):
    shapes = {1: ((2, 9, 3), (3, 3, 4)), 2: ((2, 7, 6, 3), (3, 2, 3, 5)), 3: ((1, 5, 6, 4, 2), (2, 3, 2, 2, 3))}
    for spatial, (x, w) in shapes.items():
        for same, stride, dilation in itertools.product((0, 1), (1, 2), (1, 2)):
            if stride > 1 and dilation > 1:
                continue
            f.add(f"conv{spatial}d", [f.normal(*x), f.normal(*w)],
                  lambda x, w: convolution(x, w, stride, dilation, same), p=[stride, dilation, same])
    f.add("conv2d", [f.normal(2, 5, 5, 1), f.normal(5, 5, 1, 6)], lambda x, w: convolution(x, w, 1, 1, 1), p=[1, 1, 1])
    f.add("conv2d", [f.normal(1, 4, 4, 17), f.normal(1, 1, 17, 33)], lambda x, w: convolution(x, w, 1, 1, 0), p=[1, 1, 0])
    f.add("conv2d", [f.normal(2, 5, 5, 4), f.normal(3, 3, 2, 6)], lambda x, w: convolution(x, w, 1, 1, 1, groups=2),
          p=[1, 1, 1])
    f.add("conv2d", [f.normal(0, 5, 5, 2), f.normal(3, 3, 2, 3)], lambda x, w: convolution(x, w, 1, 1, 1), p=[1, 1, 1])
    for same, stride in itertools.product((0, 1), (1, 2)):
        f.add("depthwise_conv2d", [f.normal(2, 6, 5, 3), f.normal(3, 2, 3, 2)],
              lambda x, w: depthwise(x, w, stride, 1, same), p=[stride, 1, same])
        f.add("separable_conv2d", [f.normal(2, 6, 5, 3), f.normal(3, 2, 3, 2), f.normal(1, 1, 6, 4)],
              lambda x, d, w: convolution(depthwise(x, d, stride, 1, same), w, 1, 1, 0), p=[stride, 1, same])
    for stride in (1, 2):  # VALID: PyTorch's form; the filter is [h, w, out, in]
        f.add("conv2d_transpose", [f.normal(2, 4, 3, 3), f.normal(3, 2, 5, 3)],
              lambda x, w: last(F.conv_transpose2d(first(x), w.permute(3, 2, 0, 1), stride=stride)), p=[stride])
    for spatial in (1, 2, 3):
        shape, kernel = (2, *(7, 6, 5)[:spatial], 3), (3, 2, 2)[:spatial]
        for same, stride in itertools.product((0, 1), (1, 2)):
            f.add(f"max_pool{spatial}d", [f.normal(*shape)],
                  lambda x: last(MAX[spatial](padded(first(x), kernel, stride, 1, same, -1e30), kernel, stride)),
                  p=[stride, same, *kernel])
            f.add(f"avg_pool{spatial}d", [f.normal(*shape)], lambda x: average(x, kernel, stride, same),
                  p=[stride, same, *kernel])
    # PyTorch divides alpha by the window's size.
    f.add("lrn", [f.normal(2, 3, 3, 9)],
          lambda x: last(F.local_response_norm(first(x), 5, alpha=0.3 * 5, beta=0.75, k=2.0)), p=[2], q=[2.0, 0.3, 0.75])
