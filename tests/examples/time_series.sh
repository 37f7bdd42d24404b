#!/bin/sh
# time_series as a user meets it: forecasts that are better than naive ones, a file, resuming, and what goes wrong.
# Usage: time_series.sh PROGRAM
. "$(dirname "$0")/support.sh"

resumes 4 --units 32
grep '^3145 held-out forecasts' whole.out >out || { fail 'no result'; cat whole.out; }
error=$(number 'off by ([0-9.]+)') before=$(number 'one period before: ([0-9.]+)') week=$(number '7 periods before: ([0-9.]+)')
awk "BEGIN { exit !(0 < $error && $error < .75 * $before && $error < .75 * $week) }" ||
  { fail "off by $error; the day before by $before, a week before by $week"; cat out; }
picture time_series.svg 'Forecasts of a series'
interrupted_run --epochs 100000

# A sawtooth with a period of 5 in the second of three columns.
awk 'BEGIN { print "day,height,zero"; for (i = 0; i < 600; ++i) print i "," i % 5 + i % 7 / 100 ",0" }' >saw.csv
"$program" --data saw.csv --column height --period 5 --history 3 --epochs 40 --run saw >out 2>&1 || { fail 'a file'; cat out; }
near "$(number 'off by ([0-9.]+)')" 0 0.1 || { fail 'a sawtooth'; cat out; }
says 'has no column' "$program" --data saw.csv --column depth
fails_with 1 'saw.csv: 600 rows are too few' "$program" --data saw.csv --period 100

count=--epochs
bad_data value
bad_numbers value
fails_with 2 "'0' is not a whole number of at least 1" "$program" --period 0
bad_run --epochs 1 --units 4
finish
