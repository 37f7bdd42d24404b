#!/bin/sh
# image_classifier as a user meets it: train, resume, interrupt, and what goes wrong. Usage: image_classifier.sh PROGRAM
. "$(dirname "$0")/digits.sh"

"$program" --size 40 30 --checkpoint learnt >out 2>&1 || { fail 'train'; cat out; }
right_above 95
loss=$(sed -n 's/^training loss \([0-9.]*\),.*/\1/p' out)
awk "BEGIN { exit !(\"$loss\" != \"\" && $loss + 0 < 0.1) }" || { fail "the training loss is '$loss'"; cat out; }
grep -q -F '(3, 250, 151, 1) -> (3, 125, 76, 32) -> (3, 63, 38, 32) -> (3, 63, 38, 64) -> (3, 32, 19, 64) -> (3, 38912)' out ||
  { fail 'the chain of shapes'; cat out; }

# Stopped and resumed equals uninterrupted, also if it was killed.
small() { "$program" --size 12 10 "$@"; }
small --steps 90 --checkpoint whole >/dev/null 2>&1 || fail 'train'
for steps in 40 90; do
  small --steps $steps --checkpoint parts >out 2>&1 || { fail "train to $steps"; cat out; }
done
grep -q 'going on from parts' out || fail 'the second run did not resume'
cmp -s whole parts || fail 'resumed and uninterrupted training differ'
killed killed --size 12 10 --steps 90 --checkpoint-every 10 --checkpoint killed
small --steps 90 --checkpoint killed >out 2>&1 && grep -q 'going on from killed' out || { fail 'resume after a kill'; cat out; }
cmp -s whole killed || fail 'killed and uninterrupted training differ'
says "data is 12x10, not 12x11" "$program" --size 12 11 --checkpoint whole
interrupted "$program" --size 12 10 --steps 1000000

if has_real mnist; then
  "$program" --data "$mnist" --batch 32 --steps 1000 --checkpoint real >out 2>&1 || { fail 'train on real digits'; cat out; }
  right_above 94  # 95.7
fi

bad_digits
fails_with 2 "'abc' is not a whole number of at least 8" "$program" --size 12 abc
fails_with 2 'size' "$program" --size 12

finish
