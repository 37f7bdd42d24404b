#!/bin/sh
# data_parallel as a user meets it: the same weights with any number of slices, and what goes wrong.
# Usage: data_parallel.sh PROGRAM
. "$(dirname "$0")/support.sh"

same() { awk "BEGIN { d = \"$(number 'difference of a weight: ([0-9.e+-]+)')\"; exit !(d != \"\" && d + 0 <= 1e-6) }"; }

"$program" >out 2>&1 || { fail default; cat out; }
grep -q 'in slices of 3 3 2 2: equal' out || { fail 'a + b'; cat out; }
same || { fail 'the weights differ'; cat out; }
[ "$(grep -c 'slice.*: y =' out)" = 3 ] || { fail 'not three fits'; cat out; }
weights_near 4.99 .03 0 .01 3.65 .65 || { fail 'the weights'; cat out; }
"$program" --batch 10 --steps 300 --devices CPU:0 CPU:1 CPU:3 CPU:3 >out 2>&1 && same || { fail '10 points'; cat out; }

fails_with 1 "CPU:4 does not exist; there are 4" "$program" --steps 1 --devices CPU:4
fails_with 1 "'TPU:0' does not name a device" "$program" --steps 1 --devices TPU:0
bad_data x,y
finish
