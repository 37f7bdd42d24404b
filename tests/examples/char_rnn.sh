#!/bin/sh
# char_rnn as a user meets it: train, resume, interrupt, sample, and what goes wrong. Usage: char_rnn.sh PROGRAM
. "$(dirname "$0")/support.sh"

tiny='--data corpus.txt --hidden 16 --batch 8 --window 20'
small() { "$program" $tiny "$@"; }
text_of() { small sample --run "$1" --characters 80 --seed 3; }

i=0
while [ $i -lt 60 ]; do
  echo "The quick brown fox number $i jumps over the lazy dog; and then it rests." >>corpus.txt
  i=$((i + 1))
done

# It learns: the corpus repeats one sentence, so a guess by the frequency of characters costs 4.4 bits, and what it has
# learnt of the order of characters costs less.
small train --epochs 1 --steps-per-epoch 150 --learning-rate 0.01 --dropout 0.1 --run learnt >out 2>&1 || { fail 'train, to learn'; cat out; }
bits=$(sed -n 's,^trained after 1 epochs: \([0-9.]*\) bits/char held out at the end.*,\1,p' out)
awk "BEGIN { exit !(\"$bits\" != \"\" && $bits + 0 < 1) }" || { fail "after 150 steps: '$bits' bits/char held out"; cat out; }

# Characters beyond ASCII are kept with the weights, and do not keep a run from going on.
sed "s/brown/$(printf 'br\303\266wn')/" corpus.txt >umlaut.txt
for epochs in 1 2; do
  "$program" train --data umlaut.txt --hidden 16 --batch 8 --window 20 --epochs $epochs --steps-per-epoch 3 --run umlaut >out 2>&1 ||
    { fail "train with umlauts, to epoch $epochs"; cat out; }
done
small sample --run umlaut --characters 9 >out 2>&1 || { fail 'sample with umlauts'; cat out; }

# Killed and resumed equals uninterrupted: the epochs, the checkpoint, and what is written with the best weights.
resumes 8 train $tiny --steps-per-epoch 5 --dropout 0.2
grep -q 'bits/char held out' whole.out || fail 'no held-out bits in the report'
text_of whole >a || fail sample
text_of parts >b || fail sample
cmp -s a b || fail 'resumed and uninterrupted training write different texts'
[ "$(tr -d '\n' <a | wc -c)" -ge 80 ] || fail 'the sample is too short'
small sample --run whole --temperature 0 --characters 40 --seed 1 >a
small sample --run whole --temperature 0 --characters 40 --seed 2 >b
cmp -s a b || fail 'greedy samples depend on the seed'
interrupted_run train $tiny --epochs 1000000 --steps-per-epoch 2 --patience 1000000

# Real text: after 500,000 characters it is better than a table of what follows each character, 3.51 bits.
if has_real text/state_of_the_union.txt.gz; then
  "$program" train --data "$real/text/state_of_the_union.txt.gz" --hidden 128 --batch 50 --epochs 1 \
    --run speeches >out 2>&1 || { fail 'train on speeches'; cat out; }
  near "$(number ': ([0-9.]+) bits/char held out at the end')" 3.2 0.3 || { fail 'speeches: held out'; cat out; }
fi

# Training ends when held-out text gets no better, and the best weights are what is sampled.
small train --learning-rate 0.5 --clip 1000 --epochs 500 --steps-per-epoch 10 --patience 2 --run early >out 2>&1 ||
  { fail 'train, to stop early'; cat out; }
best=$(sed -n 's/^stopped as held-out text got no better after.* at its best (epoch \([0-9]*\),.*/\1/p' out)
last=$(sed -n 's,^epoch \([0-9]*\)/.*,\1,p' out | tail -n 1)
[ "$last" = $((${best:--2} + 2)) ] || { fail "best in epoch '$best', but the last one is '$last'"; cat out; }
least=$(sed -n 's/^epoch .* held_out //p' out | sort -g | head -n 1)
[ "$(sed -n "s,^epoch \([0-9]*\)/.* held_out $least\$,\1,p" out | head -n 1)" = "$best" ] || { fail 'another epoch is the best'; cat out; }

