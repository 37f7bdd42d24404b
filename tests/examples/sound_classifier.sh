#!/bin/sh
# sound_classifier as a user meets it: learns, leaves sounds for TensorBoard and a page, resumes, and what goes wrong.
# Usage: sound_classifier.sh PROGRAM
. "$(dirname "$0")/support.sh"

resumes 4 --sounds 600
cp whole.out out
near "$(number '^([0-9.]+) % of 500 held-out notes right')" 60 20 || { fail 'held-out notes'; cat out; }
"$program" --run full >out 2>&1 || { fail 'as it is'; cat out; }
near "$(number '^([0-9.]+) % of 500 held-out notes right')" 95 4 || { fail 'held-out notes'; cat out; }
grep -q '<audio' full/report.html || fail 'no sound in the report'
grep -q 'taken for' full/report.html || fail 'no list in the report'
grep -qa 'sound/drum' full/events/heard/*tfevents* || fail 'no sound for TensorBoard'
says 'sounds was "600", is "700"' "$program" --run parts --sounds 700 --epochs 4
interrupted_run --epochs 100000

count=--epochs
bad_arguments
fails_with 2 "'4' is not a whole number of at least 5" "$program" --sounds 4
bad_run --epochs 1 --sounds 100
finish
