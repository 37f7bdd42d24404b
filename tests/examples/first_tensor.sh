#!/bin/sh
# first_tensor: its output. Usage: first_tensor.sh PROGRAM
. "$(dirname "$0")/support.sh"

"$program" >out || fail 'run'
cat >expected <<'TEXT'
a b =
[[ 50.]
 [110.]]
a + b =
[[11. 22.]
 [13. 24.]]
TEXT
cmp out expected || { fail output; cat out; }
finish
