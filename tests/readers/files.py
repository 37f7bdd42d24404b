"""Lets TensorFlow, Pillow, NumPy and webdataset read what Tandem writes, and Tandem what they write.

python tests/readers/files.py PROGRAM, where PROGRAM is the built tests/readers/files.cpp. Needs pip install
tensorflow-cpu pillow webdataset; not part of ./dev test.
"""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
import webdataset
from PIL import Image

FAILED = []


def check(what, holds):
    if not holds:
        FAILED.append(what)
    print("ok  " if holds else "FAIL", what)


def example(i):
    """The Example number i of files.cpp, as protobuf decodes it."""
    return {"bytes": [bytes([i % 256]) * (i % 300), b"second"], "ints": [i, -i, i << 40], "none": []}, np.float32([i / 7, -1e30])


def read_records(folder):
    for name, kind in ("plain", ""), ("gzip", "GZIP"), ("zlib", "ZLIB"):
        right = 0
        for i, record in enumerate(tf.data.TFRecordDataset(f"{folder}/{name}.tfrecord", compression_type=kind)):
            feature = tf.train.Example.FromString(record.numpy()).features.feature
            lists, floats = example(i)
            right += (
                list(feature["bytes"].bytes_list.value) == lists["bytes"]
                and list(feature["ints"].int64_list.value) == lists["ints"]
                and list(feature["none"].int64_list.value) == lists["none"]
                and np.allclose(feature["floats"].float_list.value, floats, rtol=1e-6)
            )
        check(f"TensorFlow reads {name}.tfrecord", right == 500)


def psnr(a, b):
    return 10 * np.log10(255**2 / max(1e-9, np.mean((np.float64(a) - np.float64(b)) ** 2)))


def read_pictures(folder):
    for name in sorted(os.listdir(folder)):
        base, end = os.path.splitext(name)
        if end not in (".png", ".jpg", ".webp") or base.startswith("theirs"):
            continue
        want, path = np.load(f"{folder}/{base}.npy"), f"{folder}/{name}"
        ours = tf.io.read_file(path)
        if end == ".webp":
            pillow = np.asarray(Image.open(path))
            same = np.array_equal(pillow, want) if "lossless" in base else psnr(pillow, want) > 30
            check(f"Pillow reads {name}", pillow.shape == want.shape and same)
            continue
        if end == ".jpg":
            check(f"TensorFlow reads {name}", psnr(tf.io.decode_jpeg(ours).numpy(), want) > 35)
            pillow = np.asarray(Image.open(path))
            check(f"Pillow reads {name}", psnr(pillow.reshape(want.shape), want) > 35)
            continue
        dtype = tf.uint16 if want.dtype == np.uint16 else tf.uint8
        check(f"TensorFlow reads {name}", np.array_equal(tf.io.decode_png(ours, dtype=dtype), want))
        if want.dtype == np.uint8:
            check(f"Pillow reads {name}", np.array_equal(np.asarray(Image.open(path)).reshape(want.shape), want))


def write_gifs(folder, picture):
    picture.convert("P").save(f"{folder}/theirs_still.gif")
    picture.convert("P").save(f"{folder}/theirs_interlaced.gif", interlace=1)
    frames = []
    for i in range(12):
        frame = Image.new("RGBA", (83, 61), (0, 0, 0, 0))
        frame.paste(picture.crop((0, 0, 30 + i, 20 + 2 * i)), (3 * i, 2 * i))
        frames.append(frame)
    frames[0].save(
        f"{folder}/theirs_animation.gif", save_all=True, append_images=frames[1:], disposal=[1, 2, 1, 1, 2, 2, 1, 3, 1, 3, 3, 1]
    )


def compare_gifs(folder):
    for name in "still", "interlaced":
        got, path = np.load(f"{folder}/theirs_{name}.gif.npy"), f"{folder}/theirs_{name}.gif"
        check(f"Pillow's picture {name}.gif", np.array_equal(got[0], np.asarray(Image.open(path).convert("RGB"))))
        check(f"TensorFlow's frames of {name}.gif", np.array_equal(got, tf.io.decode_gif(tf.io.read_file(path)).numpy()))
    # TensorFlow leaves frames that are to be removed, and Pillow shows what is below them otherwise than browsers do.
    if not shutil.which("convert"):
        print("skipped: animation.gif, as there is no ImageMagick")
        return
    command = ["convert", f"{folder}/theirs_animation.gif", "-coalesce", "-depth", "8", "RGBA:-"]
    run = subprocess.run(command, capture_output=True)
    if run.returncode:
        print(f"skipped: animation.gif, as ImageMagick's convert fails: {run.stderr.decode(errors='replace').strip()}")
        return
    pixels, got = np.frombuffer(run.stdout, np.uint8).reshape(-1, 4), np.load(f"{folder}/theirs_animation.gif.npy")
    check("ImageMagick's frames of animation.gif", np.array_equal(got.reshape(-1, 3), pixels[:, :3] * (pixels[:, 3:] > 0)))


