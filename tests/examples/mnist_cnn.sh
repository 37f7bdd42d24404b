#!/bin/sh
# mnist_cnn as a user meets it: train, resume, interrupt, and what goes wrong. Usage: mnist_cnn.sh PROGRAM
. "$(dirname "$0")/digits.sh"

"$program" --epochs 1 --steps-per-epoch 40 --batch 50 --run learnt >out 2>&1 || { fail 'train'; cat out; }
right_above 80
grep -q '^flatten (flatten)  *(None, 3136)' out || { fail 'no summary'; cat out; }
# The rows of the confusion matrix: the counts are those of the digits, most of them on the diagonal.
awk '/^    [0-9]  / { for (i = 2; i <= NF; ++i) all += $i; right += $($1 + 2) }
     END { exit !(all == 1500 && right > 1200) }' out || { fail 'the confusion matrix'; cat out; }

# Killed and resumed equals uninterrupted, the moving averages of batch normalization included.
resumes 3 --batch 10 --batch-normalization --steps-per-epoch 2
says 'batch normalization was "on", is "off"' "$program" --batch 10 --steps-per-epoch 2 --run whole
interrupted_run --epochs 1000 --steps-per-epoch 5
mkdir foreign && echo '{"format":1}' >foreign/run.json
says 'foreign/run.json' "$program" --run foreign

if has_real mnist; then
  "$program" --data "$mnist" --epochs 1 --steps-per-epoch 150 --batch 50 --run real >out 2>&1 || { fail 'train on real digits'; cat out; }
  right_above 95  # 96.7; all 10 epochs reach 98.9
fi

# Two processes learn as much, and one goes on from their checkpoint.
launcher=$(dirname "$program")/tandem_run
if [ -x "$launcher" ]; then
  "$launcher" --rank-0-plain -n 2 -- "$program" --epochs 1 --steps-per-epoch 40 --batch 50 --run two >out 2>&1 || { fail 'two processes'; cat out; }
  right_above 80
  [ "$(grep -c '^flatten (flatten)' out)" = 1 ] || { fail 'each process shows the summary'; cat out; }
  "$program" --epochs 2 --steps-per-epoch 40 --batch 50 --run two >out 2>&1 || { fail 'one after two'; cat out; }
  grep -q 'epoch 2/2' out && ! grep -q 'epoch 1/2' out || { fail 'one does not go on from two'; cat out; }
fi

bad_digits
fails_with 2 "'0' is not a whole number of at least 1" "$program" --epochs 0
bad_run --epochs 1 --steps-per-epoch 1 --batch 10

finish
