#!/bin/sh
# sequence_classification as a user meets it: held-out reviews and mails, an interrupt, and what goes wrong.
# Usage: sequence_classification.sh PROGRAM
. "$(dirname "$0")/support.sh"

held_out='after [0-9]+ steps: ([0-9.]+) % of the held-out texts right'

resumes 3 --seed 2
cp whole.out out
near "$(number "$held_out")" 100 5 || { fail 'reviews: held out'; cat out; }
grep -q '^5000 texts, 1000 of them held out$' out || { fail 'the sizes'; cat out; }
says 'clip was "0", is "1"' "$program" --seed 2 --clip 1 --run whole

# Clipped gradients take another way, and lead there, too.
"$program" --epochs 3 --seed 2 --clip 0.5 --run clipped >out 2>&1 || { fail 'clipped'; cat out; }
near "$(number "$held_out")" 100 5 || { fail 'clipped: held out'; cat out; }
epochs_of out | cmp -s - whole.epochs && fail 'clipping has no effect'

if has_real text/spam.tsv.gz; then
  "$program" --data "$real/text/spam.tsv.gz" --epochs 2 --run mails >out 2>&1 || { fail 'mails'; cat out; }
  near "$(number "$held_out")" 96.5 3.5 || { fail 'mails: held out'; cat out; }
fi

# Texts without a known word, three classes, fewer words than the vocabulary has room for.
awk 'BEGIN { OFS = "\t"; print "label", "subject", "body"; split("red green blue", color, " ")
  for (i = 0; i < 300; ++i) print color[i % 3 + 1], (i % 49 ? "a picture of" : ""), (i % 49 ? color[i % 3 + 1] : "7") }' >own.tsv
"$program" --data own.tsv --epochs 25 --units 8 --embedding 8 --run own >out 2>&1 || { fail 'a file'; cat out; }
near "$(number "$held_out")" 98 2 || { fail 'three classes'; cat out; }

interrupted_run --epochs 1000000 --units 8
count=--epochs
bad_data "$(printf 'label\tsubject\tbody')"
fails_with 2 "'0' is not a whole number of at least 1" "$program" --units 0
fails_with 2 "'0' is not a number greater than 0" "$program" --clip 0
bad_run --epochs 1 --units 4 --steps-per-epoch 2
finish
