"""The memory of a pipeline of pictures over ten epochs: Tandem, tf.data, PyTorch's DataLoader and Grain.

python bench/data_pictures/program.py PROGRAM, where PROGRAM is the built memory.cpp. Each pipeline decodes 80 JPEG files an
epoch with two workers, shuffles them and makes batches of 8. Printed are the megabytes of its processes behind each epoch
(shared pages counted once), and how many epoch 10 has more than epoch 2.
"""

import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers", "python"))
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
REPEATS, BUFFER, BATCH, WORKERS, EPOCHS = 5, 40, 8, 2, 10


def megabytes(pid="self"):
    with open(f"/proc/{pid}/smaps_rollup") as lines:
        own = next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    children = [child for path in glob.glob(f"/proc/{pid}/task/*/children") for child in open(path).read().split()]
    return own + sum(megabytes(child) for child in children)


def tensorflow():
    import tensorflow as tf

    import pictures

    def small(file):
        return tf.image.resize(tf.io.decode_jpeg(file, channels=3), [pictures.SIDE, pictures.SIDE])

    files = tf.data.Dataset.from_tensor_slices(pictures.files()).repeat(REPEATS).shuffle(BUFFER)
    return files.map(small, num_parallel_calls=WORKERS).batch(BATCH).prefetch(2)


def _loader(workers):
    import torch
    from torch.utils.data import DataLoader, Dataset

    import pictures

    class Files(Dataset):
        def __init__(self):
            self.files = pictures.files() * REPEATS

        def __len__(self):
            return len(self.files)

        def __getitem__(self, i):
            return torch.from_numpy(pictures.decoded(self.files[i])).float()

    return DataLoader(Files(), batch_size=BATCH, shuffle=True, num_workers=workers)


def pytorch():
    return _loader(0)


def pytorch_workers():
    return _loader(WORKERS)


def grain():
    import grain

    import pictures

    files = grain.MapDataset.source(pictures.files()).repeat(REPEATS).seed(1).shuffle()
    return files.map(pictures.decoded).batch(BATCH).to_iter_dataset(grain.ReadOptions(num_threads=WORKERS))


PEERS = {f.__name__: f for f in (tensorflow, pytorch, pytorch_workers, grain)}


def run(make):
    """In a process of its own: prints the megabytes behind each epoch."""
    batches = make()
    for _ in range(EPOCHS):
        iterator = iter(batches)
        for _ in iterator:
            pass
        print(f"{megabytes():.1f}", flush=True)


def main(program):
    commands = {"tandem": [program]} | {name: [sys.executable, __file__, "--peer", name] for name in PEERS}
    print("| megabytes behind epoch | 1 | 2 | 5 | 10 | 10 over 2 |\n|---|---|---|---|---|---|")
    for name, command in commands.items():
        done = subprocess.run(command, capture_output=True, text=True)
        numbers = [float(line) for line in done.stdout.split()]
        if done.returncode or len(numbers) != EPOCHS:
            print(f"| {name} | failed: {(done.stderr.strip().splitlines() or ['no output'])[-1]} |")
            continue
        picked = " | ".join(f"{numbers[i - 1]:.1f}" for i in (1, 2, 5, 10))
        print(f"| {name} | {picked} | {numbers[9] - numbers[1]:+.1f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--peer":
        run(PEERS[sys.argv[2]])
    else:
        main(sys.argv[1])
