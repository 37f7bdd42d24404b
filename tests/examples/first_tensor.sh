#!/bin/sh
# first_tensor: its output. Usage: first_tensor.sh PROGRAM
. "$(dirname "$0")/support.sh"

"$program" >out || fail 'run'
cat >expected <<'TEXT'
a b =
tandem.Tensor(
[[ 50.0],
 [110.0]], shape=(2, 1), dtype=float32)
a + b =
tandem.Tensor(
[[11.0, 22.0],
 [13.0, 24.0]], shape=(2, 2), dtype=float32)
TEXT
cmp out expected || { fail output; cat out; }
finish
