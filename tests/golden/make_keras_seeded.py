"""Cases of make_keras.py that are each drawn by a generator with a seed of its own: EinsumDense, Circle, the optimizers of
matrices, ScheduleFreeAdamW, SpectralNormalization, ConvLSTM, hashes, gated and grouped attention, ReversibleEmbedding,
spectrograms. make_keras.py calls these functions with itself."""

import functools

import keras
import numpy as np

EQUATIONS = [("ab,bc->ac", 5, None, (3, 7)), ("abc,cd->abd", (None, 4), "d", (2, 3, 5)),
             ("abc,cde->abde", (None, 2, 3), "de", (2, 4, 5)), ("abc,dce->aebd", (3, None, 2), "ed", (2, 4, 5)),
             ("...x,xy->...y", 4, "y", (2, 3, 2, 5)), ("abc...,cd->abd...", (None, 4), "d", (2, 3, 5, 2, 2))]
HASHING_OPTIONS = [{"num_bins": 2**53 - 111}, {"num_bins": 2**53 - 111, "salt": 133}, {"num_bins": 2**53 - 111, "salt": (133, 137)},
                   {"num_bins": 3}, {"num_bins": 3, "mask_value": ""}, {"num_bins": 4, "output_mode": "one_hot"},
                   {"num_bins": 4, "output_mode": "multi_hot"}, {"num_bins": 4, "salt": 7, "output_mode": "count"}]
# Those whose options keras_defaults.txt has; ConvLSTM1D and ConvLSTM3D have those of ConvLSTM2D.
CLASSES = [("losses", "Circle"), ("optimizers", "Adafactor"), ("optimizers", "Muon"), ("optimizers", "ScheduleFreeAdamW"),
           ("layers", "SpectralNormalization"), ("layers", "Hashing"), ("layers", "HashedCrossing"), ("layers", "ConvLSTM2D"),
           ("layers", "GroupQueryAttention"), ("layers", "ReversibleEmbedding"), ("layers", "MelSpectrogram"),
           ("layers", "STFTSpectrogram")]
GROUPED = [{"use_causal_mask": True}, {"sliding_window": 2}, {"use_gate": True}, {"use_bias": False}]
REVERSIBLE = [{}, {"tie_weights": False}, {"logit_soft_cap": 0.5}]
# MelSpectrogram of 70 samples, and STFTSpectrogram of two channels.
MEL = [{}, {"window": "hamming", "sequence_length": 12}, {"window": None, "power_to_db": False, "mag_exp": 1.0},
       {"mag_exp": 1.5, "ref_power": np.float64(4), "top_db": 20.0, "max_freq": 700.0}]
STFT = [{"mode": mode} for mode in ("log", "magnitude", "psd", "real", "imag", "angle", "stft")] + [
    {"window": "hamming", "periodic": True, "scaling": "spectrum", "padding": "same", "frame_step": 3},
    {"window": None, "expand_dims": True}, {"scaling": None, "mode": "real", "expand_dims": True}]


def equations(m):
    for equation, output_shape, bias_axes, shape in EQUATIONS:
        layer = keras.layers.EinsumDense(equation, output_shape, bias_axes=bias_axes)
        m.weighted("EinsumDense", layer, [m.numbers(-2, 2, *shape)])


def circles(m):
    t, p = m.RANDOM.integers(0, 3, size=8), m.numbers(-1, 1, 8, 5)
    p = (p / np.linalg.norm(p, axis=1, keepdims=True)).astype(np.float32).astype(np.float64)
    m.add("loss.Circle", [t, p], keras.losses.Circle()(t, p))


def factored_steps(m):
    for shape in ((4,), (3, 5), (2, 3, 4)):
        m.steps_of("Adafactor", m.numbers(-2, 2, *shape), m.numbers(0.5, 3, *shape))


def orthogonal_steps(m):
    for shape in ((4,), (3, 5), (5, 2)):
        m.steps_of("Muon", m.numbers(-2, 2, *shape), m.numbers(0.5, 3, *shape))


class Copied(keras.Variable):
    """A Variable whose value is a copy, which later assignments do not change."""

    @property
    def value(self):
        return keras.ops.copy(super().value)


class ScheduleFree(keras.optimizers.ScheduleFreeAdamW):
    """Keras keeps `momentum.value` as the momentum before its update. With TensorFlow that is the Variable itself, which
    changes; with a copy, Keras computes the formula that its text and the paper have."""

    def build(self, variables):
        super().build(variables)
        for momentum in self._momentums:
            momentum.__class__ = Copied

    def assign_sub(self, variable, value):
        variable._value.assign_sub(value)


def schedule_free_steps(m):
    m.steps_of("ScheduleFreeAdamW", m.numbers(-2, 2, 4), m.numbers(0.5, 3, 4), ScheduleFree)


