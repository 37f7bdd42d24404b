"""Lets TensorBoard read the event files that Tandem writes, and Tandem those of TensorFlow and PyTorch.

python tests/readers/events.py PROGRAM, where PROGRAM is the built tests/readers/events.cpp. Needs pip install tensorboard
tensorflow-cpu torch pillow; not part of ./dev test. TensorBoard runs twice, with its loader in Rust and the one in Python.
"""

import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import wave

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from PIL import Image
from tensorboard.backend.event_processing import plugin_event_accumulator
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.plugins.pr_curve import summary as pr_summary
from tensorboard.util import tensor_util
from torch.utils.tensorboard import SummaryWriter

FAILED = []


def check(what, holds):
    if not holds:
        FAILED.append(what)
    print("ok  " if holds else "FAIL", what)


# What events.cpp writes.
def loss(i):
    return np.float32(1 / (i + 1))


def weights(i):
    return np.arange(100) * (0.1 * (i + 1))


def pictures(i):
    return ((np.arange(960).reshape(4, 8, 10, 3) * 7 + i) % 256).astype(np.uint8)


TONE = (np.arange(3200).reshape(2, 800, 2) % 97) / 97 - 0.5
LABELS, PREDICTIONS = np.arange(200) % 3 == 0, np.arange(200) * 37 % 101 / 100


def samples(wav):
    with wave.open(io.BytesIO(wav)) as file:
        assert (file.getframerate(), file.getsampwidth()) == (8000, 2)
        return np.frombuffer(file.readframes(10**6), np.int16).reshape(-1, file.getnchannels())


def is_tone(wavs):
    return len(wavs) == 2 and all(np.array_equal(samples(w), np.round(TONE[k] * 32768)) for k, w in enumerate(wavs))


def read_tensors(folder):
    """The loader in Python: the tensors themselves."""
    run = EventAccumulator(folder + "/values", size_guidance={"tensors": 0}).Reload()
    tensors = lambda tag: [(e.step, tensor_util.make_ndarray(e.tensor_proto)) for e in run.Tensors(tag)]
    check("scalars", tensors("train/loss") == [(i, loss(i)) for i in range(10)])
    check("description", run.SummaryMetadata("train/loss").summary_description == "the *loss*")
    wants = [tensor_util.make_ndarray(histogram_pb("w", weights(i)).value[0].tensor) for i in range(10)]
    got = [t for _, t in tensors("weights")]
    check("histograms", np.allclose(got, wants, rtol=1e-12) and np.array_equal(np.array(got)[..., 2], np.array(wants)[..., 2]))
    for step, (width, height, *pngs) in tensors("pictures"):
        right = len(pngs) == 3 and (int(width), int(height)) == (10, 8)
        right &= all(np.array_equal(np.asarray(Image.open(io.BytesIO(p))), pictures(step)[k]) for k, p in enumerate(pngs))
        check(f"images of step {step}", right)
    floats = np.asarray(Image.open(io.BytesIO(tensors("floats")[0][1][2])))
    converted = tf.image.convert_image_dtype(np.float32(pictures(0)[0]) / np.float32(255), tf.uint8, saturate=True)
    check("floating images", np.array_equal(floats, converted))
    check("texts", [t.item() for _, t in tensors("note")] == [b"step **%d**" % i for i in (0, 3, 6, 9)])
    check("table", tensors("table")[0][1].tolist() == [[b"a", b"b"], [b"c", b"*d*"]])
    check("sound", all(is_tone(list(t if t.ndim == 1 else t[:, 0])) for _, t in tensors("tone")))
    curve = pr_summary.pb("pr", LABELS, PREDICTIONS, num_thresholds=51).value[0]
    check("pr curve", np.allclose(tensors("pr")[0][1], tensor_util.make_ndarray(curve.tensor), rtol=1e-6))
    same = tensors("same")[0][1]
    check("histogram of one number", same.tolist() == [[2.5, 2.5, 0]] * 29 + [[2.5, 2.5, 7]])
    simple = EventAccumulator(folder + "/simple", size_guidance={"scalars": 0, "histograms": 0}).Reload()
    check("simple_value", [(e.step, e.value) for e in simple.Scalars("train/loss")] == [(i, loss(i)) for i in range(10)])
    histos = [e.histogram_value for e in simple.Histograms("weights")]
    check("histo", all((h.num, h.min) == (100, 0) and np.allclose([h.sum, h.sum_squares, h.max], [w.sum(), (w**2).sum(), w.max()])
                       and np.all(np.diff(h.bucket_limit) > 0) and sum(h.bucket) == 100 for h, w in zip(histos, map(weights, range(10)))))
    restart = plugin_event_accumulator.EventAccumulator(folder + "/restart").Reload()
    check("restart", [(e.step, float(tensor_util.make_ndarray(e.tensor_proto))) for e in restart.Tensors("x")] == [(i, i) for i in range(4)] + [(4, 104), (5, 105)])


