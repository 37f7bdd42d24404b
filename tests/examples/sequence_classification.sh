#!/bin/sh
# sequence_classification as a user meets it: held-out reviews and mails, an interrupt, and what goes wrong.
# Usage: sequence_classification.sh PROGRAM
. "$(dirname "$0")/support.sh"

held_out='after [0-9]+ steps: ([0-9.]+) % of the held-out texts right'

"$program" --steps 600 --seed 2 >out 2>&1 || { fail 'reviews'; cat out; }
near "$(number "$held_out")" 100 5 || { fail 'reviews: held out'; cat out; }
grep -q '^5000 texts, 1000 of them held out$' out || { fail 'the sizes'; cat out; }

if has_real text/spam.tsv.gz; then
  "$program" --data "$real/text/spam.tsv.gz" --steps 400 >out 2>&1 || { fail 'mails'; cat out; }
  near "$(number "$held_out")" 96.5 3.5 || { fail 'mails: held out'; cat out; }
fi

# Texts without a known word, three classes, fewer words than the vocabulary has room for.
awk 'BEGIN { OFS = "\t"; print "label", "subject", "body"; split("red green blue", color, " ")
  for (i = 0; i < 300; ++i) print color[i % 3 + 1], (i % 49 ? "a picture of" : ""), (i % 49 ? color[i % 3 + 1] : "7") }' >own.tsv
"$program" --data own.tsv --steps 300 --units 8 --embedding 8 >out 2>&1 || { fail 'a file'; cat out; }
near "$(number "$held_out")" 98 2 || { fail 'three classes'; cat out; }

stops_at_interrupt --steps 1000000 --units 8
bad_data "$(printf 'label\tsubject\tbody')"
fails_with 2 "'0' is not a whole number of at least 1" "$program" --units 0
finish
