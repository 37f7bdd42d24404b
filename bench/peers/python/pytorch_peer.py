"""PyTorch, eager and (@compile) with torch.compile: the forward pass with its loss, and the optimizer step. LSTMs use
its layer; @compile_cells is the loop over cells that a user writes. Pictures are in the channels-last memory format."""

import functools
import os

import worker
from work import CHAIN, CHAIN_GRADIENT, GELU, chain, chain_operands, gelu
from work import CharRnn, Lstm, Mlp, MnistCnn, SkipGram, TransformerBlock

os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # huge pages for large tensors
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no compiler processes besides the worker

import pytorch_data
import pytorch_summary
import torch
from torch import nn
from torch.nn import functional

_options = worker.options()
torch.set_num_threads(_options.threads)
torch.set_num_interop_threads(1)


def _eager(f):
    return f


def _compile(f):
    torch._dynamo.reset()  # compilations of earlier cases count against its limit
    return torch.compile(f)


def _add(name, make, cells=None):
    """Registers make(wrap) for each way to run it; `cells` makes the same from cells."""
    worker.case(name)(functools.partial(make, _eager))
    worker.case(name + "@compile")(functools.partial(make, _compile))
    if cells:
        worker.case(name + "@compile_cells")(functools.partial(cells, _compile))


def _numbers(*tensors):
    return worker.flat(*(t.detach().numpy() for t in tensors))


def _parameter(values):
    return nn.Parameter(torch.from_numpy(values.copy()))


def _forward(f, operands, wrap):
    f, operands = wrap(f), [torch.from_numpy(o) for o in operands]

    def run():
        with torch.no_grad():
            return f(*operands)

    return worker.Work(run, lambda: _numbers(run()))


def _chain_gradient(wrap):
    x, b = (torch.from_numpy(o) for o in chain_operands())
    x.requires_grad_()
    f = wrap(lambda x, b: chain(x, b).sum())
    run = lambda: torch.autograd.grad(f(x, b), x)[0]
    return worker.Work(run, lambda: _numbers(run()))


def _training(wrap, work, model, loss, inputs, gradients, clip=None):
    """Training of a model; gradients() returns those to compare besides the loss; None: compare losses instead."""
    if hasattr(work, "decay"):
        decay = {"weight_decay": work.decay}
        adam = torch.optim.AdamW(model.parameters(), lr=work.learning_rate, eps=work.epsilon, **decay)
    else:
        adam = torch.optim.Adam(model.parameters(), lr=work.learning_rate, eps=work.epsilon)
    inputs = [torch.from_numpy(i) for i in inputs]
    forward, update = wrap(lambda *inputs: loss(model, *inputs)), wrap(lambda: adam.step())

    def step():
        adam.zero_grad()
        value = forward(*inputs)
        value.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        update()
        return value

    def result():
        if gradients is None:
            return _numbers(*(step() for _ in range(work.checked_steps)))
        return _numbers(step(), *gradients())

    return worker.Work(step, result)


def _linear(kernel):
    """A layer with these weights [in, out], and zeros for the bias."""
    linear = nn.Linear(*kernel.shape)
    linear.weight = _parameter(kernel.T)
    nn.init.zeros_(linear.bias)
    return linear


def _mlp(wrap):
    layers = []
    for kernel in Mlp.kernels():
        layers += [_linear(kernel), nn.ReLU()]
    loss = lambda model, x, y: functional.cross_entropy(model(x), y)
    return _training(wrap, Mlp, nn.Sequential(*layers[:-1]), loss, Mlp.inputs(), None)


class _Cells(nn.Module):
    """An LSTM as the loop that a user writes; several layers step together."""

    def __init__(self, *weights):
        super().__init__()
        self.kernels = nn.ParameterList([torch.from_numpy(worker.np.concatenate([k, r])) for k, r, _ in weights])
        self.biases = nn.ParameterList([torch.from_numpy(b) for _, _, b in weights])

    def forward(self, x):
        layers, units = len(self.kernels), self.kernels[0].shape[1] // 4
        h = [x.new_zeros(x.shape[1], units) for _ in range(layers)]
        c, outputs = list(h), []
        for value in x.unbind():
            for k in range(layers):
                gates = torch.cat((value, h[k]), 1) @ self.kernels[k] + self.biases[k]
                i, f, g, o = gates.chunk(4, 1)
                c[k] = f.sigmoid() * c[k] + i.sigmoid() * g.tanh()
                value = h[k] = o.sigmoid() * c[k].tanh()
            outputs.append(value)
        return torch.stack(outputs)


class _Layer(nn.Module):
    """The layer, from the weights of each of its layers."""

    def __init__(self, *weights):
        super().__init__()
        kernel, recurrent, _ = weights[0]
        self.lstm = nn.LSTM(kernel.shape[0], recurrent.shape[0], len(weights))
        for i, (kernel, recurrent, bias) in enumerate(weights):
            for name, values in ("weight_ih", kernel.T), ("weight_hh", recurrent.T), ("bias_ih", bias):
                getattr(self.lstm, f"{name}_l{i}").data.copy_(torch.from_numpy(values))
            getattr(self.lstm, f"bias_hh_l{i}").data.zero_()

    def forward(self, x):
        return self.lstm(x)[0]


def _lstm(wrap):
    model = _Layer(Lstm.weights())
    gradients = lambda: (model.lstm.weight_ih_l0.grad.T, model.lstm.weight_hh_l0.grad.T)
    return _training(wrap, Lstm, model, lambda model, x: model(x).sum(), [Lstm.x()], gradients)


