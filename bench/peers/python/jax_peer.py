"""JAX with jit: complete training steps with Adam by hand and donated state; LSTMs as a scan."""

import os

import worker
from work import CHAIN, CHAIN_GRADIENT, GELU, chain, chain_operands, gelu
from work import CharRnn, Lstm, Mlp, MnistCnn, SkipGram, TransformerBlock

_options = worker.options()
worker.stay_on(_options.threads)
os.environ["JAX_PLATFORMS"] = "cpu"
if _options.threads == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import jax
from jax import numpy as jnp


def _calls(f, *operands):
    f, operands = jax.jit(f), [jnp.asarray(o) for o in operands]
    run = lambda: jax.block_until_ready(f(*operands))
    return worker.Work(run, run)


@worker.case(CHAIN + "@jit")
def _chain():
    return _calls(chain, *chain_operands())


@worker.case(CHAIN_GRADIENT + "@jit")
def _chain_gradient():
    return _calls(jax.grad(lambda x, b: chain(x, b).sum()), *chain_operands())


for _name, _count in GELU.items():
    worker.case(_name + "@jit")(lambda count=_count: _calls(gelu(jnp.tanh), worker.normal(count, 1)))


def _adam(work, parameters, gradients, moments, count):
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], gradients)
    correct_1, correct_2 = 1 - 0.9**count, jnp.sqrt(1 - 0.999**count)
    kept = 1 - work.learning_rate * getattr(work, "decay", 0)
    update = lambda p, m, v: p * kept - work.learning_rate / correct_1 * m / (jnp.sqrt(v) / correct_2 + work.epsilon)
    return jax.tree.map(update, parameters, first, second), (first, second)


def _clipped(gradients, norm):
    total = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(gradients)))
    return jax.tree.map(lambda g: g * norm / jnp.maximum(total, norm), gradients)


def _training(work, parameters, loss, inputs, compared, clip=None):
    """Training; compared(gradients) lists what is compared besides the loss; None: compare several losses instead."""
    parameters = jax.tree.map(jnp.asarray, parameters)
    inputs = [jnp.asarray(i) for i in inputs]
    zeros = lambda: jax.tree.map(jnp.zeros_like, parameters)

    def step(state, *inputs):
        weights, moments, count = state
        value, gradients = jax.value_and_grad(loss)(weights, *inputs)
        if clip:
            gradients = _clipped(gradients, clip)
        weights, moments = _adam(work, weights, gradients, moments, count + 1)
        return (weights, moments, count + 1), [value] + (compared(gradients) if compared else [])

    step = jax.jit(step, donate_argnums=0)
    state = (parameters, (zeros(), zeros()), jnp.float32(0))

    def run():
        nonlocal state
        state, values = step(state, *inputs)
        jax.block_until_ready((state, values))
        return values

    def result():
        return worker.flat(*run()) if compared else worker.flat(*(run()[0] for _ in range(work.checked_steps)))

    return worker.Work(run, result)


def _cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


def _dense(layers, x):
    """Layers of a kernel and a bias each, with relu between them."""
    for kernel, bias in layers[:-1]:
        x = jax.nn.relu(x @ kernel + bias)
    kernel, bias = layers[-1]
    return x @ kernel + bias


def _with_biases(kernels):
    return [(k, worker.np.zeros(k.shape[-1], worker.np.float32)) for k in kernels]


@worker.case(Mlp.name + "@jit")
def _mlp():
    loss = lambda layers, x, y: _cross_entropy(_dense(layers, x), y)
    return _training(Mlp, _with_biases(Mlp.kernels()), loss, Mlp.inputs(), None)


@worker.case(MnistCnn.name + "@jit")
def _cnn():
    window, layout = (1, 2, 2, 1), ("NHWC", "HWIO", "NHWC")

    def loss(parameters, x, y):
        for kernel, bias in parameters["convolutions"]:
            x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=layout)
            x = jax.lax.reduce_window(jax.nn.relu(x + bias), -jnp.inf, jax.lax.max, window, window, "VALID")
        return _cross_entropy(_dense(parameters["dense"], x.reshape(len(x), -1)), y)

    parameters = {"convolutions": _with_biases(MnistCnn.filters()), "dense": _with_biases(MnistCnn.kernels())}
    return _training(MnistCnn, parameters, loss, MnistCnn.inputs(), None)


