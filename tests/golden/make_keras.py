"""Makes keras.npz and keras_defaults.txt: what Keras 3 computes, in double precision, with the default options of its
activations, losses, metrics, layers, optimizers, schedules and regularizers, and the bounds of what its initializers
draw; and the default values of their options. keras_image.npz, keras_strings.npz and keras_signal.npz have the layers of those components,
keras_coverage.txt has the names of all that Keras has of these kinds.

python3 -m venv v; v/bin/pip install keras tensorflow-cpu scipy; v/bin/python tests/golden/make_keras.py

Arrays are named as make.py's. A layer's inputs are x0 and its weights, in Keras' order; those of a loss or metric y_true,
y_pred and maybe the weights of the examples; those of an optimizer the first value of w, for the loss sum(w^2 w_i).
"""

import inspect
import os
import pathlib
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras  # noqa: E402
import make_keras_seeded  # noqa: E402
import numpy as np  # noqa: E402

FOLDER = pathlib.Path(__file__).parent
RANDOM = np.random.default_rng(20)
ARRAYS, COUNTS = {}, {}
FILES = {"keras": ARRAYS, "keras_image": {}, "keras_strings": {}, "keras_signal": {}}


def numbers(low, high, *shape):
    """Doubles that float32 represents too, so that both precisions get the same inputs."""
    return RANDOM.uniform(low, high, size=shape).astype(np.float32).astype(np.float64)


def add(name, inputs, outputs, arrays_of=ARRAYS):
    case = f"{name}:{COUNTS.get(name, 0)}"
    COUNTS[name] = COUNTS.get(name, 0) + 1
    for kind, arrays in (("x", inputs), ("y", outputs if isinstance(outputs, (list, tuple)) else [outputs])):
        for i, a in enumerate(arrays):
            arrays_of[f"{case}/{kind}{i}"] = np.asarray(keras.ops.convert_to_numpy(a))


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
# What was added later: drawn behind the others, whose numbers stay as they are.
METRICS_OF_CLASSES = {"MeanIoU": (3,), "IoU": (3, (0, 2)), "OneHotIoU": (3, (0, 2)), "OneHotMeanIoU": (3,), "BinaryIoU": ()}
METRICS_AT = ["SensitivityAtSpecificity", "SpecificityAtSensitivity", "PrecisionAtRecall", "RecallAtPrecision"]
OTHER_METRICS = ["Mean", "Sum", "MeanMetricWrapper", "PearsonCorrelation", "ConcordanceCorrelation"]
OTHER_LOSSES = ["Dice", "Tversky", "CategoricalGeneralizedCrossEntropy", "CTC"]
OTHER_OPTIMIZERS = ["Lion"]
TEXT_OPTIONS = [{}, {"output_sequence_length": 3}, {"output_sequence_length": 9}, {"output_mode": "multi_hot"},
                {"output_mode": "count"}, {"output_mode": "tf_idf"}, {"ngrams": 2}, {"ngrams": (2,), "output_mode": "count"},
                {"split": "character", "standardize": "lower"}, {"max_tokens": 4}, {"max_tokens": 4, "output_mode": "count"},
                {"standardize": None}, {"standardize": "strip_punctuation"},
                {"max_tokens": 12, "output_mode": "tf_idf", "pad_to_max_tokens": True}]
