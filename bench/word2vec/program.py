"""Compares examples/word2vec with gensim's Word2Vec on one text: words per second, neighbours, and the agreement of the
vectors with the statistics of the text.

python bench/word2vec/program.py PROGRAM TEXT [--threads 1,2] [--epochs 5] [--rounds 3]

Both train skip-gram with 5 negatives, window 5, vectors of size 100, subsampling at 1e-3, minimum count 5, on
the same words (runs of a to z). Effective words are those left after rare words and subsampling. The figure for the
vectors: Spearman's rank correlation between the cosine of two words and their pointwise mutual information within 5
words, over 1,000 pairs drawn among those that occur together 10 times. Needs gensim.
"""

import argparse
import collections
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import time

import gensim
import numpy
from gensim.models import KeyedVectors, Word2Vec

SHOWN = "war president money january peace women railroad gold soldiers schools".split()


def train_gensim(words, threads, epochs):
    """The model and its effective words per second."""
    sentences = [words[i:i + 1000] for i in range(0, len(words), 1000)]
    model = Word2Vec(vector_size=100, window=5, sg=1, negative=5, min_count=5, sample=1e-3, workers=threads, seed=1)
    model.build_vocab(sentences)
    begin = time.perf_counter()
    effective, _ = model.train(sentences, total_examples=model.corpus_count, epochs=epochs)
    return model.wv, effective / (time.perf_counter() - begin)


def train_ours(program, text, threads, epochs, folder):
    """The vectors and the effective words per second."""
    run = subprocess.run([program, "--corpus", text, "--output", folder, "--threads", str(threads), "--epochs",
                          str(epochs), "--minutes", "60", "--held-out", "0"], capture_output=True, text=True, check=True)
    rate = re.search(r"words/s \((\d+) after subsampling\)", run.stdout.split("trained after")[1])
    return KeyedVectors.load_word2vec_format(folder + "/vectors.txt"), float(rate.group(1))


def pairs_with_information(words, count=1000):
    """(word, word, pointwise mutual information), drawn at random."""
    single, together = collections.Counter(words), collections.Counter()
    for i, word in enumerate(words):
        for other in words[i + 1:i + 6]:
            if word != other:
                together[min(word, other), max(word, other)] += 1
    known = [(pair, n) for pair, n in sorted(together.items()) if n >= 10 and single[pair[0]] >= 5 and single[pair[1]] >= 5]
    total = sum(together.values())
    return [(a, b, math.log(n * len(words) ** 2 / (total * single[a] * single[b])))
            for (a, b), n in random.Random(1).sample(known, count)]


def correlation(vectors, pairs):
    rank = lambda x: numpy.argsort(numpy.argsort(x))
    cosines = [vectors.similarity(a, b) for a, b, _ in pairs]
    return float(numpy.corrcoef(rank(cosines), rank([information for *_, information in pairs]))[0, 1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("text")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    words = re.findall(r"[a-z]+", pathlib.Path(arguments.text).read_text(errors="ignore").lower())
    pairs = pairs_with_information(words)
    for threads in map(int, arguments.threads.split(",")):
        rates, peer_rates = [], []
        for _ in range(arguments.rounds):
            peer, rate = train_gensim(words, threads, arguments.epochs)
            peer_rates.append(rate)
            with tempfile.TemporaryDirectory() as folder:
                ours, rate = train_ours(arguments.program, arguments.text, threads, arguments.epochs, folder)
            rates.append(rate)
        ratios = sorted(a / b for a, b in zip(rates, peer_rates))
        print(json.dumps({
            "threads": threads, "peer": "gensim " + gensim.__version__, "words/s": round(statistics.median(rates)),
            "gensim words/s": round(statistics.median(peer_rates)), "ratio": round(statistics.median(ratios), 2),
            "ratios": [round(r, 2) for r in ratios], "correlation": round(correlation(ours, pairs), 3),
            "gensim correlation": round(correlation(peer, pairs), 3)}), flush=True)
    for word in SHOWN:
        print(f"{word:10} ours   " + " ".join(w for w, _ in ours.most_similar(word, topn=7)))
        print(f"{'':10} gensim " + " ".join(w for w, _ in peer.most_similar(word, topn=7)))


if __name__ == "__main__":
    main()