@worker.case(SkipGram.name + "@jit")
def _skip_gram():
    words, near, noise = [jnp.asarray(i) for i in SkipGram.inputs()]

    def loss(x, positive, negative):  # of rows, so that gradients are of rows, too
        scores = (x * positive).sum(1), x @ negative.T
        return -(jax.nn.log_sigmoid(scores[0]).sum() + jax.nn.log_sigmoid(-scores[1]).sum()) / SkipGram.batch

    def step(tables, words, near, noise):
        u, v = tables
        value, (x, positive, negative) = jax.value_and_grad(loss, (0, 1, 2))(u[words], v[near], v[noise])
        rate = -SkipGram.learning_rate
        return (u.at[words].add(rate * x), v.at[near].add(rate * positive).at[noise].add(rate * negative)), value

    step = jax.jit(step, donate_argnums=0)
    tables = tuple(jnp.asarray(t) for t in SkipGram.tables())

    def run():
        nonlocal tables
        tables, value = step(tables, words, near, noise)
        jax.block_until_ready((tables, value))

    def result():
        run()
        return worker.flat(tables[0][words], tables[1][noise])

    return worker.Work(run, result)


def _layer_norm(x, scale, offset):
    centred = x - jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(centred * centred, -1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + TransformerBlock.norm_epsilon) * scale + offset


@worker.case(TransformerBlock.name + "@jit")
def _transformer():
    work, ones = TransformerBlock, worker.np.ones(TransformerBlock.width, worker.np.float32)

    def attention(x, qkv, out):
        split = _dense([qkv], x).reshape(work.batch, work.tokens, 3, work.heads, -1)
        mixed = jax.nn.dot_product_attention(split[:, :, 0], split[:, :, 1], split[:, :, 2])
        return _dense([out], mixed.reshape(x.shape))

    def loss(parameters, x):
        (qkv, out, up, down), norms = parameters["dense"], parameters["norms"]
        x = x + attention(_layer_norm(x, *norms[0]), qkv, out)
        x = x + _dense([down], jax.nn.gelu(_dense([up], _layer_norm(x, *norms[1])), approximate=False))
        return jnp.mean(x * x)

    parameters = {"dense": _with_biases(work.kernels()), "norms": [(ones, 0 * ones) for _ in range(2)]}
    return _training(work, parameters, loss, [work.x()], None)


def _lstm_outputs(weights, x):
    """[t, b, i] -> [t, b, u]; the input products for all steps at once."""
    kernel, recurrent, bias = weights

    def step(carry, projected):
        h, c = carry
        i, f, g, o = jnp.split(projected + h @ recurrent, 4, 1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((x.shape[1], recurrent.shape[0]))
    return jax.lax.scan(step, (zero, zero), x @ kernel + bias)[1]


@worker.case(Lstm.name + "@jit")
def _lstm():
    loss = lambda weights, x: _lstm_outputs(weights, x).sum()
    return _training(Lstm, Lstm.weights(), loss, [Lstm.x()], lambda gradients: list(gradients[:2]))


@worker.case(CharRnn.name + "@jit")
def _char_rnn():
    def loss(parameters, x, y):
        h = parameters["embedding"][x]
        for layer in parameters["layers"]:
            h = _lstm_outputs(layer, h)
        return _cross_entropy(h @ parameters["kernel"] + parameters["bias"], y)

    parameters = {
        "embedding": CharRnn.embedding(),
        "layers": [CharRnn.layer(i) for i in range(CharRnn.layers)],
        "kernel": CharRnn.output(),
        "bias": worker.np.zeros(CharRnn.symbols, worker.np.float32),
    }
    compared = lambda gradients: [gradients["embedding"], gradients["kernel"]]
    return _training(CharRnn, parameters, loss, CharRnn.inputs(), compared, CharRnn.clip)


worker.serve()
