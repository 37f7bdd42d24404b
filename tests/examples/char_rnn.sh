#!/bin/sh
# char_rnn as a user meets it: train, resume, interrupt, sample, and what goes wrong. Usage: char_rnn.sh PROGRAM
. "$(dirname "$0")/support.sh"

small() { "$program" --corpus corpus.txt --hidden 16 --batch 8 --window 20 --checkpoint-every 100 "$@"; }
text_of() { small sample --checkpoint "$1" --characters 80 --seed 3; }

i=0
while [ $i -lt 60 ]; do
  echo "The quick brown fox number $i jumps over the lazy dog; and then it rests." >>corpus.txt
  i=$((i + 1))
done

# It learns: the corpus repeats one sentence, so a guess by the frequency of characters costs 4.4 bits, and what it has
# learnt of the order of characters costs less.
small train --steps 150 --learning-rate 0.01 --dropout 0.1 --checkpoint learnt >out 2>&1 || { fail 'train, to learn'; cat out; }
bits=$(sed -n 's,^trained after 150 steps.*: \([0-9.]*\) bits/char held out at the end.*,\1,p' out)
awk "BEGIN { exit !(\"$bits\" != \"\" && $bits + 0 < 1) }" || { fail "after 150 steps: '$bits' bits/char held out"; cat out; }

# Characters beyond ASCII are kept in the checkpoint, which another run reads.
sed "s/brown/$(printf 'br\303\266wn')/" corpus.txt >umlaut.txt
for steps in 3 6; do
  "$program" train --corpus umlaut.txt --hidden 16 --batch 8 --window 20 --steps $steps --checkpoint umlaut >out 2>&1 ||
    { fail "train with umlauts, to step $steps"; cat out; }
done
small sample --checkpoint umlaut --characters 9 >out 2>&1 || { fail 'sample with umlauts'; cat out; }

# Stopped and resumed equals uninterrupted.
small train --steps 6 --checkpoint whole >out 2>&1 || { fail train; cat out; }
grep -q 'bits/char held out' out || fail 'no held-out bits in the report'
small train --steps 3 --checkpoint parts >/dev/null 2>&1 || fail 'train, first part'
small train --steps 6 --checkpoint parts >out 2>&1 || fail 'train, second part'
grep -q 'going on from parts' out || fail 'the second run did not resume'
text_of whole >a || fail sample
text_of parts >b || fail sample
cmp -s a b || fail 'resumed and uninterrupted training write different texts'
[ "$(tr -d '\n' <a | wc -c)" -ge 80 ] || fail 'the sample is too short'
small sample --checkpoint whole --temperature 0 --characters 40 --seed 1 >a
small sample --checkpoint whole --temperature 0 --characters 40 --seed 2 >b
cmp -s a b || fail 'greedy samples depend on the seed'

# Ctrl-C saves; the same command resumes. Whenever it is killed, the checkpoint is a whole one, and what it was writing
# is removed by the next run. Each signal is sent when a checkpoint has been written by that run: it is training then.
python3 - "$program" <<'PY' || fail 'an interrupted run'
import os, signal, subprocess, sys, time
run = [sys.argv[1], "train", "--corpus", "corpus.txt", "--hidden", "16", "--batch", "8", "--window", "20", "--steps", "1000000", "--patience", "1000000"]
def start(checkpoint, every):
    before = os.stat(checkpoint).st_ino if os.path.exists(checkpoint) else None
    p = subprocess.Popen(run + ["--checkpoint", checkpoint, "--checkpoint-every", every], stdout=subprocess.PIPE, text=True)
    while not os.path.exists(checkpoint) or os.stat(checkpoint).st_ino == before:
        assert p.poll() is None, p.communicate()
        time.sleep(.01)
    return p
p = start("stopped", "2")
p.send_signal(signal.SIGINT)
out = p.communicate()[0]
assert p.returncode == 130 and "interrupted after" in out, (p.returncode, out)
for _ in range(5):
    p = start("killed", "1")
    p.kill()
    p.communicate()
PY
[ -s stopped ] || fail 'no checkpoint after an interrupt'
small train --steps 1 --checkpoint killed >out 2>&1 || { fail 'no whole checkpoint after being killed'; cat out; }
grep -q 'going on from killed' out || fail 'the run after a kill did not resume'
for left in killed.partial.*; do [ ! -e "$left" ] || fail "$left was left by a killed run"; done

# Killed and resumed equals uninterrupted: all of the state but the seconds.
to_40() { "$program" train --corpus corpus.txt --hidden 16 --batch 8 --window 20 --steps 40 --checkpoint-every 5 --dropout 0.2 "$@"; }
to_40 --checkpoint whole40 >whole.out 2>&1 || { fail 'train to 40'; cat whole.out; }
killed killed40 train --corpus corpus.txt --hidden 16 --batch 8 --window 20 --steps 40 --checkpoint-every 5 --dropout 0.2 \
  --checkpoint killed40