VOLUME = (1, 4, 5, 6, 2)
OTHER_LAYERS = {
    "Activation": (("tanh",), (3, 7)), "Reshape": (((6, 2),), (2, 3, 4)), "Permute": (((2, 1),), (2, 3, 4)),
    "RepeatVector": ((3,), (2, 4)), "Conv3DTranspose": ((2, 2), (1, 3, 3, 4, 2)), "MaxPooling3D": ((2,), VOLUME),
    "AveragePooling3D": ((2,), VOLUME), "GlobalMaxPooling2D": ((), (2, 7, 6, 3)), "GlobalMaxPooling3D": ((), VOLUME),
    "GlobalAveragePooling1D": ((), (2, 7, 3)), "GlobalAveragePooling3D": ((), VOLUME),
    "AdaptiveAveragePooling1D": ((3,), (2, 7, 3)), "AdaptiveAveragePooling2D": ((3,), (2, 7, 5, 3)),
    "AdaptiveAveragePooling3D": ((2,), VOLUME), "AdaptiveMaxPooling1D": ((3,), (2, 7, 3)),
    "AdaptiveMaxPooling2D": ((3,), (2, 7, 5, 3)), "AdaptiveMaxPooling3D": ((2,), VOLUME), "UpSampling3D": ((2,), (1, 2, 3, 2, 2)),
    "ZeroPadding3D": ((1,), (1, 2, 3, 2, 2)), "Cropping3D": ((1,), VOLUME), "Dropout": ((0.3,), (3, 4)),
    "SpatialDropout1D": ((0.3,), (2, 3, 4)), "SpatialDropout2D": ((0.3,), (2, 3, 4, 2)), "SpatialDropout3D": ((0.3,), VOLUME),
    "GaussianNoise": ((0.5,), (3, 4)), "GaussianDropout": ((0.3,), (3, 4)), "AlphaDropout": ((0.3,), (3, 4)),
    "RandomFlip": ((), (2, 4, 5, 3)),
}
MERGING = {"Add": (), "Subtract": (), "Multiply": (), "Average": (), "Maximum": (), "Minimum": (), "Concatenate": (), "Dot": (1,)}
NOISES = {"Dropout": 0.3, "GaussianNoise": 0.5, "GaussianDropout": 0.3, "AlphaDropout": 0.3}
RANDOM_IMAGES = {"RandomRotation": (0.2,), "RandomTranslation": (0.2, 0.2), "RandomZoom": (0.2,), "RandomContrast": (0.2,),
                 "RandomBrightness": (0.2,), "CenterCrop": (3, 4)}


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


def steps_of(name, start, factor, kind=None):
    optimizer, w, path = (kind or getattr(keras.optimizers, name))(), keras.Variable(start, dtype="float64"), []
    for _ in range(4):
        optimizer.apply([keras.ops.convert_to_tensor(2 * factor * keras.ops.convert_to_numpy(w))], [w])
        path.append(np.array(keras.ops.convert_to_numpy(w)))
    add("optimizer." + name, [start, factor], path)


def optimizers():
    start, factor = numbers(-2, 2, 4), np.array([1.0, 0.5, 2.0, 3.0])
    for name in OPTIMIZERS:
        steps_of(name, start, factor)
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


def other_activations():
    x = numbers(-6, 6, 3, 7)
    add("activation.linear", [x], keras.activations.linear(keras.ops.convert_to_tensor(x)))


def other_losses():
    for name in OTHER_LOSSES:
        t, p = pairs("Sparse" if name.startswith("Categorical") else "Binary")
        if name == "CTC":
            t, p = np.array([[1, 2, 2], [3, 1, 0]]), numbers(-2, 2, 2, 6, 4)
        add("loss." + name, [t, p], getattr(keras.losses, name)()(t, p))


def other_metrics():
    for name, arguments in METRICS_OF_CLASSES.items():
        m, inputs = getattr(keras.metrics, name)(*arguments), []
        for _ in range(2):
            t, p = RANDOM.integers(0, 3, size=8), RANDOM.integers(0, 3, size=8)
            if name.startswith("OneHot"):
                t, p = np.eye(3)[t], numbers(0, 1, 8, 3)
            if name.startswith("Binary"):
                t, p = t % 2, numbers(0, 1, 8)
            m.update_state(t, p)
            inputs += [t, p]
        add("metric." + name, inputs, m.result())
    for name in METRICS_AT + OTHER_METRICS:
        arguments = [0.5] if name in METRICS_AT else [keras.losses.mean_absolute_error] if name == "MeanMetricWrapper" else []
        m, inputs = getattr(keras.metrics, name)(*arguments), []
        for _ in range(2):
            t, p = pairs("Binary" if name in METRICS_AT else name)
            if name in ("Mean", "Sum"):
                m.update_state(p, t[:, 0])
                t = t[:, 0]
            else:
                m.update_state(t, p)
            inputs += [t, p]
        add("metric." + name, inputs, m.result())


def weighted(name, layer, inputs, call=None):
    """A case of a layer whose weights are drawn."""
    call = call or (lambda: layer(*inputs))
    call()
    values = [numbers(-1, 1, *w.shape) for w in layer.weights]
    layer.set_weights(values)
    add("layer." + name, [*inputs, *values], keras.ops.cast(call(), "float64"))


