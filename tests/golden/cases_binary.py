"""Binary ops, with broadcasting."""

import numpy as np
import torch

# Name, function, and the interval of the inputs.
BINARY = [
    ("add", torch.add, -3, 3), ("subtract", torch.sub, -3, 3), ("multiply", torch.mul, -3, 3),
    ("divide", torch.div, 0.3, 4), ("pow", torch.pow, 0.2, 3), ("maximum", torch.maximum, -3, 3),
    ("minimum", torch.minimum, -3, 3), ("atan2", torch.atan2, 0.1, 3), ("hypot", torch.hypot, 0.1, 3),
    ("squared_difference", lambda a, b: (a - b) ** 2, -3, 3), ("xlogy", torch.xlogy, 0.1, 4),
    ("xlog1py", torch.special.xlog1py, 0.1, 4), ("floormod", torch.remainder, 0.5, 9),
]


def make(f):
    f.add("floordiv", [f.uniform(-9, 9, 4, 5), f.uniform(0.5, 3, 5)], np.floor_divide, gradient=False)
    for name, function, low, high in BINARY:
        for a, b in (((4, 5), (4, 5)), ((4, 5), (5,)), ((3, 1, 2), (4, 1)), ((), (3,)), ((2, 0), (1, 1))):
            f.add(name, [f.uniform(low, high, *a), f.uniform(low, high, *b)], function)
