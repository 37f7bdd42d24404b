"""TensorFlow with tf.function, without (@function) and with (@xla) jit_compile: Keras's layers and its Adam."""

import functools
import os

import worker
from work import CHAIN, CHAIN_GRADIENT, GELU, chain, chain_operands, gelu
from work import CharRnn, Lstm, Mlp, MnistCnn, SkipGram, TransformerBlock

_options = worker.options()
worker.stay_on(_options.threads)
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf
import tensorflow_data
import tensorflow_summary
from tensorflow import keras

tf.config.threading.set_intra_op_parallelism_threads(_options.threads)
tf.config.threading.set_inter_op_parallelism_threads(_options.threads)


def _add(name, make):
    """Registers make(wrap) for both ways to run it."""
    worker.case(name + "@function")(functools.partial(make, tf.function))
    worker.case(name + "@xla")(functools.partial(make, functools.partial(tf.function, jit_compile=True)))


def _calls(f, operands, wrap):
    f, operands = wrap(f), [tf.constant(o) for o in operands]
    run = lambda: f(*operands)
    return worker.Work(run, run)


def _chain_gradient(x, b):
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = tf.reduce_sum(chain(x, b))
    return tape.gradient(value, x)


def _training(wrap, work, model, loss, inputs, compared, clip=None):
    """Training; compared() lists the variables whose gradients are compared; None: compare several losses instead."""
    inputs = [tf.constant(i) for i in inputs]
    variables = model.trainable_variables
    make, decay = keras.optimizers.Adam, {}
    if hasattr(work, "decay"):
        make, decay = keras.optimizers.AdamW, {"weight_decay": work.decay}
    adam = make(work.learning_rate, epsilon=work.epsilon, **decay)
    adam.build(variables)
    places = [next(i for i, v in enumerate(variables) if v is wanted) for wanted in compared] if compared else []

    @wrap
    def step(*inputs):
        with tf.GradientTape() as tape:
            value = loss(*inputs)
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(value, variables)]
        if clip:
            gradients, _ = tf.clip_by_global_norm(gradients, clip)
        adam.apply_gradients(zip(gradients, variables))
        return [value] + [gradients[i] for i in places]

    def run():
        values = step(*inputs)
        values[0].numpy()  # waits
        return values

    def result():
        return worker.flat(*run()) if compared else worker.flat(*(run()[0] for _ in range(work.checked_steps)))

    return worker.Work(run, result)


