#!/bin/sh
# beam_search as a user meets it: both tasks, resume, interrupt, and what goes wrong. Usage: beam_search.sh PROGRAM
. "$(dirname "$0")/support.sh"

# Every line begins alike and goes on with words in any order, where the likeliest next character is not the best start.
python3 - >corpus.txt <<'PY'
import random
r = random.Random(1)
words = "dog dogs jumps lazy lake late rests rivers over other and again then there the this sleeps slowly".split()
for i in range(250):
    print("The quick brown fox number", i, *r.choices(words, k=9))
PY

# Texts: a model is trained at the first use and used by the next run. The beam's best hypotheses are likelier.
on() {  # on TEXT ARGUMENTS...
  corpus=$1
  shift
  "$program" --data "$corpus" --epochs 3 --steps-per-epoch 100 --prompts 40 --length 20 --width 4 "$@"
}
text() { on corpus.txt "$@"; }
text >out 2>&1 || { fail 'the first run'; cat out; }
grep -q 'training a small character model' out || { fail 'no word of training'; cat out; }
python3 - <<'PY' || { fail 'what the first run reports'; cat out; }
import re
out = open("out").read()
greedy, beam = map(float, re.search(r"mean log-probability (-[0-9.]+) greedy, (-[0-9.]+) with 4 beams", out).groups())
assert beam > greedy, (beam, greedy)
beams = re.findall(r"^  +(-[0-9.]+)  (.{20,})$", out, re.M)[:4]
assert len({text for _, text in beams}) == 4, beams
scores = [float(score) for score, _ in beams]
assert scores == sorted(scores, reverse=True), scores
PY
text >again 2>&1 || fail 'the second run'
grep -q 'training' again && fail 'the second run trained again'
sed 's/fox/cat/' corpus.txt >other.txt
says 'data was "' on other.txt
says 'seed was "1", is "2"' text --seed 2
text --prompt 'The quick brown ' >out 2>&1 || { fail 'a prompt'; cat out; }
grep -q '^  .*fox number' out || { fail 'the continuation of a prompt'; cat out; }

# Dates: an epoch; Ctrl-C saves, the same command goes on; the picture has a row for each character.
dates() { "$program" dates --epochs 1 --tests 500 --date '3.4.1997' "$@"; }
python3 - "$program" <<'PY' || fail 'an interrupted run'
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored where tests run in the background
p = subprocess.Popen([sys.argv[1], "dates", "--epochs", "1", "--run", "stopped"], stdout=subprocess.PIPE, text=True)
while not os.path.exists("stopped/run.json"): time.sleep(.01)
p.send_signal(signal.SIGINT)
out = p.communicate()[0]
assert p.returncode == 130 and "interrupted" in out and os.path.exists("stopped/checkpoints/ckpt-index.json"), (p.returncode, out)
PY
dates --run stopped >out 2>&1 || { fail 'dates'; cat out; }
near "$(number 'of 500 dates that were not trained on ([0-9.]+) %')" 99 1 || { fail 'dates: accuracy'; cat out; }
grep -q '^  .* 1997-04-03$' out || { fail 'the date'; cat out; }
cp out once
dates --run stopped >out 2>&1 || { fail 'trained dates'; cat out; }
grep -q '^epoch' out && { fail 'a finished run trains'; cat out; }
python3 - <<'PY' || { fail 'the picture'; cat out; }
import re
import xml.etree.ElementTree as xml
ns = "{http://www.w3.org/2000/svg}"
svg = xml.parse("attention.svg").getroot()
assert svg.find(ns + "title").text == "Where the model looks while it writes 1997-04-03", svg.find(ns + "title")
rows = [0] * 10  # the weights of each written character: strokes of cells with their opacity
for path in svg.iter(ns + "path"):
    for y, n in re.findall(r"M\d+ (\d+)\.5h(\d+)", path.get("d")) if path.get("stroke-opacity") else []:
        rows[int(y)] += int(n) * float(path.get("stroke-opacity"))
for sum_of_weights in rows: assert abs(sum_of_weights - 1) < 0.07, rows  # 64 levels
PY

# Bad input.
says 'there is no nowhere.txt' "$program" --data nowhere.txt
mkdir foreign && cp "$(latest stopped)" foreign/best.safetensors
says 'is not a checkpoint of char_rnn' text --run foreign
says 'program was "beam_search", is "beam_search dates"' "$program" dates --run beam_search_run
says 'two characters or more' text --prompt '@'
says "which dates are not written with" "$program" dates --date '3 April_1997'
for task in '' dates; do
  "$program" $task --help >out 2>&1 && grep -q -- --run out || fail "no help of beam_search $task"
  fails_with 2 'nonsense' "$program" $task --nonsense
  narrow_help $task
  fails_with 2 "'x' is not a whole number of at least 0" "$program" $task --seed x
  : >wall
  says wall "$program" $task --run wall/run
done
fails_with 1 'there is no nowhere.txt' "$program" --data nowhere.txt
says "'0' is not a whole number of at least 1" "$program" --width 0
: >empty.txt
says 'empty.txt is empty' "$program" --data empty.txt --run x
echo short >short.txt
says 'fewer than a window' "$program" --data short.txt --run x

finish
