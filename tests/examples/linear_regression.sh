#!/bin/sh
# linear_regression as a user meets it: its ways agree, a file of its own, and what goes wrong.
# Usage: linear_regression.sh PROGRAM
. "$(dirname "$0")/support.sh"

difference() { number 'normal equation: ([0-9.e+-]+)'; }
at_most() { awk "BEGIN { exit !(\"$1\" != \"\" && $1 + 0 <= $2) }"; }

"$program" >out 2>&1 || { fail default; cat out; }
at_most "$(difference)" 1e-6 || { fail "the ways differ by '$(difference)'"; cat out; }
at_most "$(number ' 10 epochs: within ([0-9.e+-]+)')" .05 || { fail '10 epochs of mini-batches'; cat out; }
at_most "$(number '100 epochs: within ([0-9.e+-]+)')" 1e-3 || { fail '100 epochs of mini-batches'; cat out; }
# The weights are .1 ... .9, and the mean squared error is that of the noise.
awk '/^bias/ || /^feature/ { n++; for (i = NF - 5; i <= NF; ++i) if ($i < n / 10 - .01 || $i > n / 10 + .01) bad = 1 }
     /^mean sq/ { for (i = NF - 5; i <= NF; ++i) if ($i < .009 || $i > .011) bad = 1 }
     END { exit bad || n != 9 }' out || { fail 'the weights'; cat out; }
# In float32 they agree to 1e-4, and not to 1e-9.
"$program" --dtype float32 >out 2>&1 || { fail float32; cat out; }
at_most "$(difference)" 1e-4 || { fail "float32: the ways differ by '$(difference)'"; cat out; }
at_most "$(difference)" 1e-9 && { fail 'float32: too good'; cat out; }
# It can fail: after a tenth of the steps the descents have not arrived.
"$program" --steps 100 >out 2>&1 || { fail '100 steps'; cat out; }
at_most "$(difference)" 1e-3 && { fail '100 steps are enough'; cat out; }

# target = 3 + 2 a - b; the features are scaled before the fit: 2 becomes 2 * deviation of a.
{ echo a,b,target; awk 'BEGIN { srand(1); for (i = 0; i < 300; ++i) { a = rand() * 10; b = rand(); print a "," b "," 3 + 2 * a - b } }'; } >own.csv
"$program" --data own.csv >out 2>&1 || { fail 'a file'; cat out; }
at_most "$(difference)" 1e-6 || { fail 'a file: the ways differ'; cat out; }
grep -q '^mean sq. err *0.0000000 ' out || { fail 'a file: the fit is not exact'; cat out; }

bad_data a,target
bad_numbers a,target
fails_with 2 dtype "$program" --dtype int32
finish
