"""Tandem against PyTorch on one GPU: the same work, in turns, as ratios of times (below 1: Tandem is faster).

usage: compare.py <path of cuda_steps>        needs a PyTorch with CUDA (python3 -m pip install torch)
"""

import statistics
import subprocess
import sys
import time

PAIRS = 7


def scenarios(torch):
    """name -> (iterations, step)"""
    on = {"device": "cuda"}
    a, b = torch.randn(4096, 4096, **on), torch.randn(4096, 4096, **on)
    wide = torch.randn(8192, 1024, **on)

    def training(module, loss):
        optimizer = torch.optim.Adam(module.parameters(), fused=True)

        def step():
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()

        return step

    nn = torch.nn
    mlp = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    x, labels = torch.randn(1024, 784, **on), torch.randint(10, (1024,), **on)
    lstm, sequence = nn.LSTM(128, 512).cuda(), torch.randn(64, 128, 128, **on)
    lstm_step = training(lstm, lambda: lstm(sequence)[0].square().mean())
    mlp_step = training(mlp, lambda: nn.functional.cross_entropy(mlp(x), labels))
    small, flat, half = torch.randn(16, **on), torch.randn(1 << 20, **on), a.bfloat16()
    rows, images = torch.randn(64, 65536, dtype=torch.complex64, **on), torch.randn(64, 512, 512, **on)
    ids = torch.randint(1 << 16, (1 << 20,), **on)
    last = {"memory_format": torch.channels_last}
    pictures, large = torch.randn(32, 64, 56, 56, **on).to(**last), torch.randn(32, 64, 112, 112, **on).to(**last)
    half_pictures = pictures.bfloat16()

    functional = nn.functional
    weight, table = torch.randn(1024, **on), torch.randn(32000, 512, **on)
    picked = torch.randint(32000, (16384,), **on)
    heads = [torch.randn(8, 16, 1024, 64, **on) for _ in range(3)]
    half_heads = [x.bfloat16() for x in heads]

    def attention(of):
        return functional.scaled_dot_product_attention(*of, is_causal=True)

    def attention_step(of):
        with_grad = [x.clone().requires_grad_() for x in of]
        gradient = torch.ones_like(of[0])
        return lambda: torch.autograd.grad(attention(with_grad), with_grad, gradient)

    def chain(x):
        y = torch.tanh(x * 0.5) * torch.sigmoid(x + 1)
        return torch.sqrt(y * y + 1) - torch.exp(-y.abs()) * 0.25

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(512), nn.LayerNorm(512)
            self.qkv, self.out = nn.Linear(512, 1536), nn.Linear(512, 512)
            self.wide, self.narrow = nn.Linear(512, 2048), nn.Linear(2048, 512)

        def forward(self, x):
            qkv = self.qkv(self.first(x)).view(8, 512, 3, 8, 64).permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(*qkv.unbind(0))
            h = x + self.out(seen.transpose(1, 2).reshape(8, 512, 512))
            return h + self.narrow(functional.gelu(self.wide(self.second(h))))

    transformer, words = Transformer().cuda(), torch.randn(8, 512, 512, **on)
    transformer_step = training(transformer, lambda: transformer(words).square().mean())

    def convolution(channels, stride=1, wide=64):
        return nn.Conv2d(wide, channels, 3, stride, 1, bias=False).cuda().to(**last)

    conv, strided = convolution(64).requires_grad_(False), convolution(128, 2).requires_grad_(False)
    half_conv = convolution(64).bfloat16().requires_grad_(False)
    layers = nn.Sequential(convolution(64), nn.ReLU(), convolution(128, 2), nn.ReLU(), convolution(128, 1, 128))
    conv_step = training(layers, lambda: layers(pictures).square().mean())
    def positive(*shape):
        m = torch.randn(*shape, **on)
        return m @ m.mT + shape[-1] * torch.eye(shape[-1], **on)

    spd, many, symmetric = positive(2048, 2048), positive(1000, 32, 32), positive(512, 512)
    square, sides = torch.randn(2048, 2048, **on), torch.randn(2048, 16, **on)
    smaller = torch.randn(512, 512, **on)
    return {
        "small_add": (2000, lambda: small + small),
        "add": (100, lambda: a + b),
        "sum": (100, lambda: a.sum()),
        "sum_columns": (100, lambda: a.sum(0)),
        "transpose": (100, lambda: a.t().contiguous()),
        "cumsum": (50, lambda: a.cumsum(1)),
        "softmax": (100, lambda: torch.softmax(wide, -1)),
        "fft": (50, lambda: torch.fft.fft(rows)),
        "rfft2d": (50, lambda: torch.fft.rfft2(images)),
        "unique": (20, lambda: torch.unique(ids, return_inverse=True)),
        "sort": (50, lambda: flat.sort()[0]),
        "matmul": (20, lambda: a @ b),
        "matmul_bf16": (20, lambda: half @ half),
        "layer_norm": (100, lambda: functional.layer_norm(wide, (1024,), weight, weight)),
        "gather": (100, lambda: functional.embedding(picked, table)),
        "chain_traced": (50, lambda: chain(a)),
        "attention": (20, lambda: attention(heads)),
        "attention_bf16": (20, lambda: attention(half_heads)),
        "attention_step": (10, attention_step(heads)),
        "attention_step_bf16": (10, attention_step(half_heads)),
        "conv": (50, lambda: conv(pictures)),
        "conv_bf16": (50, lambda: half_conv(half_pictures)),
        "conv_strided": (50, lambda: strided(large)),
        "conv_step": (20, conv_step),
        "conv_step_traced": (20, conv_step),
        "transformer_step": (20, transformer_step),
        "transformer_traced": (20, transformer_step),
        "cholesky": (20, lambda: torch.linalg.cholesky(spd)),
        "cholesky_batch": (50, lambda: torch.linalg.cholesky(many)),
        "solve": (20, lambda: torch.linalg.solve(square, sides)),
        "svd": (5, lambda: torch.linalg.svd(smaller, full_matrices=False)),
        "eigh": (10, lambda: torch.linalg.eigh(symmetric)),
        "mlp_step": (50, mlp_step),
        "mlp_traced": (50, mlp_step),
        "lstm_step": (20, lstm_step),
        "lstm_traced": (20, lstm_step),
    }


def seconds(torch, step, iterations):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(iterations):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / iterations


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        import torch
    except ImportError:
        sys.exit("compare.py: PyTorch is not installed: python3 -m pip install torch")
    if not torch.cuda.is_available():
        sys.exit("compare.py: this PyTorch finds no CUDA device")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False  # as Tandem's default
    ours = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if ours.stdout.readline().strip() != "ready":
        sys.exit(f"compare.py: {sys.argv[1]} does not run")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; median of {PAIRS} pairs (quartiles)")
    for name, (iterations, step) in scenarios(torch).items():
        ratios = []
        for _ in range(PAIRS):
            ours.stdin.write(f"{name} {iterations}\n")
            ours.stdin.flush()
            answer = ours.stdout.readline()
            if not answer or answer.startswith(name):
                print(answer.strip() or f"{name}: the program ended", flush=True)
                break
            peer = seconds(torch, step, iterations)
            ratios.append(float(answer) / peer)
        else:
            low, middle, high = statistics.quantiles(ratios, n=4)
            print(f"{name:20} {middle:6.2f} ({low:.2f} to {high:.2f})   {float(answer) * 1e6:10.1f} us, peer {peer * 1e6:.1f} us", flush=True)
        if ours.poll() is not None:
            break
    ours.stdin.close()
    ours.wait()


if __name__ == "__main__":
    main()
