#!/bin/sh
# mnist_cnn as a user meets it: train, resume, interrupt, and what goes wrong. Usage: mnist_cnn.sh PROGRAM
. "$(dirname "$0")/digits.sh"

"$program" --steps 40 --batch 50 --checkpoint learnt >out 2>&1 || { fail 'train'; cat out; }
right_above 80
grep -q '^flatten (flatten)  *(None, 3136)' out || { fail 'no summary'; cat out; }
# The rows of the confusion matrix: the counts are those of the digits, most of them on the diagonal.
awk '/^    [0-9]  / { for (i = 2; i <= NF; ++i) all += $i; right += $($1 + 2) }
     END { exit !(all == 1500 && right > 1200) }' out || { fail 'the confusion matrix'; cat out; }

# Stopped and resumed equals uninterrupted, the moving averages of batch normalization included.
normalized() { "$program" --batch 10 --batch-normalization "$@"; }
normalized --steps 3 --checkpoint whole >/dev/null 2>&1 || fail 'train with batch normalization'
for steps in 1 3; do
  normalized --steps $steps --checkpoint parts >out 2>&1 || { fail "train with batch normalization to $steps"; cat out; }
done
grep -q 'going on from parts' out || fail 'the second run did not resume'
cmp -s whole parts || fail 'resumed and uninterrupted training differ'
says "batch normalization is on, not off" "$program" --batch 10 --checkpoint whole
interrupted "$program" --epochs 1000
"$program" --steps 1 --batch 10 --checkpoint generated >out 2>&1 || { fail 'a step'; cat out; }
python3 - <<'PY'
import json, struct
header = json.dumps({"__metadata__": {"program": "mnist_mlp"}, "w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
open("foreign", "wb").write(struct.pack("<Q", len(header)) + header + bytes(4))
PY
fails_with 1 'program is mnist_mlp, not mnist_cnn;' begins "$program" --batch 10 --steps 2 --checkpoint foreign

if has_real mnist; then
  "$program" --data "$mnist" --steps 150 --batch 50 --checkpoint real >out 2>&1 || { fail 'train on real digits'; cat out; }
  right_above 95  # 96.7; all 10 epochs reach 98.9
fi

bad_digits
fails_with 2 "'0' is not a whole number of at least 1" "$program" --steps 0

finish
