#!/bin/sh
# polynomial_fit as a user meets it: the spread of its weights, points of a file, and what goes wrong.
# Usage: polynomial_fit.sh PROGRAM
. "$(dirname "$0")/support.sh"

# The numbers of 40 runs elsewhere: 4.992 +- .005, 0 +- .001, 3.07 to 4.20.
for seed in 1 2 3 4 5; do
  "$program" --seed $seed >out 2>&1 || { fail "seed $seed"; cat out; }
  weights_near 4.99 .03 0 .01 3.65 .65 || { fail "seed $seed"; cat out; }
done
"$program" --seed 1 >a && "$program" --seed 1 >b && cmp -s a b || fail 'the same seed gives another result'
"$program" --steps 2000 >out 2>&1 && weights_near 5 .01 0 .005 3.01 .07 || { fail '2000 steps'; cat out; }

# Points of y = 2 x^2 - x + 1.
{ echo x,y; awk 'BEGIN { for (x = -3; x <= 3; x += .25) print x "," 2 * x * x - x + 1 }'; } >points.csv
"$program" --data points.csv >out 2>&1 && weights_near 2 .01 -1 .01 1 .05 || { fail 'points of a file'; cat out; }

bad_data x,y
bad_numbers x,y
printf 'x,y\n1,2\n2,1e30\n' >large.csv
fails_with 1 'training diverged' "$program" --data large.csv
finish
