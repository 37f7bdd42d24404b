"""Fourier transforms."""

import scipy.fft
import torch


def plane(f, *shape):
    return f.normal(*shape) + 1j * f.normal(*shape)


def make(f):
    for n in (1, 5, 8, 12, 17):
        f.add("fft", [plane(f, 2, n)], torch.fft.fft)
        f.add("ifft", [plane(f, 2, n)], torch.fft.ifft)
        f.add("rfft", [f.normal(2, n)], torch.fft.rfft)
        f.add("irfft", [plane(f, 2, n // 2 + 1)], lambda x: torch.fft.irfft(x, n), p=[n])
        for kind in (2, 3):
            f.add("dct", [f.normal(2, n)], lambda x: scipy.fft.dct(x, kind), p=[kind], gradient=False)
    f.add("fft2d", [plane(f, 2, 4, 6)], torch.fft.fft2)
    f.add("ifft2d", [plane(f, 2, 5, 3)], torch.fft.ifft2)
    f.add("rfft2d", [f.normal(2, 4, 6)], torch.fft.rfft2)
    f.add("stft", [f.normal(40)],
          lambda x: torch.stft(x, 16, 6, window=torch.hann_window(16, dtype=torch.float64), center=False,
                               return_complex=True).T, p=[16, 6])