def newest(folder):
    return max((os.path.join(folder, f) for f in os.listdir(folder) if "tfevents" in f), key=os.path.getmtime)


def read_graph(folder):
    graph = EventAccumulator(folder + "/graph").Reload().Graph()
    names = {n.name for n in graph.node}
    inputs = {i.split(":")[0] for n in graph.node for i in n.input}
    check("graph: names are unique, inputs are nodes", len(names) == len(graph.node) and inputs <= names)
    product = next(n for n in graph.node if n.op == "matmul")
    check("graph: scope", product.name.startswith("dense/"))
    shape = product.attr["_output_shapes"].list.shape[0]
    check("graph: shapes", [d.size for d in shape.dim] == [-1, 4])
    check("graph: bodies", sum("/body_" in n for n in names) > 1)


class TensorBoard:
    """A running server."""

    def __init__(self, folder, fast):
        self.port = 6100 + os.getpid() % 800 + (1 if fast else 0)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--port", str(self.port), "--load_fast", "true" if fast else "false",
             "--samples_per_plugin", "images=100,audio=100,text=100,pr_curves=100", "--reload_interval", "1"],
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def get(self, path, post=None, **query):
        url = f"http://localhost:{self.port}/data/{path}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(url, data=None if post is None else json.dumps(post).encode(), headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def json(self, path, post=None, **query):
        return json.loads(self.get(path, post, **query))

    def wait(self, runs):
        for _ in range(600):
            try:
                if len(self.json("runs")) >= runs and self.json("plugin/scalars/scalars", run="values", tag="train/loss")[-1][1] == 9:
                    return time.sleep(2)
            except OSError:
                pass
            time.sleep(0.2)
        sys.exit("TensorBoard has not started")


def read_pages(board, name):
    scalars = board.json("plugin/scalars/scalars", run="values", tag="train/loss")
    check(f"{name}: scalars", [(s, np.float32(v)) for _, s, v in scalars] == [(i, loss(i)) for i in range(10)])
    check(f"{name}: simple scalars", len(board.json("plugin/scalars/scalars", run="simple", tag="train/loss")) == 10)
    for run in "values", "simple":
        histograms = board.json("plugin/histograms/histograms", run=run, tag="weights")
        check(f"{name}: histograms of {run}", len(histograms) == 10 and all(sum(b[2] for b in h[2]) == 100 for h in histograms))
    check(f"{name}: distributions", len(board.json("plugin/distributions/distributions", run="values", tag="weights")) == 10)
    images = [board.json("plugin/images/images", run="values", tag="pictures", sample=k) for k in range(3)]
    right = all([e["step"] for e in of] == [0, 3, 6, 9] for of in images)
    for k, of in enumerate(images):
        for e in of:
            png = board.get("plugin/images/individualImage?" + e["query"] + "&x=")
            right &= np.array_equal(np.asarray(Image.open(io.BytesIO(png))), pictures(e["step"])[k])
    check(f"{name}: images", right)
    texts = board.json("plugin/text/text", run="values", tag="note")
    check(f"{name}: texts", ["<strong>%d</strong>" % s in e["text"] for e, s in zip(texts, (0, 3, 6, 9))] == [True] * 4)
    check(f"{name}: table", "<td><p>b</p></td>" in board.json("plugin/text/text", run="values", tag="table")[0]["text"])
    sound = board.json("plugin/audio/audio", run="values", tag="tone", sample=1)
    wav = board.get("plugin/audio/individualAudio?" + sound[0]["query"] + "&x=")
    check(f"{name}: sound", len(sound) == 4 and np.array_equal(samples(wav), np.round(TONE[1] * 32768)))
    curves = board.json("plugin/pr_curves/pr_curves", run="values", tag="pr")["values"]
    check(f"{name}: pr curves", len(curves) == 4 and len(curves[0]["precision"]) == 51 and curves[0]["true_positives"][0] == int(LABELS.sum()))
    graph = board.get("plugin/graphs/graph", run="graph")
    check(f"{name}: graph", b'name: "dense/' in graph and b'op: "matmul"' in graph)
    read_hparams(board, name)
    configs = board.json("plugin/projector/info", run="values")["embeddings"]
    check(f"{name}: projector", [(e["tensorName"], e["tensorShape"]) for e in configs] == [("table", [3, 2]), ("words", [20, 5])])
    matrix = np.frombuffer(board.get("plugin/projector/tensor", run="values", name="words"), np.float32).reshape(20, 5)
    check(f"{name}: embedding", np.array_equal(matrix, np.float32(np.arange(100) / 7).reshape(20, 5)))
    check(f"{name}: metadata", board.get("plugin/projector/metadata", run="values", name="table") == b"x\ty\na\t1\nb\t2\nc\t3\n")


