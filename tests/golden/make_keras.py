"""Makes keras.npz and keras_defaults.txt: what Keras 3 computes, in double precision, with the default options of its
activations, losses, metrics, layers, optimizers, schedules and regularizers, and the bounds of what its initializers
draw; and the default values of their options.

python3 -m venv v; v/bin/pip install keras tensorflow-cpu; v/bin/python tests/golden/make_keras.py

Arrays are named as make.py's. A layer's inputs are x0 and its weights, in Keras' order; those of a loss or metric y_true,
y_pred and maybe the weights of the examples; those of an optimizer the first value of w, for the loss sum(w^2 w_i).
"""

import inspect
import os
import pathlib

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras  # noqa: E402
import numpy as np  # noqa: E402

FOLDER = pathlib.Path(__file__).parent
RANDOM = np.random.default_rng(20)
ARRAYS, COUNTS = {}, {}


def numbers(low, high, *shape):
    """Doubles that float32 represents too, so that both precisions get the same inputs."""
    return RANDOM.uniform(low, high, size=shape).astype(np.float32).astype(np.float64)


def add(name, inputs, outputs):
    case = f"{name}:{COUNTS.get(name, 0)}"
    COUNTS[name] = COUNTS.get(name, 0) + 1
    for kind, arrays in (("x", inputs), ("y", outputs if isinstance(outputs, (list, tuple)) else [outputs])):
        for i, a in enumerate(arrays):
            ARRAYS[f"{case}/{kind}{i}"] = np.asarray(keras.ops.convert_to_numpy(a))


ACTIVATIONS = ["elu", "exponential", "gelu", "hard_sigmoid", "leaky_relu", "log_sigmoid", "log_softmax", "mish", "relu",
               "relu6", "selu", "sigmoid", "silu", "softmax", "softplus", "softsign", "tanh"]
LOSSES = ["MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "Huber",
          "LogCosh", "Poisson", "CosineSimilarity", "Hinge", "SquaredHinge", "CategoricalHinge", "BinaryCrossentropy",
          "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "KLDivergence", "BinaryFocalCrossentropy",
          "CategoricalFocalCrossentropy"]
METRICS = ["Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy", "TopKCategoricalAccuracy",
           "SparseTopKCategoricalAccuracy", "TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives",
           "Precision", "Recall", "AUC", "F1Score", "FBetaScore", "R2Score", "MeanSquaredError", "RootMeanSquaredError",
           "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "LogCoshError", "Poisson",
           "Hinge", "SquaredHinge", "CosineSimilarity", "KLDivergence", "CategoricalHinge", "BinaryCrossentropy",
           "CategoricalCrossentropy", "SparseCategoricalCrossentropy"]
OPTIMIZERS = ["SGD", "RMSprop", "Adam", "AdamW", "Adamax", "Nadam", "Lamb", "Adagrad", "Adadelta", "Ftrl"]
SCHEDULES = {"ExponentialDecay": (0.1, 10, 0.5), "InverseTimeDecay": (0.1, 10, 0.5), "PolynomialDecay": (0.1, 10),
             "CosineDecay": (0.1, 10), "CosineDecayRestarts": (0.1, 4),
             "PiecewiseConstantDecay": ([3, 7], [0.1, 0.05, 0.01])}
INITIALIZERS = ["RandomUniform", "RandomNormal", "TruncatedNormal", "GlorotUniform", "GlorotNormal", "HeUniform",
                "HeNormal", "LecunUniform", "LecunNormal"]