def _cross_entropy(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def _mlp(wrap):
    activations = ["relu"] * (len(Mlp.widths) - 2) + [None]
    model = keras.Sequential([keras.layers.Dense(n, a) for n, a in zip(Mlp.widths[1:], activations)])
    x, y = Mlp.inputs()
    model(x)  # creates the variables
    for layer, kernel in zip(model.layers, Mlp.kernels()):
        layer.kernel.assign(kernel)
    return _training(wrap, Mlp, model, lambda x, y: _cross_entropy(model(x, training=True), y), (x, y), None)


def _cnn(wrap):
    convolution = lambda filters: keras.layers.Conv2D(filters, MnistCnn.window, padding="same", activation="relu")
    convolutions = [convolution(filters) for filters in MnistCnn.channels[1:]]
    dense = [keras.layers.Dense(MnistCnn.dense[1], "relu"), keras.layers.Dense(MnistCnn.dense[2])]
    pooled = [layer for c in convolutions for layer in (c, keras.layers.MaxPooling2D())]
    model = keras.Sequential([*pooled, keras.layers.Flatten(), *dense])
    x, y = MnistCnn.inputs()
    model(x)
    for layer, kernel in zip(convolutions + dense, MnistCnn.filters() + MnistCnn.kernels()):
        layer.kernel.assign(kernel)
    return _training(wrap, MnistCnn, model, lambda x, y: _cross_entropy(model(x, training=True), y), (x, y), None)


def _skip_gram(wrap):
    inputs = [tf.constant(i) for i in SkipGram.inputs()]
    u, v = (tf.Variable(t) for t in SkipGram.tables())

    @wrap
    def step(words, near, noise):
        with tf.GradientTape() as tape:
            x = tf.gather(u, words)
            positive = tf.reduce_sum(x * tf.gather(v, near), 1)
            negative = tf.matmul(x, tf.gather(v, noise), transpose_b=True)
            scores = tf.reduce_sum(tf.math.log_sigmoid(positive)) + tf.reduce_sum(tf.math.log_sigmoid(-negative))
            loss = -scores / SkipGram.batch
        for table, rows in zip((u, v), tape.gradient(loss, (u, v))):
            table.scatter_sub(tf.IndexedSlices(SkipGram.learning_rate * rows.values, rows.indices))
        return loss

    run = lambda: step(*inputs).numpy()  # waits

    def result():
        run()
        return worker.flat(tf.gather(u, inputs[0]), tf.gather(v, inputs[2]))

    return worker.Work(run, result)


class _Block(keras.Model):
    def __init__(self):
        super().__init__(name="block")
        self.dense = [keras.layers.Dense(kernel.shape[1]) for kernel in TransformerBlock.kernels()]
        self.norms = [keras.layers.LayerNormalization(epsilon=TransformerBlock.norm_epsilon) for _ in range(2)]

    def attention(self, x):
        work = TransformerBlock
        split = tf.reshape(self.dense[0](x), (work.batch, work.tokens, 3, work.heads, work.width // work.heads))
        q, k, v = tf.unstack(split, axis=2)
        mixed = keras.ops.dot_product_attention(q, k, v)
        return self.dense[1](tf.reshape(mixed, x.shape))

    def call(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.dense[3](tf.nn.gelu(self.dense[2](self.norms[1](x))))


def _block(wrap):
    model, x = _Block(), TransformerBlock.x()
    model(x)
    for layer, kernel in zip(model.dense, TransformerBlock.kernels()):
        layer.kernel.assign(kernel)
    return _training(wrap, TransformerBlock, model, lambda x: tf.reduce_mean(tf.square(model(x))), [x], None)


def _batch_first(array):
    return array.swapaxes(0, 1).copy()


def _lstm(wrap):
    x = _batch_first(Lstm.x())
    layer = keras.layers.LSTM(Lstm.units, return_sequences=True)
    layer(x)
    layer.set_weights(Lstm.weights())
    compared = [layer.cell.kernel, layer.cell.recurrent_kernel]
    return _training(wrap, Lstm, layer, lambda x: tf.reduce_sum(layer(x, training=True)), [x], compared)


def _char_rnn(wrap):
    x, y = (_batch_first(i) for i in CharRnn.inputs())
    embedding = keras.layers.Embedding(CharRnn.symbols, CharRnn.units)
    layers = [keras.layers.LSTM(CharRnn.units, return_sequences=True) for _ in range(CharRnn.layers)]
    dense = keras.layers.Dense(CharRnn.symbols)
    model = keras.Sequential([embedding, *layers, dense])
    model(x)
    embedding.set_weights([CharRnn.embedding()])
    for i, layer in enumerate(layers):
        layer.set_weights(CharRnn.layer(i))
    dense.kernel.assign(CharRnn.output())
    loss = lambda x, y: _cross_entropy(model(x, training=True), y)
    return _training(wrap, CharRnn, model, loss, (x, y), [embedding.embeddings, dense.kernel], CharRnn.clip)


_add(CHAIN, lambda wrap: _calls(chain, chain_operands(), wrap))
_add(CHAIN_GRADIENT, lambda wrap: _calls(_chain_gradient, chain_operands(), wrap))
for _name, _count in GELU.items():
    _add(_name, lambda wrap, count=_count: _calls(gelu(tf.tanh), [worker.normal(count, 1)], wrap))
_add(Mlp.name, _mlp)
_add(Lstm.name, _lstm)
_add(MnistCnn.name, _cnn)
_add(SkipGram.name, _skip_gram)
_add(TransformerBlock.name, _block)
_add(CharRnn.name, _char_rnn)
tensorflow_data.add_cases(_options.threads)
tensorflow_summary.add_cases()
worker.serve()
