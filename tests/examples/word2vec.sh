#!/bin/sh
# word2vec as a user meets it: training on topics, its files, resume, interrupt, questions, and what goes wrong.
# Usage: word2vec.sh PROGRAM
. "$(dirname "$0")/support.sh"

# 5000 sentences of 20 words, each about one of 10 topics: 80 % of the words are from the topic's 20, 20 % from 50 words
# that all topics share. Word 7 of topic c is "topiccwordh".
python3 - <<'PY'
import random
r = random.Random(1)
letters = "abcdefghijklmnopqrstuvwxyz"
topics = [[f"topic{letters[t]}word{letters[i]}" for i in range(20)] for t in range(10)]
common = [f"common{letters[i // 26]}{letters[i % 26]}" for i in range(50)]
with open("corpus.txt", "w") as f:
    for _ in range(5000):
        topic = r.choice(topics)
        f.write(" ".join(r.choice(topic) if r.random() < .8 else r.choice(common) for _ in range(20)) + "\n")
open("short.txt", "w").write("just a few words and no more than a few")
open("empty.txt", "w").close()
open("binary.txt", "wb").write(bytes(range(256)) * 10)
PY

# Every way to train puts words beside those of their topic.
learns() {
  name=$1
  shift
  "$program" --corpus corpus.txt --output "$name" --size 32 --sample 0 "$@" >out 2>&1 || { fail "train $name"; cat out; return; }
  python3 - "$name" <<'PY' || { fail "$name: what it learnt"; cat out; }
import array, math, struct, sys
folder = sys.argv[1]
words = [line.split()[0] for line in open(folder + "/vocabulary.txt")]
assert words[0] == "<unk>" and len(words) == 251, len(words)
with open(folder + "/embeddings.npy", "rb") as f:
    assert f.read(8) == b"\x93NUMPY\x01\x00"
    header = f.read(struct.unpack("<H", f.read(2))[0])
    assert b"'<f4'" in header and b"(251, 32)" in header, header
    numbers = array.array("f", f.read())
rows = [numbers[i * 32:(i + 1) * 32] for i in range(251)]
text = open(folder + "/vectors.txt").read().split("\n")
assert text[0] == "250 32" and text[1].split()[0] == words[1]
assert all(abs(float(a) - b) < 1e-6 for a, b in zip(text[1].split()[1:], rows[1]))
assert len(open(folder + "/vectors.tsv").readlines()) == 250
assert open(folder + "/metadata.tsv").readlines()[1].split("\t")[0] == words[1]
assert open(folder + "/words.svg").read().count("<text") == 250
units = [[x / math.sqrt(sum(y * y for y in row)) for x in row] for row in rows]
topical = [i for i, w in enumerate(words) if w.startswith("topic")]
def nearest(i):
    return max((j for j in topical if j != i), key=lambda j: sum(a * b for a, b in zip(units[i], units[j])))
hits = sum(words[nearest(i)][5] == words[i][5] for i in topical)
assert hits >= 180, f"{hits} of 200 words have a word of their topic as neighbour"
PY
}
learns skip-gram --epochs 8
learns cbow --model cbow --epochs 8 --learning-rate 0.1
learns own --loss own --epochs 4
learns own-cbow --model cbow --loss own --epochs 8 --learning-rate 0.1
learns nce --loss nce --samples 16 --batch 256 --epochs 2
cost=$(sed -n 's/^trained after .* held out \([0-9.]*\)$/\1/p' out)
awk "BEGIN { exit !(\"$cost\" != \"\" && $cost + 0 < 2.5) }" || { fail "nce: the cost is '$cost'"; cat out; }
grep -q 'words/s' out || { fail 'no rate in the summary'; cat out; }
"$program" --output skip-gram --nearest topicaworda --neighbours 3 >out || fail nearest
grep -q 'topicaworda:  *topicaword' out || { fail 'nearest prints'; cat out; }
"$program" --output skip-gram --analogy topicaworda topicawordb topiccworda >out || fail analogy
grep -q 'topicaworda : topicawordb = topiccworda : ?:' out || { fail 'analogy prints'; cat out; }

# The same vectors, whatever the number of threads; and stopped and resumed equals uninterrupted.
small() { "$program" --corpus corpus.txt --size 16 --minutes 60 "$@"; }
small --epochs 2 --threads 1 --output one >/dev/null 2>&1 || fail 'one thread'
small --epochs 2 --threads 3 --output three >/dev/null 2>&1 || fail 'three threads'
cmp -s one/embeddings.npy three/embeddings.npy || fail 'the number of threads shows in the vectors'
python3 - "$program" <<'PY' || fail 'an interrupted run'
import os, signal, subprocess, sys, time
run = [sys.argv[1], "--corpus", "corpus.txt", "--size", "16", "--minutes", "60", "--threads", "1"]
def start(output, epochs, every):
    p = subprocess.Popen(run + ["--output", output, "--epochs", epochs, "--checkpoint-every", every],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not os.path.exists(output + "/checkpoint.safetensors"):
        assert p.poll() is None, p.communicate()
        time.sleep(.005)
    return p
p = start("parts", "15", "0.01")
p.send_signal(signal.SIGINT)
out = p.communicate()[0]
assert p.returncode == 130 and "interrupted after" in out, (p.returncode, out)
assert os.path.exists("parts/embeddings.npy")
p = start("killed", "100000", "0.01")
p.kill()
p.communicate()
subprocess.run(run + ["--output", "killed", "--epochs", "1"], check=True, stdout=subprocess.DEVNULL)
for output in ("parts", "whole"):
    out = subprocess.run(run + ["--output", output, "--epochs", "15"], check=True, capture_output=True, text=True).stdout
    assert ("going on from parts" in out) == (output == "parts"), out
same = open("parts/embeddings.npy", "rb").read() == open("whole/embeddings.npy", "rb").read()
assert same, "resumed and uninterrupted training give different vectors"
PY

# Bad input.
says 'there is no nowhere.txt' "$program" --corpus nowhere.txt
says 'empty.txt is empty\|of 0 words' "$program" --corpus empty.txt --output x
says 'binary.txt is binary' "$program" --corpus binary.txt --output x
says 'a longer text or a lower --min-count' "$program" --corpus short.txt --output x
says "belongs to another run: its size is 16, not 17" "$program" --corpus corpus.txt --size 17 --output one
says "'zebra' has no vector" "$program" --output one --nearest zebra
says 'cannot read the vocabulary nowhere/' "$program" --output nowhere --nearest zebra
says 'training diverged' small --epochs 3 --learning-rate 1e30 --output bad
head -c 100 one/checkpoint.safetensors >torn && mkdir tornrun && cp one/vocabulary.txt tornrun && mv torn tornrun/checkpoint.safetensors
says 'is damaged' small --output tornrun
says 'model' "$program" --model nonsense
says "'abc' is not a whole number of at least 2" "$program" --size abc
says "'-1' is not a number greater than 0" "$program" --minutes -1
says 'device' "$program" --corpus corpus.txt --device TPU:0 --output y
[ ! -e x/vocabulary.txt ] || fail 'a corpus without words left a vocabulary'

finish
