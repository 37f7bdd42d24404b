"""Unary ops."""

import torch
import torch.nn.functional as F

# Name, function, and the interval of the inputs.
UNARY = [
    ("abs", torch.abs, -3, 3), ("negative", torch.neg, -3, 3), ("square", torch.square, -3, 3),
    ("sqrt", torch.sqrt, 0.01, 9), ("rsqrt", torch.rsqrt, 0.01, 9), ("reciprocal", torch.reciprocal, 0.2, 5),
    ("exp", torch.exp, -20, 20), ("expm1", torch.expm1, -3, 3), ("log", torch.log, 1e-3, 100),
    ("log1p", torch.log1p, -0.9, 9), ("sin", torch.sin, -30, 30), ("cos", torch.cos, -30, 30),
    ("tan", torch.tan, -1.5, 1.5), ("asin", torch.asin, -0.99, 0.99), ("acos", torch.acos, -0.99, 0.99),
    ("atan", torch.atan, -9, 9), ("sinh", torch.sinh, -4, 4), ("cosh", torch.cosh, -4, 4),
    ("tanh", torch.tanh, -4, 4), ("asinh", torch.asinh, -9, 9), ("acosh", torch.acosh, 1.01, 9),
    ("atanh", torch.atanh, -0.99, 0.99), ("sigmoid", torch.sigmoid, -9, 9), ("log_sigmoid", F.logsigmoid, -9, 9),
    ("erf", torch.erf, -3, 3), ("erfc", torch.erfc, -3, 6), ("erfinv", torch.erfinv, -0.999, 0.999),
    ("floor", torch.floor, -5, 5), ("ceil", torch.ceil, -5, 5), ("trunc", torch.trunc, -5, 5),
    ("round", torch.round, -5, 5), ("sign", torch.sign, -2, 2),
    ("relu", torch.relu, -3, 3), ("relu6", F.relu6, -3, 9), ("elu", F.elu, -4, 4), ("selu", F.selu, -4, 4),
    ("gelu", lambda x: x * torch.erfc(-x * 0.5**0.5) / 2, -4, 4),  # F.gelu loses digits far below 0
    ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), -4, 4), ("silu", F.silu, -6, 6),
    ("softplus", lambda x: F.softplus(x, threshold=100), -9, 9), ("softsign", F.softsign, -5, 5),
    ("mish", F.mish, -5, 5), ("leaky_relu", lambda x: F.leaky_relu(x, 0.2), -4, 4),
    ("hard_sigmoid", F.hardsigmoid, -4, 4),
]

def make(f):
    for name, function, low, high in UNARY:
        f.add(name, [f.uniform(low, high, 3, 7)], function)
        f.add(name, [f.uniform(low, high, 0, 2)], function)
