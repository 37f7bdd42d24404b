"""The files of the pictures scenario, as bench/data_pictures/work.hpp has them, and how Pillow reads them."""

import io

import numpy as np
from PIL import Image

OF_EACH, SIDE = 8, 224
SIZES = (717, 1024), (484, 1024)


def _picture(height, width, k):
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    noise = (x * 7919 + y * 104729 + c * 1299709 + k * 15485863) % 1000 * 37 % 48
    soft = 50 * np.sin(x * 0.013 * (c + 1) + y * 0.007 + k) + 40 * np.sin(x * 0.11) * np.sin(y * 0.09)
    return (116 + soft + noise).astype(np.uint8)


def files():
    """The bytes of the files."""
    result = []
    for k in range(OF_EACH):
        for height, width in SIZES:
            out = io.BytesIO()
            Image.fromarray(_picture(height, width, k)).save(out, "JPEG", quality=90, subsampling="4:2:0")
            result.append(out.getvalue())
    return result


def decoded(file):
    """Decoded and resized by bilinear interpolation without antialias, which is an affine transform in Pillow."""
    picture = Image.open(io.BytesIO(file)).convert("RGB")
    matrix = (picture.width / SIDE, 0, 0, 0, picture.height / SIDE, 0)
    return np.array(picture.transform((SIDE, SIDE), Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR))


def mean(pixels):
    """The mean of what decoded() returns. Pillow drops the fractions, half a step on average, which others keep."""
    return np.mean(pixels, dtype=np.float64) + 0.5
