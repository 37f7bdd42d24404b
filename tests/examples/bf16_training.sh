#!/bin/sh
# bf16_training as a user meets it: bfloat16 learns as float32 does; real digits; and what goes wrong.
# Usage: bf16_training.sh PROGRAM
. "$(dirname "$0")/support.sh"

test_of() { number "^$1  *([0-9.]+) %"; }
within_a_point() {
  near "$(test_of 'bfloat16, float32 weights')" "$(test_of float32)" 1 || { fail "$1: the accuracies"; cat out; }
  awk "BEGIN { exit !($(test_of float32) > $2) }" || { fail "$1: float32"; cat out; }
}

"$program" --steps 200 >out 2>&1 && within_a_point generated 90 || { fail generated; cat out; }
if has_real mnist; then
  "$program" --data "$real/mnist" --steps 400 >out 2>&1 && within_a_point MNIST 92 || { fail MNIST; cat out; }
fi

bad_arguments
mkdir empty binary
: >empty/train-images-idx3-ubyte
head -c 3000 "$program" >binary/train-images-idx3-ubyte
fails_with 1 'no folder nowhere' "$program" --data nowhere
fails_with 1 empty/train-images "$program" --data empty
fails_with 1 binary/train-images "$program" --data binary
finish
