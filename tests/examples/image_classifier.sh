#!/bin/sh
# image_classifier as a user meets it: train, resume, interrupt, and what goes wrong. Usage: image_classifier.sh PROGRAM
. "$(dirname "$0")/digits.sh"

"$program" --size 40 30 --run learnt >out 2>&1 || { fail 'train'; cat out; }
right_above 95
loss=$(sed -n 's/^training loss \([0-9.]*\),.*/\1/p' out)
awk "BEGIN { exit !(\"$loss\" != \"\" && $loss + 0 < 0.1) }" || { fail "the training loss is '$loss'"; cat out; }
grep -q -F '(3, 250, 151, 1) -> (3, 125, 76, 32) -> (3, 63, 38, 32) -> (3, 63, 38, 64) -> (3, 32, 19, 64) -> (3, 38912)' out ||
  { fail 'the chain of shapes'; cat out; }

# Stopped in the middle of an epoch of the data and resumed equals uninterrupted.
resumes 4 --size 12 10 --steps-per-epoch 15
says 'data was "' "$program" --size 12 11 --steps-per-epoch 15 --run whole

# The user's own pictures: those of the first run, of two classes, in other formats and sizes.
mkdir -p own && cp -r image_classifier_pictures/40x30_1/horizontal image_classifier_pictures/12x10_1/vertical own
"$program" --data own --size 20 16 --epochs 1 --steps-per-epoch 20 --batch 8 --run mine >out 2>&1 && grep -q 'of 40 held-out pictures' out ||
  { fail 'a folder of pictures'; cat out; }
head -c 200 own/vertical/001.jpg >own/vertical/broken.jpg
"$program" --data own --size 20 16 --epochs 1 --steps-per-epoch 20 --batch 8 --run broken >out 2>&1
[ $? = 1 ] && grep -q '(own/vertical/broken.jpg)' out || { fail 'a broken picture is not named'; cat out; }
interrupted_run --size 12 10 --epochs 1000000

if has_real mnist; then
  "$program" --data "$mnist" --epochs 10 --run real >out 2>&1 || { fail 'train on real digits'; cat out; }
  right_above 94  # 95.7
fi

bad_digits
fails_with 2 "'abc' is not a whole number of at least 8" "$program" --size 12 abc
fails_with 2 'size' "$program" --size 12
bad_run --size 12 10 --epochs 1 --steps-per-epoch 1

finish