# Two processes learn the same as one, also from batches of 7, of which one has 4 rows and the other 3; one goes on from
# their checkpoint. They report and sample once.
launcher=$(dirname "$program")/tandem_run
if [ -x "$launcher" ]; then
  data='--data corpus.txt --hidden 16 --window 20'
  several="train $data --batch 7 --steps-per-epoch 30 --learning-rate 0.01 --dropout 0"
  "$program" $several --epochs 1 --run one >one.out 2>&1 || { fail 'one process'; cat one.out; }
  "$launcher" --rank-0-plain -n 2 -- "$program" $several --epochs 1 --run two >two.out 2>&1 || { fail 'two processes'; cat two.out; }
  values() { sed -n 's,^epoch 1/1: loss \([0-9.]*\).* held_out \([0-9.]*\).*,\1 \2,p' "$1"; }
  echo "$(values one.out) $(values two.out)" |
    awk '{ a = $1 - $3; b = $2 - $4; exit !(NF == 4 && a * a < 1e-6 && b * b < 1e-6) }' ||
    { fail "one process: '$(values one.out)', two: '$(values two.out)'"; cat one.out two.out; }
  [ "$(grep -c '^trained after 1 epochs' two.out)" = 1 ] || { fail 'each process reports'; cat two.out; }
  "$program" $several --epochs 2 --run two >out 2>&1 || { fail 'one after two'; cat out; }
  grep -q '^epoch 2/2' out && ! grep -q '^epoch 1/2' out || { fail 'one does not go on from two'; cat out; }
  "$launcher" --rank-0-plain -n 2 -- "$program" $data --batch 8 --steps-per-epoch 1 --epochs 1 --characters 40 --run both >out 2>&1 ||
    { fail 'two processes, with a sample'; cat out; }
  [ "$(grep -c '^A sample at' out)" = 1 ] || { fail 'not one sample of two processes'; cat out; }
  # A batch of 1: the second process has no rows of it.
  says "fewer rows than there are processes" "$launcher" --rank-0-plain -n 2 -- "$program" train $data --batch 1 --run none
fi

# Bad input.
: >empty.txt
printf 'abc\000def' >binary.txt
echo short >short.txt
says 'there is no nowhere.txt' "$program" train --data nowhere.txt
says 'empty.txt is empty' "$program" train --data empty.txt
says 'binary.txt is binary' "$program" train --data binary.txt
says 'fewer than a window' "$program" train --data short.txt
# What a run must agree with to be gone on with: model, settings and text, by its content.
goes_on() { "$program" train --data "$1" --hidden "$2" --batch "$3" --window "$4" --seed "$5" --epochs 9 --steps-per-epoch 5 --dropout 0.2 --run whole; }
sed 's/fox/cat/' corpus.txt >other.txt
says 'data was "' goes_on other.txt 16 8 20 1
says 'hidden was "16", is "17"' goes_on corpus.txt 17 8 20 1
says 'seed was "1", is "2"' goes_on corpus.txt 16 8 20 2
says 'batch was "8", is "9"' goes_on corpus.txt 16 9 20 1
says 'window was "20", is "21"' goes_on corpus.txt 16 8 21 1
gzip -c corpus.txt >renamed.txt.gz
goes_on renamed.txt.gz 16 8 20 1 >out 2>&1 && grep -q '^epoch 9/9' out || { fail 'the same text under another name'; cat out; }
says 'training diverged' small train --epochs 2 --run bad --learning-rate 1e30 --clip 1e30
[ ! -e bad/best.safetensors ] || fail 'a diverged run left weights'
mkdir foreign && python3 - <<'PY'
import json, struct
header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
open("foreign/best.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + bytes(4))
PY
says 'is not a checkpoint of char_rnn' small sample --run foreign
says 'nowhere/best.safetensors' small sample --run nowhere
fails_with 2 "'0' is not a whole number of at least 1" "$program" --epochs 0
says 'none of its characters' small sample --run whole --start '@@'
says 'cell' "$program" --cell nonsense
says "'abc' is not a whole number of at least 1" "$program" --hidden abc
says "'1' is not a number in" "$program" --dropout 1
says "'-1' is not a number greater than 0" "$program" --clip -1
"$program" --help >out 2>&1 && grep -q -- --data out || fail 'no help'
"$program" train --help >out 2>&1 || fail 'no help of train'
fails_with 2 'nonsense' "$program" --nonsense
fails_with 2 "'abc' is not a whole number of at least 1" "$program" train --hidden abc
bad_run train $tiny --epochs 1 --steps-per-epoch 1

finish