LAYERS = {
    "ReLU": ((), (3, 7)), "LeakyReLU": ((), (3, 7)), "PReLU": ((), (3, 7)), "ELU": ((), (3, 7)), "Softmax": ((), (3, 7)),
    "Dense": ((5,), (3, 7)), "Conv1D": ((4, 3), (2, 9, 3)), "Conv2D": ((4, 3), (2, 7, 6, 3)),
    "Conv3D": ((2, 2), (1, 4, 5, 3, 2)), "Conv1DTranspose": ((4, 3), (2, 5, 3)), "Conv2DTranspose": ((2, 3), (2, 4, 5, 3)),
    "DepthwiseConv1D": ((3,), (2, 7, 3)), "DepthwiseConv2D": ((3,), (2, 7, 6, 3)), "SeparableConv1D": ((4, 3), (2, 7, 3)),
    "SeparableConv2D": ((4, 3), (2, 7, 6, 3)), "MaxPooling1D": ((2,), (2, 7, 3)), "MaxPooling2D": ((2,), (2, 7, 6, 3)),
    "AveragePooling1D": ((2,), (2, 7, 3)), "AveragePooling2D": ((2,), (2, 7, 6, 3)),
    "GlobalMaxPooling1D": ((), (2, 7, 3)), "GlobalAveragePooling2D": ((), (2, 7, 6, 3)),
    "LayerNormalization": ((), (3, 7)), "GroupNormalization": ((4,), (2, 3, 8)), "RMSNormalization": ((), (3, 7)),
    "UnitNormalization": ((), (3, 7)), "BatchNormalization": ((), (5, 4)), "Embedding": ((6, 4), None),
    "UpSampling1D": ((2,), (2, 3, 2)), "UpSampling2D": ((2,), (2, 3, 4, 2)), "ZeroPadding1D": ((1,), (2, 3, 2)),
    "ZeroPadding2D": ((1,), (2, 3, 4, 2)), "Cropping1D": ((1,), (2, 5, 2)), "Cropping2D": ((1,), (2, 5, 4, 2)),
    "Resizing": ((5, 9), (2, 4, 7, 3)), "Rescaling": ((0.5,), (3, 4)), "SimpleRNN": ((4,), (2, 5, 3)),
    "LSTM": ((4,), (2, 5, 3)), "GRU": ((4,), (2, 5, 3)), "Flatten": ((), (2, 3, 4)),
}


def activations():
    for name in ACTIVATIONS:
        x = numbers(-6, 6, 3, 7)
        add("activation." + name, [x], getattr(keras.activations, name)(keras.ops.convert_to_tensor(x)))


def pairs(name):
    """y_true and y_pred that suit a loss or a metric."""
    logits = numbers(-2, 2, 6, 4)
    probabilities = (np.exp(logits) / np.exp(logits).sum(1, keepdims=True)).astype(np.float32).astype(np.float64)
    one_hot = np.eye(4)[RANDOM.integers(0, 4, size=6)]
    if name.startswith("Sparse"):
        return RANDOM.integers(0, 4, size=6), probabilities
    if name.startswith("Categorical") or name.startswith("TopK") or name in ("F1Score", "FBetaScore", "KLDivergence"):
        return one_hot, probabilities
    if name.startswith("Binary") or name in ("TruePositives", "FalsePositives", "TrueNegatives", "FalseNegatives",
                                             "Precision", "Recall", "AUC"):
        return RANDOM.integers(0, 2, size=(6, 4)).astype(np.float64), numbers(0.02, 0.98, 6, 4)
    if name == "Accuracy":
        return RANDOM.integers(0, 3, size=(6, 4)).astype(np.float64), RANDOM.integers(0, 3, size=(6, 4)).astype(np.float64)
    if "Hinge" in name:
        return RANDOM.integers(0, 2, size=(6, 4)).astype(np.float64), numbers(-2, 2, 6, 4)
    return numbers(0.1, 3, 6, 4), numbers(0.1, 3, 6, 4)


def losses():
    for name in LOSSES:
        t, p = pairs(name)
        add("loss." + name, [t, p], getattr(keras.losses, name)()(t, p))


def metrics():
    for name in METRICS:
        m, inputs = getattr(keras.metrics, name)(), []
        for _ in range(2):
            t, p = pairs(name)
            m.update_state(t, p.astype(np.float32) if "TopK" in name else p)
            inputs += [t, p]
        add("metric." + name, inputs, m.result())


