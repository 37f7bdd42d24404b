"""The work of the scenarios that the Python peers share, as in bench/<scenario>/work.hpp for C++: names, sizes,
seeds and initial weights. Gates in the order input, forget, cell, output; kernels as [in, out]."""

import numpy as np

from worker import indices, normal

CHAIN = "chain100/forward"
CHAIN_GRADIENT = "chain100/forward_backward"
GELU = {"pointwise/gelu9_1M": 1 << 20, "pointwise/gelu9_16M": 1 << 24}


def chain_operands():
    return normal(32, 1), np.full(32, 1.01, np.float32)


def chain(x, b):
    for _ in range(50):
        x = x + b
        x = x * b
    return x


def gelu(tanh):
    """The chain of nine operations with this tanh."""
    return lambda x: x * 0.5 * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


class Mlp:
    name = "mlp_step/784_256_256_10_b128_adam"
    widths, batch, classes = (784, 256, 256, 10), 128, 10
    learning_rate, epsilon = 1e-3, 1e-8
    checked_steps = 3

    @classmethod
    def inputs(cls):
        return normal((cls.batch, cls.widths[0]), 1), indices(cls.batch, cls.classes, 2)

    @classmethod
    def kernels(cls):
        return [normal(pair, 10 + i, 0.05) for i, pair in enumerate(zip(cls.widths, cls.widths[1:]))]


class Lstm:
    """Forward, backward of the sum of all outputs, Adam. Compared: the sum and the kernels' gradients."""

    name = "lstm_step/b64_T50_h256_in128_adam"
    batch, steps, inputs, units = 64, 50, 128, 256
    learning_rate, epsilon = 1e-4, 1e-8

    @classmethod
    def x(cls):
        return normal((cls.steps, cls.batch, cls.inputs), 1)

    @classmethod
    def weights(cls):
        """Kernel, recurrent kernel, bias (1 for the forget gate)."""
        u = cls.units
        return normal((cls.inputs, 4 * u), 2, 0.05), normal((u, 4 * u), 3, 0.05), np.repeat(np.float32([0, 1, 0, 0]), u)


class CharRnn:
    """Compared: the loss and the clipped gradients of the embedding and of the last kernel."""

    name = "char_rnn_step/2x256_b50_T50_v80_adam"
    symbols, units, batch, steps, layers = 80, 256, 50, 50, 2
    learning_rate, epsilon, clip = 2e-3, 1e-8, 5.0

    @classmethod
    def inputs(cls):
        shape = (cls.steps, cls.batch)
        return indices(shape, cls.symbols, 1), indices(shape, cls.symbols, 2)

    @classmethod
    def embedding(cls):
        return normal((cls.symbols, cls.units), 3, 0.05)

    @classmethod
    def layer(cls, i):
        """Kernel, recurrent kernel, bias."""
        shape = (cls.units, 4 * cls.units)
        return normal(shape, 10 + i, 0.05), normal(shape, 20 + i, 0.05), np.zeros(4 * cls.units, np.float32)

    @classmethod
    def output(cls):
        return normal((cls.units, cls.symbols), 4, 0.05)


class MnistCnn:
    """Filters are [5, 5, in, out], matrices [in, out], pictures [batch, 28, 28, 1]."""

    name = "mnist_cnn/conv32_conv64_1024_10_b128_adam"
    batch, size, window, classes = 128, 28, 5, 10
    channels, dense = (1, 32, 64), (7 * 7 * 64, 1024, 10)
    learning_rate, epsilon = 1e-3, 1e-8
    checked_steps = 3

    @classmethod
    def inputs(cls):
        return normal((cls.batch, cls.size, cls.size, cls.channels[0]), 1), indices(cls.batch, cls.classes, 2)

    @classmethod
    def filters(cls):
        pairs = zip(cls.channels, cls.channels[1:])
        return [normal((cls.window, cls.window, *pair), 10 + i, 0.05) for i, pair in enumerate(pairs)]

    @classmethod
    def kernels(cls):
        return [normal(pair, 20 + i, 0.02) for i, pair in enumerate(zip(cls.dense, cls.dense[1:]))]


class TransformerBlock:
    """Query, key and value are the thirds of one projection; the normalizations come before."""

    name = "transformer_block/256_8heads_b16_t128_adamw"
    batch, tokens, width, heads, inner = 16, 128, 256, 8, 1024
    learning_rate, epsilon, decay, norm_epsilon = 1e-3, 1e-8, 0.01, 1e-5
    checked_steps = 3

    @classmethod
    def x(cls):
        return normal((cls.batch, cls.tokens, cls.width), 1)

    @classmethod
    def kernels(cls):
        w = cls.width
        shapes = (w, 3 * w), (w, w), (w, cls.inner), (cls.inner, w)
        return [normal(shape, 10 + i, 0.05) for i, shape in enumerate(shapes)]


class SkipGram:
    """SGD with row-sparse gradients. Compared: the rows of the words and of the noise after one step."""

    name = "word2vec/step_50kx128_b1024_n64"
    vocabulary, width, batch, negatives = 50000, 128, 1024, 64
    scale, learning_rate = 0.1, 0.1

    @classmethod
    def tables(cls):
        return [normal((cls.vocabulary, cls.width), seed, cls.scale) for seed in (1, 2)]

    @classmethod
    def inputs(cls):
        """The words, those that they predict, and the noise."""
        counts = cls.batch, cls.batch, cls.negatives
        return [indices(count, cls.vocabulary, 3 + i) for i, count in enumerate(counts)]
