#!/bin/sh
# mnist_mlp as a user meets it: train, be killed and resume, interrupt, and what goes wrong. Usage: mnist_mlp.sh PROGRAM
. "$(dirname "$0")/digits.sh"

resumes 4
cp whole.out out
right_above 95
says 'batch' "$program" --run whole --batch 50
interrupted_run --epochs 100000

if has_real mnist; then
  "$program" --data "$mnist" --epochs 30 --run real >out 2>&1 || { fail 'train on real digits'; cat out; }
  right_above 97  # 97.9; all 80 epochs reach 98.6
fi

bad_digits
mkdir -p torn/checkpoints && cp whole/run.json torn && cp whole/checkpoints/*.json torn/checkpoints
for file in whole/checkpoints/*.safetensors; do head -c 1000 "$file" >"torn/checkpoints/${file##*/}"; done
says 'is damaged' "$program" --epochs 4 --run torn
fails_with 2 "'0' is not a whole number of at least 1" "$program" --epochs 0
bad_run --epochs 1

finish