def other_layers():
    for name, (arguments, shape) in OTHER_LAYERS.items():
        # TensorFlow pools volumes in float32 only.
        layer = getattr(keras.layers, name)(*arguments, **({"dtype": "float32"} if "Pooling3D" in name and "Global" not in name else {}))
        x = numbers(-2, 2, *shape)
        weighted(name, layer, [x], (lambda: layer(x, training=False)) if name == "RandomFlip" else None)
    for name, arguments in MERGING.items():
        layer = getattr(keras.layers, name)(*([] if not arguments else [arguments[0]]))
        a, b = numbers(-2, 2, 3, 4), numbers(-2, 2, 3, 4)
        weighted(name, layer, [a, b], lambda: layer([a, b]))
    query, value = numbers(-2, 2, 2, 3, 4), numbers(-2, 2, 2, 5, 4)
    for layer in (keras.layers.Attention(), keras.layers.AdditiveAttention(), keras.layers.MultiHeadAttention(2, 3)):
        weighted(type(layer).__name__, layer, [query, value], lambda: layer([query, value]) if "Multi" not in type(layer).__name__ else layer(query, value))
    x, h, c = numbers(-2, 2, 2, 3), numbers(-1, 1, 2, 4), numbers(-1, 1, 2, 4)
    for name in ("SimpleRNNCell", "LSTMCell", "GRUCell"):
        layer, states = getattr(keras.layers, name)(4), [h, c] if name == "LSTMCell" else [h]
        weighted(name, layer, [x, *states], lambda: layer(x, states)[0])
    x = numbers(-2, 2, 2, 5, 3)
    weighted("RNN", keras.layers.RNN(keras.layers.SimpleRNNCell(4)), [x])
    weighted("StackedRNNCells", keras.layers.RNN(keras.layers.StackedRNNCells([keras.layers.LSTMCell(4), keras.layers.GRUCell(2)])), [x])
    weighted("Bidirectional", keras.layers.Bidirectional(keras.layers.LSTM(4)), [x])
    weighted("TimeDistributed", keras.layers.TimeDistributed(keras.layers.Dense(2)), [x])
    x[:, 3:] = 0
    add("layer.Masking", [x], [keras.layers.Masking()(x), keras.layers.Masking().compute_mask(x)])
    layer = keras.layers.ActivityRegularization(0.1, 0.2)
    add("layer.ActivityRegularization", [x], [layer(x), layer.losses[0]])


def preprocessing_layers():
    x = numbers(-2, 2, 40, 3)
    layer = keras.layers.Normalization()
    layer.adapt(x)
    add("layer.Normalization", [x], layer(x))
    layer = keras.layers.Discretization(num_bins=5)
    layer.adapt(x)
    others = numbers(-2, 2, 40, 3)
    add("layer.Discretization", [x, others], [layer(others), layer.bin_boundaries])
    add("layer.Discretization", [x], keras.layers.Discretization([-1.0, 0.0, 0.5], output_mode="one_hot")(x[:, 0]))
    ids = RANDOM.integers(0, 5, size=(6, 3))
    for mode in ("multi_hot", "one_hot", "count"):
        add("layer.CategoryEncoding", [ids], keras.layers.CategoryEncoding(5, output_mode=mode)(ids[:, 0] if mode == "one_hot" else ids))
    layer = keras.layers.IntegerLookup()
    layer.adapt(ids)
    add("layer.IntegerLookup", [ids], layer(ids + 1))


def noises():
    """The mean and the standard deviation of 10^6 ones behind the layers that disturb."""
    for name, rate in NOISES.items():
        y = np.array(getattr(keras.layers, name)(rate, seed=1)(np.ones((1000, 1000)), training=True))
        add("noise." + name, [np.array(rate)], [np.array([y.mean(), y.std()])])


def other_initializers():
    for shape in ((500, 2000), (5, 5, 100, 400), (10, 10, 1000, 10)):
        x = np.array(keras.initializers.VarianceScaling(seed=1)(shape, dtype="float64"))
        add("initializer.VarianceScaling", [np.array(shape, dtype=np.float64)], [np.array([x.mean(), x.std(), abs(x).max()])])
    for name in ("Zeros", "Ones", "Constant", "Identity"):
        add("initializer." + name, [np.array([3.0, 3.0])], getattr(keras.initializers, name)()((3, 3), dtype="float64"))


def other_training():
    start, factor = numbers(-2, 2, 4), np.array([1.0, 0.5, 2.0, 3.0])
    for name in OTHER_OPTIMIZERS:
        steps_of(name, start, factor)
    x = numbers(-2, 2, 4, 3)
    add("regularizer.OrthogonalRegularizer", [x], keras.regularizers.OrthogonalRegularizer()(x.astype(np.float32)))


