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
text() { "$program" --corpus corpus.txt --minutes 0.05 --prompts 40 --length 20 --width 4 "$@"; }
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
text --prompt 'The quick brown ' >out 2>&1 || { fail 'a prompt'; cat out; }
grep -q '^  .*fox number' out || { fail 'the continuation of a prompt'; cat out; }

# Dates: a few steps; Ctrl-C saves, the same command goes on; the picture has a row for each character.
python3 - "$program" <<'PY' || fail 'an interrupted run'
import os, signal, subprocess, sys
p = subprocess.Popen([sys.argv[1], "dates", "--minutes", "60"], stdout=subprocess.PIPE, text=True)
out = p.stdout.readline()  # of the first step
p.send_signal(signal.SIGINT)
out += p.communicate()[0]
assert p.returncode == 130 and "interrupted" in out and os.path.exists("dates.safetensors"), (p.returncode, out)
PY
"$program" dates --minutes 0.1 --tests 50 --date '3.4.1997' >out 2>&1 || { fail 'dates'; cat out; }
grep -q 'going on from dates.safetensors' out || { fail 'the run did not go on'; cat out; }
grep -q 'of 50 dates that were not trained on' out || { fail 'no result'; cat out; }
python3 - <<'PY' || { fail 'the picture'; cat out; }
svg = open("attention.svg").read()
assert svg.count("<text") >= 8 and svg.count("fill-opacity") % 8 == 0, svg[:300]
PY

# Bad input.
head -c 100 dates.safetensors >torn
says 'there is no nowhere.txt' "$program" --corpus nowhere.txt
says 'is not a checkpoint of char_rnn' text --checkpoint dates.safetensors
says 'is not a checkpoint of this task' "$program" dates --checkpoint beam_search.safetensors
says 'is damaged' "$program" dates --checkpoint torn
says 'two characters or more' text --prompt '@'
says "which dates are not written with" "$program" dates --date '3 April_1997'
for task in '' dates; do
  "$program" $task --help >out 2>&1 && grep -q -- --checkpoint out || fail "no help of beam_search $task"
  fails_with 2 'nonsense' "$program" $task --nonsense
  fails_with 2 "'x' is not a whole number of at least 0" "$program" $task --seed x
  bad_folder "$program" $task
done
fails_with 1 'there is no nowhere.txt' "$program" --data nowhere.txt
says "'0' is not a whole number of at least 1" "$program" --width 0
: >empty.txt
says 'empty.txt is empty' "$program" --corpus empty.txt --checkpoint x
echo short >short.txt
says 'fewer than a window' "$program" --corpus short.txt --checkpoint x

finish
