#!/bin/sh
# logistic_regression as a user meets it: held-out passengers, the exact fit, a file, and what goes wrong.
# Usage: logistic_regression.sh PROGRAM
. "$(dirname "$0")/support.sh"

held_out=0
for seed in 1 2 3 4; do
  "$program" --seed $seed >out 2>&1 || { fail "seed $seed"; cat out; }
  held_out="$held_out + $(number ' ([0-9.]+) % right of those held out')"
  grep -q 'to convergence: 78.68 % of all, loss 0.46402$' out || { fail "seed $seed: the exact fit"; cat out; }
done
# Of 267 passengers, of whom each is 0.4 %: from 74.9 to 81.6, and 77.8 on average.
near "$(awk "BEGIN { print ($held_out) / 4 }")" 77.8 0.8 || fail "held out in four runs: $held_out"

# All women survive, no man does.
{ echo Survived,Pclass,Sex,Age
  awk 'BEGIN { for (i = 0; i < 200; ++i) print i % 2 "," i % 3 + 1 "," (i % 2 ? "female" : "male") "," (i % 7 ? 20 + i % 40 : "") }'
} >own.csv
"$program" --data own.csv >out 2>&1 && near "$(number ' ([0-9.]+) % right of those held out')" 100 0 || { fail 'a file'; cat out; }

bad_data Survived,Pclass,Sex,Age
bad_numbers Pclass,Sex,Age,Survived
finish
