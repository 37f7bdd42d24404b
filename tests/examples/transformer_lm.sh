#!/bin/sh
# transformer_lm as a user meets it: train, write, resume, interrupt, and what goes wrong. Usage: transformer_lm.sh PROGRAM
. "$(dirname "$0")/support.sh"

on() {  # on TEXT ARGUMENTS...
  text=$1
  shift
  "$program" --data "$text" --width 32 --window 24 --batch 16 --heads 2 --epochs 2 --learning-rate 0.01 "$@"
}
small() { on corpus.txt "$@"; }
held_out='held out: ([0-9.]+) bits a character'

i=0
while [ $i -lt 120 ]; do
  echo "The quick brown fox number $i jumps over the lazy dog; and then it rests."
  i=$((i + 1))
done >corpus.txt

# It learns: a guess by the frequency of characters costs 4.4 bits; all that has to be guessed here is the number.
small --run model --characters 80 >whole.out 2>&1 || { fail 'train'; cat whole.out; }
cp whole.out out
near "$(number "$held_out")" 0.26 0.06 || { fail 'held out'; cat out; }  # 0.277; with another seed 0.235

# Interrupted and continued equals uninterrupted, the written text included; then it only writes.
interrupted_run --data corpus.txt --width 32 --window 24 --heads 2 --epochs 1000000 --steps-per-epoch 20
python3 - "$program" <<'PY' || fail 'a killed run'
import subprocess, sys
p = subprocess.Popen([sys.argv[1], "--data", "corpus.txt", "--width", "32", "--window", "24", "--batch", "16", "--heads", "2",
                      "--epochs", "2", "--learning-rate", "0.01", "--run", "killed"], stdout=subprocess.PIPE, text=True)
for line in p.stdout:
    if line.startswith("epoch 1/2"): break
p.kill()
p.communicate()
PY
for run in continued trained; do small --run killed --characters 80 >$run.out 2>&1 || { fail $run; cat $run.out; }; done
grep -q '^epoch' trained.out && fail 'a trained model is trained again'
for run in whole continued trained; do sed -n '/^held out/,$p' $run.out >$run; done
{ [ -s whole ] && cmp -s whole continued; } || { fail 'continued and uninterrupted training differ'; cat whole continued; }
cmp -s whole trained || { fail 'a trained model writes something else'; cat whole trained; }
greedy() { small --run model --temperature 0 --characters 40 --start 'number 7'; }
greedy >greedy.1
greedy >greedy.2
cmp -s greedy.1 greedy.2 || fail 'greedy texts differ'
grep -q '^number 7.* jumps over' greedy.1 || { fail 'the start'; cat greedy.1; }

if has_real text/moby_dick.txt.gz; then
  "$program" --data "$real/text/moby_dick.txt.gz" --epochs 2 --width 64 --characters 20 --run moby >out 2>&1 ||
    { fail 'a novel'; cat out; }
  near "$(number "$held_out")" 3.4 0.5 || { fail 'a novel: held out'; cat out; }
fi

# Bad input.
: >empty.txt
printf 'abc\000def' >binary.txt
echo The end >short.txt
printf '\037\213\010\000not gzip' >damaged.txt.gz
fails_with 1 'there is no nowhere.txt (name a text file with --data)' "$program" --data nowhere.txt
fails_with 1 'empty.txt is empty' "$program" --data empty.txt
fails_with 1 'binary.txt is binary' "$program" --data binary.txt
fails_with 1 'damaged.txt.gz' "$program" --data damaged.txt.gz
fails_with 1 'fewer characters than a window' "$program" --data short.txt
fails_with 1 'fewer characters than a window' "$program" --data short.txt --start '@@'
head -c 1000 corpus.txt >brief.txt  # whose last twentieth is shorter than a window
fails_with 1 'fewer characters than a window' "$program" --data brief.txt
says 'dropout was "0.1", is "0.2"' small --run model --dropout 0.2
sed 's/fox/cat/' corpus.txt >other.txt
says 'data was "' on other.txt --run model
fails_with 1 'none of its characters' small --run model --start '@@'
fails_with 1 'heads' "$program" --data corpus.txt --width 10 --heads 3
says 'not finite\|training diverged' "$program" --data corpus.txt --width 32 --window 24 --heads 2 --epochs 2 --learning-rate 1e30 --run bad
[ ! -e bad/checkpoints ] || fail 'a diverged run left a checkpoint'
"$program" --help >out 2>&1 && grep -q -- --data out || fail 'no help'
fails_with 2 "'1' is not a number in" "$program" --dropout 1
count=--epochs
bad_arguments
bad_run --data corpus.txt --width 8 --window 8 --heads 2 --epochs 1 --steps-per-epoch 1 --characters 1
finish