def spectral_layers(m):
    """Two calls in training, which change the kernel and u."""
    for inner, shape in ((keras.layers.Dense(5), (3, 7)), (keras.layers.Conv2D(4, 3), (2, 5, 6, 3))):
        layer, x = keras.layers.SpectralNormalization(inner, power_iterations=2), m.numbers(-2, 2, *shape)
        layer(x)
        weights = [inner.kernel, inner.bias, layer.vector_u]
        values = [m.numbers(-1, 1, *w.shape) for w in weights]
        for w, value in zip(weights, values):
            w.assign(value)
        y = [layer(x, training=True), layer(x, training=True), layer(x)]
        m.add("layer.SpectralNormalization", [x, *values], [*y, inner.kernel.value, layer.vector_u.value])


def convolutional_recurrence(m):
    m.weighted("ConvLSTM1D", keras.layers.ConvLSTM1D(3, 2), [m.numbers(-2, 2, 2, 4, 6, 2)])
    m.weighted("ConvLSTM2D", keras.layers.ConvLSTM2D(2, 3), [m.numbers(-2, 2, 1, 4, 5, 6, 2)])
    m.weighted("ConvLSTM3D", keras.layers.ConvLSTM3D(2, 2), [m.numbers(-2, 2, 1, 3, 4, 3, 4, 2)])


def hashes(m):
    """Of the texts and numbers of with_strings_hash_test.cpp. 2^53 - 111 buckets show all bits of a hash."""
    texts = np.array([("Farmhash and siphash see " * 13)[:n] for n in [*range(0, 70), 95, 96, 127, 128, 129, 192, 193, 300]])
    words, ids = np.array([["A", "B", ""], ["C", "D", "A"]]), np.array([[1, -7, 0], [2**40, 101, 1]])
    for options in HASHING_OPTIONS:
        layer = keras.layers.Hashing(**options)
        of = [texts] if options["num_bins"] > 100 else [words] if "mask_value" in options else [words, ids]
        m.add("layer.Hashing", [], [keras.ops.cast(layer(x), "float64") for x in of], m.FILES["keras_strings"])
    for bins, mode in ((2**53 - 111, "int"), (5, "one_hot")):
        layer = keras.layers.HashedCrossing(num_bins=bins, output_mode=mode)
        of = [(words[0], ids[0]), (ids[1], words[1], ids[0])]
        m.add("layer.HashedCrossing", [], [keras.ops.cast(layer(x), "float64") for x in of], m.FILES["keras_strings"])


def grouped_attention(m):
    query, value = m.numbers(-2, 2, 2, 3, 4), m.numbers(-2, 2, 2, 5, 4)
    for options in GROUPED:
        of_call = {k: v for k, v in options.items() if k == "use_causal_mask"}
        layer = keras.layers.GroupQueryAttention(3, 4, 2, **{k: v for k, v in options.items() if k not in of_call})
        m.weighted("GroupQueryAttention", layer, [query, value], lambda: layer(query, value, **of_call))
    layer = keras.layers.MultiHeadAttention(2, 3, value_dim=5, use_gate=True)
    m.weighted("MultiHeadAttention, gated", layer, [query, value], lambda: layer(query, value))


def reversible_embeddings(m):
    ids, vectors = m.RANDOM.integers(0, 6, size=(2, 3)), m.numbers(-2, 2, 2, 3, 4)
    for options in REVERSIBLE:
        layer = keras.layers.ReversibleEmbedding(6, 4, **options)
        layer(ids)
        values = [m.numbers(-1, 1, *w.shape) for w in layer.weights]
        layer.set_weights(values)
        m.add("layer.ReversibleEmbedding", [ids.astype(np.float64), vectors, *values], [layer(ids), layer(vectors, reverse=True)])


def spectrograms(m):
    x = m.numbers(-2, 2, 2, 70)
    for options in MEL:
        layer = keras.layers.MelSpectrogram(fft_length=16, sequence_stride=5, sampling_rate=2000, num_mel_bins=4, dtype="float64",
                                            **{"ref_power": np.float64(1), **options})
        # Otherwise the weights of the bands are computed in single precision.
        layer.linear_to_mel_weight_matrix = functools.partial(layer.linear_to_mel_weight_matrix, dtype="float64")
        m.add("layer.MelSpectrogram", [x], layer(x), m.FILES["keras_signal"])
    for options in STFT:
        x = m.numbers(-2, 2, 2, 20, 2)
        layer = keras.layers.STFTSpectrogram(frame_length=6, dtype="float64", **options)
        m.add("layer.STFTSpectrogram", [x], layer(x), m.FILES["keras_signal"])


CASES = [equations, circles, factored_steps, orthogonal_steps, schedule_free_steps, spectral_layers, convolutional_recurrence,
         hashes, grouped_attention, reversible_embeddings, spectrograms]