def read_hparams(board, name):
    experiment = board.json("plugin/hparams/experiment", {"experimentName": ""})
    infos = {h["name"]: (h["type"], h.get("domainDiscrete")) for h in experiment["hparamInfos"]}
    check(f"{name}: hparams of the experiment", infos == {
        "lr": ("DATA_TYPE_FLOAT64", [0.1, 0.01, 0.001]), "optimizer": ("DATA_TYPE_STRING", ["adam", "sgd"]), "nesterov": ("DATA_TYPE_BOOL", [False, True])})
    rows = board.json("plugin/hparams/session_groups", {
        "experimentName": "", "startIndex": 0, "sliceSize": 10, "colParams": [], "allowedStatuses": [f"STATUS_{s}" for s in ("UNKNOWN", "SUCCESS", "FAILURE", "RUNNING")],
        "includeMetrics": True})["sessionGroups"]
    got = {r["name"]: (r["hparams"], [m["value"] for m in r["metricValues"]], r["sessions"][0]["status"]) for r in rows}
    want = {f"hparams/run{i}": ({"lr": 0.1 if i < 2 else 0.01, "optimizer": "sgd" if i % 2 else "adam", "nesterov": i == 3},
                                [float(np.float32(0.5 + 0.1 * i))], "STATUS_FAILURE" if i == 2 else "STATUS_SUCCESS") for i in range(4)}
    check(f"{name}: hparams of the runs", got == want)


def write_theirs(folder):
    rgb = pictures(0)[:1]
    with tf.summary.create_file_writer(folder + "/tensorflow").as_default():
        for i in range(5):
            tf.summary.scalar("loss", loss(i), step=i)
        tf.summary.histogram("w", weights(0), step=1, buckets=4)
        tf.summary.image("image", rgb, step=2)
        tf.summary.text("note", "a text", step=3)
        tf.summary.audio("tone", np.float32(TONE[:1]), 8000, step=4)
    with SummaryWriter(folder + "/torch") as writer:
        for i in range(5):
            writer.add_scalar("loss", loss(i), i)
        writer.add_histogram("w", np.array([0.5, 1.5, 1.5]), 1, bins=[0, 1, 2])
        writer.add_image("image", rgb[0], 2, dataformats="HWC")
        writer.add_text("note", "a text", 3)


def compare_theirs(program, folder):
    sha = lambda b: hashlib.sha256(b).hexdigest()
    for name in "tensorflow", "torch":
        text = subprocess.run([program, "read", f"{folder}/{name}"], check=True, capture_output=True, text=True).stdout
        values = [line.split("\t") for line in text.splitlines() if "\t" in line]
        got = {}
        for step, tag, plugin, content in values:
            got.setdefault((tag, plugin), []).append((int(step), content))
        check(f"scalars of {name}", [(s, np.float32(c)) for s, c in got["loss", "scalars"]] == [(i, loss(i)) for i in range(5)])
        run = [v for e in tf.compat.v1.train.summary_iterator(newest(f"{folder}/{name}")) for v in e.summary.value]
        png = next(v.tensor.string_val[2] if v.tensor.string_val else v.image.encoded_image_string for v in run if v.tag == "image")
        check(f"image of {name}", got["image", "images"] == [(2, "10x8 " + sha(png))])
        tag = "note" if name == "tensorflow" else "note/text_summary"
        check(f"text of {name}", got[tag, "text"] == [(3, "a text|")])
        buckets = [tuple(map(float, b.split(","))) for b in got["w", "histograms"][0][1].split()]
        if name == "tensorflow":
            want = tensor_util.make_ndarray(histogram_pb("w", weights(0), 4).value[0].tensor)
            check("histogram of tensorflow", np.allclose(buckets, want))
            wav = next(v.tensor.string_val[0] for v in run if v.tag == "tone")
            check("sound of tensorflow", got["tone", "audio"] == [(4, sha(wav) + " ")])
        else:
            check("histogram of torch", sum(b[2] for b in buckets) == 3 and buckets[-1][1] == 1.5)


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "write", folder + "/ours"], check=True)
        read_tensors(folder + "/ours")
        read_graph(folder + "/ours")
        for fast, name in (True, "loader in Rust"), (False, "loader in Python"):
            with TensorBoard(folder + "/ours", fast) as board:
                board.wait(runs=9)
                read_pages(board, name)
        write_theirs(folder)
        compare_theirs(program, folder)
    if FAILED:
        sys.exit(f"{len(FAILED)} failed")


if __name__ == "__main__":
    main()