def _lstm_cells(wrap):
    model = _Cells(Lstm.weights())
    gradients = lambda: [model.kernels[0].grad]
    return _training(wrap, Lstm, model, lambda model, x: model(x).sum(), [Lstm.x()], gradients)


class _CharModel(nn.Module):
    def __init__(self, recurrent):
        super().__init__()
        self.embedding = _parameter(CharRnn.embedding())
        self.recurrent = recurrent(*(CharRnn.layer(i) for i in range(CharRnn.layers)))
        self.kernel = _parameter(CharRnn.output().T)
        self.bias = nn.Parameter(torch.zeros(CharRnn.symbols))

    def forward(self, x):
        outputs = self.recurrent(functional.embedding(x, self.embedding))
        return functional.linear(outputs, self.kernel, self.bias)


def _char_rnn(recurrent, wrap):
    model = _CharModel(recurrent)
    loss = lambda model, x, y: functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    gradients = lambda: (model.embedding.grad, model.kernel.grad.T)
    return _training(wrap, CharRnn, model, loss, CharRnn.inputs(), gradients, CharRnn.clip)


class _Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolutions, self.dense = nn.ModuleList(), nn.ModuleList()
        for kernel in MnistCnn.filters():
            layer = nn.Conv2d(*kernel.shape[2:], MnistCnn.window, padding=MnistCnn.window // 2)
            values = torch.from_numpy(kernel).permute(3, 2, 0, 1)
            layer.weight = nn.Parameter(values.clone(memory_format=torch.channels_last))
            nn.init.zeros_(layer.bias)
            self.convolutions.append(layer)
        for kernel in MnistCnn.kernels():
            self.dense.append(_linear(kernel))

    def forward(self, x):
        x = x.permute(0, 3, 1, 2)
        for layer in self.convolutions:
            x = functional.max_pool2d(functional.relu(layer(x)), 2)
        x = x.permute(0, 2, 3, 1).flatten(1)  # as the shared weights have it; a view in this format
        return self.dense[1](functional.relu(self.dense[0](x)))


def _cnn(wrap):
    loss = lambda model, x, y: functional.cross_entropy(model(x), y)
    return _training(wrap, MnistCnn, _Cnn(), loss, MnistCnn.inputs(), None)


class _Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.up, self.down = (_linear(kernel) for kernel in TransformerBlock.kernels())
        norms = (nn.LayerNorm(TransformerBlock.width, eps=TransformerBlock.norm_epsilon) for _ in range(2))
        self.norm_1, self.norm_2 = norms

    def attention(self, x):
        split = self.qkv(x).unflatten(2, (3, TransformerBlock.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(split[0], split[1], split[2])
        return self.out(mixed.transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.down(functional.gelu(self.up(self.norm_2(x))))


def _block(wrap):
    loss = lambda model, x: model(x).square().mean()
    return _training(wrap, TransformerBlock, _Block(), loss, [TransformerBlock.x()], None)


class _SkipGram:
    """Embeddings with sparse gradients and the SGD optimizer; compiled: the same by hand, since torch.compile has no
    sparse gradients."""

    def __init__(self, wrap):
        self.words, self.near, self.noise = (torch.from_numpy(i) for i in SkipGram.inputs())
        tables = [torch.from_numpy(t.copy()) for t in SkipGram.tables()]
        self.u, self.v = (nn.Embedding.from_pretrained(t, freeze=False, sparse=True) for t in tables)
        self.sgd = torch.optim.SGD([self.u.weight, self.v.weight], lr=SkipGram.learning_rate)
        self.by_hand = wrap(_SkipGram.update)
        self.step = self.eager if wrap is _eager else self.compiled

    def eager(self):
        self.sgd.zero_grad()
        x = self.u(self.words)
        positive, negative = (x * self.v(self.near)).sum(1), x @ self.v(self.noise).T
        loss = -(functional.logsigmoid(positive).sum() + functional.logsigmoid(-negative).sum()) / SkipGram.batch
        loss.backward()
        self.sgd.step()

    @staticmethod
    def update(u, v, words, near, noise):
        rate = -SkipGram.learning_rate / SkipGram.batch
        x, p, n = u[words], v[near], v[noise]
        a, b = torch.sigmoid((x * p).sum(1, True)) - 1, torch.sigmoid(x @ n.T)
        u.index_add_(0, words, a * p + b @ n, alpha=rate)
        v.index_add_(0, near, a * x, alpha=rate)
        v.index_add_(0, noise, b.T @ x, alpha=rate)

    def compiled(self):
        with torch.no_grad():
            self.by_hand(self.u.weight, self.v.weight, self.words, self.near, self.noise)

    def result(self):
        self.step()
        return _numbers(self.u.weight[self.words], self.v.weight[self.noise])


def _skip_gram(wrap):
    work = _SkipGram(wrap)
    return worker.Work(work.step, work.result)


_add(CHAIN, lambda wrap: _forward(chain, chain_operands(), wrap))
_add(CHAIN_GRADIENT, _chain_gradient)
for _name, _count in GELU.items():
    _add(_name, lambda wrap, count=_count: _forward(gelu(torch.tanh), [worker.normal(count, 1)], wrap))
_add(Mlp.name, _mlp)
_add(Lstm.name, _lstm, _lstm_cells)
_add(MnistCnn.name, _cnn)
_add(SkipGram.name, _skip_gram)
_add(TransformerBlock.name, _block)
_add(CharRnn.name, functools.partial(_char_rnn, _Layer), functools.partial(_char_rnn, _Cells))
pytorch_data.add_cases(_options.threads)
pytorch_summary.add_cases()
worker.serve()