def layers():
    for name, (arguments, shape) in LAYERS.items():
        layer = getattr(keras.layers, name)(*arguments)
        x = RANDOM.integers(0, 6, size=(2, 3)).astype(np.float64) if shape is None else numbers(-2, 2, *shape)
        layer(x.astype(np.int32) if shape is None else x)
        values = [numbers(0.5, 1.5, *w.shape) if "variance" in w.path else numbers(-1, 1, *w.shape) for w in layer.weights]
        layer.set_weights(values)
        add("layer." + name, [x, *values], layer(x.astype(np.int32) if shape is None else x))
    bn = keras.layers.BatchNormalization()
    x = numbers(-2, 2, 5, 4)
    y = bn(x, training=True)
    add("layer.BatchNormalization, training", [x], [y, bn.moving_mean.value, bn.moving_variance.value])


def optimizers():
    start, factor = numbers(-2, 2, 4), np.array([1.0, 0.5, 2.0, 3.0])
    for name in OPTIMIZERS:
        optimizer, w, path = getattr(keras.optimizers, name)(), keras.Variable(start, dtype="float64"), []
        for _ in range(4):
            optimizer.apply([keras.ops.convert_to_tensor(2 * factor * keras.ops.convert_to_numpy(w))], [w])
            path.append(np.array(keras.ops.convert_to_numpy(w)))
        add("optimizer." + name, [start, factor], path)
    for name, arguments in SCHEDULES.items():
        schedule = getattr(keras.optimizers.schedules, name)(*arguments)
        steps = np.arange(0, 15, dtype=np.float64)
        add("schedule." + name, [steps], np.array([float(schedule(s)) for s in steps]))


def regularizers():
    x = numbers(-2, 2, 4, 3)
    for name in ("L1", "L2", "L1L2"):
        add("regularizer." + name, [x], getattr(keras.regularizers, name)()(x))
    for name in ("MaxNorm", "NonNeg", "UnitNorm", "MinMaxNorm"):
        add("constraint." + name, [x], getattr(keras.constraints, name)()(x))


def initializers():
    """The mean, the standard deviation and the largest magnitude of 10^6 numbers, for a matrix and two filters."""
    for name in INITIALIZERS:
        for shape in ((500, 2000), (5, 5, 100, 400), (10, 10, 1000, 10)):
            x = np.array(getattr(keras.initializers, name)(seed=1)(shape, dtype="float64"))
            add("initializer." + name, [np.array(shape, dtype=np.float64)], [np.array([x.mean(), x.std(), abs(x).max()])])
    x = np.array(keras.initializers.Orthogonal(seed=1)((4, 6), dtype="float64"))
    add("initializer.Orthogonal", [np.array([4.0, 6.0])], [x @ x.T])


def defaults():
    """Lines `Class.option value` of the options that are numbers or truth values (0 and 1)."""
    owners = ([("losses", n) for n in LOSSES] + [("metrics", n) for n in METRICS] + [("optimizers", n) for n in OPTIMIZERS] +
              [("layers", n) for n in LAYERS] + [("optimizers.schedules", n) for n in SCHEDULES] +
              [("initializers", n) for n in INITIALIZERS + ["Orthogonal", "Identity"]] +
              [("regularizers", n) for n in ("L1", "L2", "L1L2")] +
              [("constraints", n) for n in ("MaxNorm", "UnitNorm", "MinMaxNorm")] +
              [("layers", n) for n in ("Attention", "AdditiveAttention", "MultiHeadAttention", "Discretization",
                                       "CategoryEncoding", "IntegerLookup", "RandomFlip", "Concatenate", "Dot")])
    lines = []
    for module, name in owners:
        cls = getattr(eval("keras." + module), name)
        for option, parameter in inspect.signature(cls.__init__).parameters.items():
            value = parameter.default
            if isinstance(value, (bool, int, float)):
                lines.append(f"{module}.{name}.{option} {float(value):.17g}")
    (FOLDER / "keras_defaults.txt").write_text(
        f"# Made by make_keras.py from Keras {keras.__version__}.\n" + "\n".join(lines) + "\n")
    print(len(lines), "defaults")


def main():
    keras.config.set_floatx("float64")
    keras.utils.set_random_seed(1)
    for make in (activations, losses, metrics, layers, optimizers, regularizers, initializers, defaults):
        make()
    np.savez_compressed(FOLDER / "keras.npz", **ARRAYS)
    print(sum(COUNTS.values()), "cases", (FOLDER / "keras.npz").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
