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

# Every way to train puts words beside those of their topic; $launch is empty or starts several processes.
launch=
learns() {
  name=$1
  shift
  $launch "$program" --corpus corpus.txt --output "$name" --size 32 --sample 0 "$@" >out 2>&1 || { fail "train $name"; cat out; return; }
  python3 - "$name" <<'PY' || { fail "$name: what it learnt"; cat out; }
import array, math, os, struct, sys
import xml.etree.ElementTree as xml
folder = sys.argv[1]
def picture(folder):
    ns = "{http://www.w3.org/2000/svg}"
    svg = xml.parse(folder + "/words.svg").getroot()
    assert "Word vectors" in svg.find(ns + "title").text and svg.get("viewBox") == "0 0 1400 1060", svg.attrib
    words = {line.split()[0] for line in open(folder + "/vocabulary.txt")}
    boxes = []  # of the names, by a width of 0.6 of the size for a letter, less for narrow ones
    for t in svg.findall(ns + "text"):
        if t.text not in words: continue
        x, y, size = (float(t.get(k)) for k in ("x", "y", "font-size"))
        width = size * sum(.38 if c in "fijlrt" else .88 if c in "mw" else .6 for c in t.text)
        left = x - {"start": 0, "middle": width / 2, "end": width}[t.get("text-anchor", "start")]
        boxes.append((left, y - 0.8 * size, left + width, y + 0.25 * size))
    dots = sum(path.get("d").count("h0") for path in svg.iter(ns + "path"))
    assert dots == min(250, len(words) - 1) and 0.4 * dots < len(boxes) <= dots, (dots, len(boxes))
    for i, a in enumerate(boxes):
        assert 0 <= a[0] and a[2] <= 1400 and 40 < a[1] and a[3] < 1060, a
        for b in boxes[:i]: assert a[2] <= b[0] + .01 or b[2] <= a[0] + .01 or a[3] <= b[1] + .01 or b[3] <= a[1] + .01, (a, b)
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
assert 'metadata_path: "vectors.metadata.tsv"' in open(folder + "/projector_config.pbtxt").read()
assert open(folder + "/vectors.metadata.tsv").readlines()[1].split("\t")[0] == words[1]
assert any(name.startswith("events.out.tfevents.") for name in os.listdir(folder))  # so that TensorBoard sees the folder
picture(folder)
units = [[x / math.sqrt(sum(y * y for y in row)) for x in row] for row in rows]
topical = [i for i, w in enumerate(words) if w.startswith("topic")]
def nearest(i):
    return max((j for j in topical if j != i), key=lambda j: sum(a * b for a, b in zip(units[i], units[j])))
hits = sum(words[nearest(i)][5] == words[i][5] for i in topical)
assert hits >= 180, f"{hits} of 200 words have a word of their topic as neighbour"
PY
}
learns skip-gram --epochs 8
learns cbow --model cbow --epochs 8
learns own --loss own --epochs 4
learns own-cbow --model cbow --loss own --epochs 8
# A NumPy program with the same settings (rate 0.5, momentum 0.5, windows within sentences, pairs in random order) has a
# cost of 16.3 in the first 100 steps, which one epoch brings to 2.29. With candidates that may repeat, which nce_loss does
# not draw, it is 2.12; with windows across sentences, which are of other topics, 2.5.
learns nce --loss nce --lines --samples 16 --batch 256 --epochs 1
near "$(number '^mean loss of 100 steps: ([0-9.]+) at the beginning')" 16.5 1 || { fail 'nce: the cost at the beginning'; cat out; }
near "$(number ' ([0-9.]+) at its end$')" 2.3 0.15 || { fail 'nce: the cost after an epoch'; cat out; }
near "$(number '^trained after .* held out ([0-9.]+)$')" 2.3 0.2 || { fail 'nce: the held-out cost'; cat out; }
grep -q 'words/s' out || { fail 'no rate in the summary'; cat out; }
"$program" --output skip-gram --nearest topicaworda --neighbours 3 >out || fail nearest
grep -q 'topicaworda:  *topicaword' out || { fail 'nearest prints'; cat out; }
"$program" --output skip-gram --nearest TopicAwordA --neighbours 3 >out && grep -q 'topicaword' out || fail 'nearest, in capitals'
"$program" --output skip-gram --analogy topicaworda topicawordb topiccworda >out || fail analogy
grep -q 'topicaworda : topicawordb = topiccworda : ?:' out || { fail 'analogy prints'; cat out; }

