#!/bin/sh
# sequence_classification as a user meets it: held-out reviews and mails, an interrupt, and what goes wrong.
# Usage: sequence_classification.sh PROGRAM
. "$(dirname "$0")/support.sh"

held_out='after [0-9]+ steps: ([0-9.]+) % of the held-out texts right'

"$program" --steps 600 --seed 2 --checkpoint reviews >out 2>&1 || { fail 'reviews'; cat out; }
near "$(number "$held_out")" 100 5 || { fail 'reviews: held out'; cat out; }
grep -q '^5000 texts, 1000 of them held out$' out || { fail 'the sizes'; cat out; }
norm() { number "largest norm of a step.s gradients${1:-}: ([0-9.]+)"; }
near "$(norm)" 25 8 || { fail 'the gradients, which are not clipped'; cat out; }
cp out whole.out

# Gradients of which all stay inside of a limit lead there, too.
"$program" --steps 600 --seed 2 --clip 0.5 --checkpoint clipped >out 2>&1 || { fail 'clipped'; cat out; }
near "$(norm ', clipped')" 0.5 0.001 || { fail 'the clipped gradients'; cat out; }
near "$(number "$held_out")" 100 5 || { fail 'clipped: held out'; cat out; }

# Killed and resumed equals uninterrupted.
killed killed --steps 600 --seed 2 --checkpoint killed
"$program" --steps 600 --seed 2 --checkpoint killed >out 2>&1 && grep -q 'going on from killed' out || { fail 'resume'; cat out; }
curve() { sed -n 's/; [0-9]* texts.s$//; /^step\|^largest\|^after/p' "$@" | sort -u; }
curve whole.out >whole.curve
{ [ "$(wc -l <whole.curve)" = 5 ] && curve killed.out out | cmp -s - whole.curve; } ||
  { fail 'killed and uninterrupted training differ'; cat whole.out killed.out out; }
cmp -s reviews killed || fail 'the checkpoints of a killed and an uninterrupted run differ'
says "clip is 0, not 1;" "$program" --seed 2 --clip 1 --checkpoint killed

if has_real text/spam.tsv.gz; then
  "$program" --data "$real/text/spam.tsv.gz" --steps 400 --checkpoint mails >out 2>&1 || { fail 'mails'; cat out; }
  near "$(number "$held_out")" 96.5 3.5 || { fail 'mails: held out'; cat out; }
fi

# Texts without a known word, three classes, fewer words than the vocabulary has room for.
awk 'BEGIN { OFS = "\t"; print "label", "subject", "body"; split("red green blue", color, " ")
  for (i = 0; i < 300; ++i) print color[i % 3 + 1], (i % 49 ? "a picture of" : ""), (i % 49 ? color[i % 3 + 1] : "7") }' >own.tsv
"$program" --data own.tsv --steps 300 --units 8 --embedding 8 --checkpoint own >out 2>&1 || { fail 'a file'; cat out; }
near "$(number "$held_out")" 98 2 || { fail 'three classes'; cat out; }

stops_at_interrupt --steps 1000000 --units 8 --checkpoint stopped
[ -s stopped ] || fail 'no checkpoint after an interrupt'
bad_data "$(printf 'label\tsubject\tbody')"
fails_with 2 "'0' is not a whole number of at least 1" "$program" --units 0
fails_with 2 "'0' is not a number greater than 0" "$program" --clip 0
bad_folder "$program"
finish
