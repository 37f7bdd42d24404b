#!/bin/sh
# gan as a user meets it: train, draw, resume, interrupt, and what goes wrong. Usage: gan.sh PROGRAM
. "$(dirname "$0")/digits.sh"

resumes 3 --steps-per-epoch 30 --batch 32
cp whole.out out
score() { number "$1 ([0-9.]+)"; }
awk "BEGIN { exit !($(score 'drawn digits reach') > 1.05 && $(score 'held-out ones') > 5 && $(score 'noise') < 2) }" ||
  { fail 'the scores'; cat out; }
picture gan.svg 'Digits that a generator draws'
interrupted_run --epochs 100000 --steps-per-epoch 10

bad_digits
bad_run --epochs 1 --steps-per-epoch 1
finish
