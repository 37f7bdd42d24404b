#!/bin/sh
# mnist_mlp as a user meets it: train, be killed and resume, interrupt, and what goes wrong. Usage: mnist_mlp.sh PROGRAM
. "$(dirname "$0")/digits.sh"

"$program" --epochs 4 --run whole >out 2>&1 || { fail 'train'; cat out; }
right_above 95
cp out whole.out

# Killed and resumed equals uninterrupted: the same losses and accuracies, whatever was lost.
python3 - "$program" <<'PY' || fail 'a killed run'
import re, subprocess, sys
run = [sys.argv[1], "--epochs", "4", "--run", "killed"]
def curve(lines): return dict(re.findall(r"epoch (\d+)/4: (.*)", "".join(lines)))
p = subprocess.Popen(run, stdout=subprocess.PIPE, text=True)
seen = []
for line in p.stdout:
    seen.append(line)
    if "epoch 3/4" in line: break
p.kill()
p.communicate()
again = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True).stdout
whole = curve(open("whole.out"))
assert "epoch 1/4" not in again and len(whole) == 4, again
assert curve(seen) | curve([again]) == whole and curve(seen).items() <= whole.items(), (seen, again, whole)
PY
cmp -s "$(latest whole)" "$(latest killed)" || fail 'the checkpoints of a killed and an uninterrupted run differ'
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
: >wall
says 'wall' "$program" --run wall/run
fails_with 2 "'0' is not a whole number of at least 1" "$program" --epochs 0

finish