def seeded():
    """Each case of make_keras_seeded.py is drawn by a generator of its own, so that the other numbers stay as they are."""
    global RANDOM
    others = RANDOM
    for seed, make in enumerate(make_keras_seeded.CASES, 21):
        RANDOM = np.random.default_rng(seed)
        make(sys.modules[__name__])
    RANDOM = others


def images():
    """At inference, where the random layers change nothing."""
    x = numbers(0, 255, 2, 5, 6, 3)
    for name, arguments in RANDOM_IMAGES.items():
        layer = getattr(keras.layers, name)(*arguments)
        y = layer(x) if name == "CenterCrop" else layer(x, training=False)
        add("layer." + name, [x], keras.ops.cast(y, "float64"), FILES["keras_image"])


def texts():
    """Of the texts of with_strings_keras_test.cpp."""
    data = np.array(["The cat, the dog!", "a dog; a CAT  and a bird.", "", "bird"])
    for options in TEXT_OPTIONS:
        layer = keras.layers.TextVectorization(**options)
        layer.adapt(data)
        add("layer.TextVectorization", [], keras.ops.cast(layer(data[[1, 0, 3, 2]]), "float64"), FILES["keras_strings"])


def coverage():
    """Lines `kind.Name`, and `kind.Alias Name` for other names of the same thing."""
    lines = [f"# Made by make_keras.py: what Keras {keras.__version__} has."]
    for kind in ("activations", "constraints", "initializers", "layers", "losses", "metrics", "optimizers", "optimizers.schedules",
                 "regularizers"):
        module = eval("keras." + kind)
        of_kind = callable if kind == "activations" else inspect.isclass
        found = {n: getattr(module, n) for n in sorted(dir(module)) if n[0] != "_" and of_kind(getattr(module, n))}
        for name, value in found.items():
            is_alias = value.__name__ != name and found.get(value.__name__) is value
            lines.append(f"{kind}.{name}" + (f" {value.__name__}" if is_alias else ""))
    (FOLDER / "keras_coverage.txt").write_text("\n".join(lines) + "\n")
    print(len(lines) - 1, "names")


def defaults():
    """Lines `Class.option value` of the options that are numbers or truth values (0 and 1)."""
    owners = ([("losses", n) for n in LOSSES] + [("metrics", n) for n in METRICS] + [("optimizers", n) for n in OPTIMIZERS] +
              [("layers", n) for n in LAYERS] + [("optimizers.schedules", n) for n in SCHEDULES] +
              [("initializers", n) for n in INITIALIZERS + ["Orthogonal", "Identity"]] +
              [("regularizers", n) for n in ("L1", "L2", "L1L2")] +
              [("constraints", n) for n in ("MaxNorm", "UnitNorm", "MinMaxNorm")] +
              [("layers", n) for n in ("Attention", "AdditiveAttention", "MultiHeadAttention", "Discretization",
                                       "CategoryEncoding", "IntegerLookup", "RandomFlip", "Concatenate", "Dot")] +
              [("losses", n) for n in OTHER_LOSSES] + [("metrics", n) for n in [*METRICS_OF_CLASSES, *METRICS_AT, *OTHER_METRICS]] +
              [("optimizers", n) for n in OTHER_OPTIMIZERS] + [("initializers", "VarianceScaling"), ("initializers", "Constant")] +
              [("regularizers", "OrthogonalRegularizer")] +
              [("layers", n) for n in [*OTHER_LAYERS, *RANDOM_IMAGES, "TextVectorization", "StringLookup", "Masking", "Normalization",
                                       "RNN", "LSTMCell", "GRUCell", "SimpleRNNCell", "ActivityRegularization"] if n != "RandomFlip"] +
              make_keras_seeded.CLASSES)
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
    for make in (activations, losses, metrics, layers, optimizers, regularizers, initializers, other_activations, other_losses,
                 other_metrics, other_layers, preprocessing_layers, noises, other_initializers, other_training, seeded, images, texts, defaults,
                 coverage):
        make()
    for name, arrays in FILES.items():
        if arrays:
            np.savez_compressed(FOLDER / f"{name}.npz", **arrays)
            print(name, len(arrays), "arrays", (FOLDER / f"{name}.npz").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