def write_theirs(folder):
    rng = np.random.default_rng(1)
    floats, ints = rng.normal(size=[200, 2]).astype(np.float32), [rng.integers(-(2**60), 2**60, size=i % 5) for i in range(200)]
    for name, kind in ("plain", ""), ("gzip", "GZIP"):
        with tf.io.TFRecordWriter(f"{folder}/theirs_{name}.tfrecord", kind) as writer:
            for f, n in zip(floats, ints):
                feature = {
                    "floats": tf.train.Feature(float_list=tf.train.FloatList(value=f)),
                    "ints": tf.train.Feature(int64_list=tf.train.Int64List(value=n)),
                    "bytes": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x" * len(n)])),
                }
                writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    records = rng.bytes(3 + 17 * 500 + 5)
    pathlib.Path(f"{folder}/theirs_records").write_bytes(records)
    pathlib.Path(f"{folder}/theirs_records_gzip").write_bytes(gzip.compress(records))
    y, x = np.mgrid[0:61, 0:83]
    rgb = np.stack([y * 4 % 256, x * 3 % 256, (x + y) % 256], -1).astype(np.uint8)
    picture = Image.fromarray(rgb)
    picture.save(f"{folder}/theirs_rgb.jpg", quality=90)
    picture.convert("L").save(f"{folder}/theirs_gray.jpg", quality=90)
    picture.save(f"{folder}/theirs_progressive.jpg", quality=90, progressive=True)
    picture.convert("CMYK").save(f"{folder}/theirs_cmyk.jpg", quality=95)
    picture.save(f"{folder}/theirs_rgb.png")
    Image.fromarray((y * 900 + x).astype(np.uint16)).save(f"{folder}/theirs_gray16.png")
    picture.convert("P").save(f"{folder}/theirs_palette.png")
    picture.convert("RGBA").save(f"{folder}/theirs_alpha.png")
    picture.save(f"{folder}/theirs_interlaced.png", interlace=1)
    picture.save(f"{folder}/theirs_rgb.bmp")
    picture.save(f"{folder}/theirs_rgb.webp", quality=90)
    picture.save(f"{folder}/theirs_lossless.webp", lossless=True)
    layers = np.concatenate([rgb, ((x * y) % 256).astype(np.uint8)[..., None]], -1)
    Image.fromarray(layers).save(f"{folder}/theirs_alpha.webp", quality=90)
    Image.fromarray(layers).save(f"{folder}/theirs_lossless_alpha.webp", lossless=True, exact=True)
    write_gifs(folder, picture)
    with webdataset.TarWriter(f"{folder}/theirs.tar") as shard:
        for i in range(20):
            shard.write({"__key__": f"train/{i:04}", "txt": f"text{i}", "bin": b"\0" * i})
    return floats, ints


def compare_theirs(folder, floats, ints):
    for name, kind in ("records", ""), ("records_gzip", "GZIP"):
        path = f"{folder}/theirs_{name}"
        want = [r.numpy() for r in tf.data.FixedLengthRecordDataset(path, 17, 3, 5, compression_type=kind)]
        check(f"TensorFlow's FixedLengthRecordDataset of {name}", pathlib.Path(path + ".joined").read_bytes() == b"".join(want))
    for name in "plain", "gzip":
        load = lambda what: np.load(f"{folder}/theirs_{name}.tfrecord.{what}.npy")
        check(f"floats of theirs_{name}.tfrecord", np.array_equal(load("floats"), floats))
        check(f"ints of theirs_{name}.tfrecord", np.array_equal(load("ints"), np.concatenate(ints)))
        check(f"lengths of theirs_{name}.tfrecord", np.array_equal(load("lengths"), [len(n) for n in ints]))
    for name in sorted(os.listdir(folder)):
        if not name.startswith("theirs_") or not name.endswith((".jpg", ".png", ".bmp", ".webp")):
            continue
        got, pillow = np.load(f"{folder}/{name}.npy"), Image.open(f"{folder}/{name}")
        want = np.asarray(pillow.convert("RGB") if pillow.mode in ("P", "CMYK") else pillow)
        want = want.reshape(got.shape) if want.size == got.size else want
        if name.endswith(".jpg"):  # Pillow's CMYK conversion is another one; its transform is less exact
            check(f"picture {name}", got.shape == want.shape and psnr(got, want) > (20 if "cmyk" in name else 45))
        else:
            check(f"picture {name}", np.array_equal(got, want))
    compare_gifs(folder)
    samples = "".join(f"train/{i:04} text{i} {i}\n" for i in range(20))
    check("webdataset's shard", open(f"{folder}/theirs.tar.txt").read() == samples)


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "write", folder], check=True)
        read_records(folder)
        read_pictures(folder)
        theirs = write_theirs(folder)
        subprocess.run([program, "read", folder], check=True)
        compare_theirs(folder, *theirs)
    if FAILED:
        sys.exit(f"{len(FAILED)} failed")


if __name__ == "__main__":
    main()