to_40 --checkpoint killed40 >out 2>&1 && grep -q 'going on from killed40' out || { fail 'resume after a kill'; cat out; }
same_tensors whole40 killed40 seconds || { fail 'killed and uninterrupted training differ'; cat whole.out out; }
at_40=$(sed -n 's/^step 40: .* in training, //p' whole.out)
{ [ -n "$at_40" ] && grep -q -F "$at_40" out; } || { fail 'killed: other held-out bits'; cat whole.out out; }

# Real text: after 500,000 characters it is better than a table of what follows each character, 3.51 bits.
if has_real text/state_of_the_union.txt.gz; then
  "$program" train --data "$real/text/state_of_the_union.txt.gz" --hidden 128 --batch 50 --steps 200 --checkpoint-every 1000 \
    --checkpoint speeches >out 2>&1 || { fail 'train on speeches'; cat out; }
  near "$(number ': ([0-9.]+) bits/char held out at the end')" 3.2 0.3 || { fail 'speeches: held out'; cat out; }
fi

# Training ends when held-out text gets no better, and the best weights are what is sampled.
"$program" train --corpus corpus.txt --hidden 16 --batch 8 --window 20 --learning-rate 0.5 --clip 1000 --steps 5000 \
  --checkpoint-every 10 --patience 2 --checkpoint early >out 2>&1 || { fail 'train, to stop early'; cat out; }
best=$(sed -n 's/^stopped as held-out text got no better.* at its best (step \([0-9]*\),.*/\1/p' out)
last=$(sed -n 's/^step \([0-9]*\): .* held out.*/\1/p' out | tail -n 1)
[ "$last" = $((${best:--20} + 20)) ] || { fail "best at step '$best', but the last evaluation was at step '$last'"; cat out; }
grep -q "^step $best: .*(best)" out || { fail 'the best step is not marked'; cat out; }

# Bad input.
: >empty.txt
printf 'abc\000def' >binary.txt
echo short >short.txt
says 'there is no nowhere.txt' "$program" train --corpus nowhere.txt
says 'empty.txt is empty' "$program" train --corpus empty.txt
says 'binary.txt is binary' "$program" train --corpus binary.txt
says 'fewer than a window' "$program" train --corpus short.txt
# What a run must agree with to be gone on with: model, settings and text, by its content.
goes_on() { "$program" train --corpus "$1" --hidden "$2" --batch "$3" --window "$4" --seed "$5" --steps 9 --checkpoint whole; }
cp whole before
sed 's/fox/cat/' corpus.txt >other.txt
fails_with 1 'text is corpus.txt, not other.txt; name another file with --checkpoint' goes_on other.txt 16 8 20 1
fails_with 1 'hidden is 16, not 17; name another file with --checkpoint' goes_on corpus.txt 17 8 20 1
fails_with 1 'seed is 1, not 2;' goes_on corpus.txt 16 8 20 2
fails_with 1 'batch is 8, not 9;' goes_on corpus.txt 16 9 20 1
fails_with 1 'window is 20, not 21;' goes_on corpus.txt 16 8 21 1
cp corpus.txt kept.txt
echo 'and one line more' >>corpus.txt
fails_with 1 'corpus.txt has changed since;' goes_on corpus.txt 16 8 20 1
mv kept.txt corpus.txt
cmp -s whole before || fail 'a refused run changed the checkpoint'
gzip -c corpus.txt >renamed.txt.gz
goes_on renamed.txt.gz 16 8 20 1 >out 2>&1 && grep -q 'going on from whole' out || { fail 'the same text under another name'; cat out; }
says 'training diverged' small train --steps 400 --checkpoint bad --learning-rate 1e30 --clip 1e30
head -c 100 whole >torn
says 'is damaged' small train --steps 9 --checkpoint torn
python3 - <<'PY'
import json, struct
header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
open("foreign", "wb").write(struct.pack("<Q", len(header)) + header + bytes(4))
PY
says 'program is unknown, not char_rnn' small train --steps 9 --checkpoint foreign
says 'is not a checkpoint of char_rnn' small sample --checkpoint foreign
says 'checkpoint-every' "$program" --checkpoint-every 0
fails_with 2 "'0' is not a whole number of at least 1" "$program" --steps 0
says 'none of its characters' small sample --checkpoint whole --start '@@'
says 'cell' "$program" --cell nonsense
says "'abc' is not a whole number of at least 1" "$program" --hidden abc
says "'1' is not a number in" "$program" --dropout 1
says "'-1' is not a number greater than 0" "$program" --minutes -1
"$program" --help >out 2>&1 && grep -q -- --data out || fail 'no help'
"$program" train --help >out 2>&1 || fail 'no help of train'
fails_with 2 'nonsense' "$program" --nonsense
fails_with 2 "'abc' is not a whole number of at least 1" "$program" train --hidden abc
bad_folder small train --steps 100
[ ! -e bad ] || fail 'a diverged run left a checkpoint'

finish