# The same vectors, whatever the number of threads; and stopped and resumed equals uninterrupted.
on() {  # on TEXT ARGUMENTS...
  corpus=$1
  shift
  "$program" --corpus "$corpus" --size 16 --minutes 60 "$@"
}
small() { on corpus.txt "$@"; }
small --epochs 2 --threads 1 --output one >/dev/null 2>&1 || fail 'one thread'
small --epochs 2 --threads 3 --output three >/dev/null 2>&1 || fail 'three threads'
cmp -s one/embeddings.npy three/embeddings.npy || fail 'the number of threads shows in the vectors'
python3 - "$program" <<'PY' || fail 'an interrupted run'
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored where tests run in the background
own = ["--loss", "nce", "--samples", "16", "--batch", "256"]  # draws its samples from a generator
def run(output, *more):
    return [sys.argv[1], "--corpus", "corpus.txt", "--size", "16", "--minutes", "600", "--threads", "1", "--output", output, *more]
def stop(output, signal, *more):
    p = subprocess.Popen(run(output, "--checkpoint-every", "0.01", *more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not os.path.exists(output + "/checkpoints/ckpt-index.json"):
        assert p.poll() is None, p.communicate()
        time.sleep(.005)
    p.send_signal(signal)
    return p.communicate()[0], p.returncode
out, status = stop("parts", signal.SIGINT, "--epochs", "15")
assert status == 130 and "interrupted after" in out, (status, out)
assert os.path.exists("parts/embeddings.npy")
# Stopped or killed and resumed equals uninterrupted, however often the loss of held-out text was computed.
assert stop("killed", signal.SIGKILL, "--epochs", "15")[1] == -9
assert stop("killed-nce", signal.SIGKILL, "--epochs", "2", *own)[1] == -9
def vectors(output, *more):
    out = subprocess.run(run(output, *more), check=True, capture_output=True, text=True).stdout
    assert ("going on from" in out) != output.startswith("whole"), out
    return open(output + "/embeddings.npy", "rb").read()
whole = vectors("whole", "--epochs", "15")
for output in ("parts", "killed"):
    assert vectors(output, "--epochs", "15") == whole, f"{output}: resumed and uninterrupted training give different vectors"
assert vectors("killed-nce", "--epochs", "2", "--checkpoint-every", "0.01", *own) == vectors("whole-nce", "--epochs", "2", *own), "killed, nce: other vectors"
PY

# Several processes learn as much, and any number of them goes on. They report once.
launcher=$(dirname "$program")/tandem_run
if [ -x "$launcher" ]; then
  launch="$launcher --rank-0-plain -n 2 --"
  learns both --epochs 8
  [ "$(grep -c '^trained after' out)" = 1 ] && ! grep -q '^\[1\]' out || { fail 'each process reports'; cat out; }
  learns both-nce --loss nce --lines --samples 16 --batch 256 --epochs 1
  near "$(number ' ([0-9.]+) at its end$')" 2.3 0.2 || { fail 'nce, two processes: the cost after an epoch'; cat out; }
  near "$(number '^trained after .* held out ([0-9.]+)$')" 2.3 0.25 || { fail 'nce, two processes: the held-out cost'; cat out; }
  launch=
  "$launcher" --rank-0-plain -n 2 -- "$program" --output both --nearest topicaworda >out && [ "$(wc -l <out)" = 1 ] ||
    { fail 'two processes answer'; cat out; }
  head -n 1500 corpus.txt >part.txt
  turns() {  # turns OUTPUT PROCESSES...: each of these numbers goes on for an epoch from the checkpoint of the one before
    name=$1 epochs=0
    shift
    for processes; do
      epochs=$((epochs + 1))
      "$launcher" --rank-0-plain -n "$processes" -- "$program" --corpus part.txt --size 16 --minutes 60 --epochs $epochs \
        --output "$name" >out 2>&1 || { fail "$processes processes in epoch $epochs"; cat out; }
      [ $epochs = 1 ] || grep -q '^going on from' out || { fail "$processes processes in epoch $epochs do not go on"; cat out; }
    done
  }
  turns alone 1 1 1
  alone=$(number '^trained after .* held out ([0-9.]+)$')
  turns both-in-turns 1 2 1
  near "$(number '^trained after .* held out ([0-9.]+)$')" "$alone" 0.1 || { fail "processes in turns, one alone: $alone"; cat out; }
  python3 - "$launcher" "$program" <<'PY' || fail 'two processes, killed'
import os, signal, subprocess, sys, time
def run(output, *more):
    return [sys.argv[1], "--rank-0-plain", "-n", "2", "--", sys.argv[2], "--corpus", "part.txt", "--size", "16", "--minutes", "600",
            "--epochs", "3", "--loss", "nce", "--samples", "16", "--batch", "1000", "--output", output, *more]
p = subprocess.Popen(run("killed-both", "--checkpoint-every", "0.01"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
while not os.path.exists("killed-both/checkpoints/ckpt-index.json"):
    assert p.poll() is None, p.communicate()
    time.sleep(.005)
p.send_signal(signal.SIGKILL)
p.communicate()
def vectors(output):
    out = subprocess.run(run(output), check=True, capture_output=True, text=True).stdout
    assert ("going on from" in out) == (output == "killed-both"), out
    return open(output + "/embeddings.npy", "rb").read()
assert vectors("killed-both") == vectors("whole-both"), "killed and resumed: other vectors"
PY
fi

# Compressed text gives the same vectors, and is the same text.
gzip -c corpus.txt >corpus.txt.gz
on corpus.txt.gz --epochs 2 --output one >out 2>&1 && grep -q 'going on from one' out || { fail 'the same text, compressed'; cat out; }
small --epochs 1 --threads 1 --output plain >/dev/null 2>&1 || fail 'plain text'
on corpus.txt.gz --epochs 1 --threads 1 --output inflated >out 2>&1 || { fail 'compressed text'; cat out; }
cmp -s plain/embeddings.npy inflated/embeddings.npy || fail 'compressed text gives other vectors'

# A word ends with its file: of files with one word each there are pairs to learn from.
python3 -c '
import os
os.mkdir("single")
for i in range(400): open(f"single/{i:03}", "w").write(("alpha", "beta", "gamma")[i * i % 7 % 3])'
on single --epochs 2 --sample 0 --held-out 0 --output single-words >out 2>&1 || { fail 'many files'; cat out; }
grep -q '^400 words, 4 in the vocabulary' out || { fail 'many files: the words'; cat out; }
near "$(number '^trained after .*, loss ([0-9.]+),')" 2.5 2 || { fail 'many files: nothing to learn from'; cat out; }

# What a run must agree with to be gone on with.
sed 's/topicaworda/topicawordz/g' corpus.txt >other.txt
cp one/vocabulary.txt before
says 'text was "' on other.txt --output one
says 'negatives was "5", is "6"' small --output one --negatives 6
says 'seed was "1", is "2"' small --output one --seed 2
cmp -s before one/vocabulary.txt || fail 'a refused run changed the vocabulary'

# Bytes that are not UTF-8 do not get into the files of a run.
sed "s/topicaworda/topic$(printf '\344')worda/g; s/topicbworda/topic$(printf '\303\244')wordb/g" corpus.txt >latin.txt
on latin.txt --epochs 1 --output latin >out 2>&1 || { fail 'Latin-1'; cat out; }
grep -q '^1 words have bytes that are not UTF-8' out || { fail 'no word of bytes that are not UTF-8'; cat out; }
python3 - <<'PY' || fail 'Latin-1: the files'
import xml.etree.ElementTree as xml
xml.parse("latin/words.svg")
for name in ("vectors.txt", "vectors.metadata.tsv", "vocabulary.txt"):
    text = open("latin/" + name, encoding="utf-8").read()
    assert "topic\ufffdworda" in text and "topic\u00e4wordb" in text, name
PY
if [ -x "$launcher" ]; then  # all processes go on with the words of the first one
  head -n 500 latin.txt >latin-part.txt
  for epochs in 1 2; do
    "$launcher" --rank-0-plain -n 2 -- "$program" --corpus latin-part.txt --size 16 --minutes 60 --epochs $epochs \
      --output latin-both >out 2>&1 || { fail "Latin-1, two processes, epoch $epochs"; cat out; }
  done
  grep -q '^going on from' out || { fail 'Latin-1, two processes do not go on'; cat out; }
fi

# Bad input.
says 'there is no nowhere.txt' "$program" --corpus nowhere.txt
says 'empty.txt is empty\|of 0 words' "$program" --corpus empty.txt --output x
says 'binary.txt is binary' "$program" --corpus binary.txt --output x
says 'a longer text or a lower --min-count' "$program" --corpus short.txt --output x
says 'size was "16", is "17"' "$program" --corpus corpus.txt --size 17 --output one
says 'lines was "joined", is "ended"' "$program" --corpus corpus.txt --size 16 --lines --output one
says "'zebra' has no vector" "$program" --output one --nearest zebra
says 'cannot read the vocabulary nowhere/' "$program" --output nowhere --nearest zebra
says 'training diverged' small --epochs 3 --learning-rate 1e30 --output bad
cp -r one tornrun && for file in tornrun/checkpoints/*.safetensors; do head -c 100 "$file" >torn && mv torn "$file"; done
says 'is damaged' small --output tornrun
says 'model' "$program" --model nonsense
says "'abc' is not a whole number of at least 2" "$program" --size abc
says "'-1' is not a number greater than 0" "$program" --minutes -1
fails_with 1 'cannot make the folder empty.txt' "$program" --corpus corpus.txt --output empty.txt/x
fails_with 1 'cannot make the folder /proc/nowhere' "$program" --corpus corpus.txt --output /proc/nowhere
"$program" --help >out 2>&1 && grep -q -- --data out || fail 'no help'
narrow_help
fails_with 2 'nonsense' "$program" --nonsense
fails_with 2 "'x' is not a whole number of at least 0" "$program" --seed x
fails_with 1 'there is no nowhere.txt' "$program" --data nowhere.txt
says 'device' "$program" --corpus corpus.txt --device TPU:0 --output y
[ ! -e x/vocabulary.txt ] || fail 'a corpus without words left a vocabulary'

finish
