#!/bin/sh
# bf16_training as a user meets it: bfloat16 learns as float32 does; real digits; and what goes wrong.
# Usage: bf16_training.sh PROGRAM
. "$(dirname "$0")/support.sh"

test_of() { number "^$1  *([0-9.]+) %"; }
within_a_point() {
  near "$(test_of 'bfloat16, float32 weights')" "$(test_of float32)" 1 || { fail "$1: the accuracies"; cat out; }
  awk "BEGIN { exit !($(test_of float32) > $2) }" || { fail "$1: float32"; cat out; }
}

"$program" --epochs 2 --run whole >out 2>&1 && within_a_point generated 90 || { fail generated; cat out; }
# Killed in each network and resumed equals uninterrupted.
results() { sed -n 's/ *[0-9.]* ms .*//; /float.*%/p' "$@"; }
results out >whole.results
for network in float32 bfloat16 all_bfloat16; do killed parts_$network/checkpoints/ckpt-index.json --epochs 2 --run parts; done
"$program" --epochs 2 --run parts >out 2>&1 || { fail 'resume'; cat out; }
{ [ "$(wc -l <whole.results)" = 3 ] && results out | cmp -s - whole.results; } ||
  { fail 'killed and uninterrupted training differ'; cat whole.results out; }
for network in float32 bfloat16 all_bfloat16; do cmp -s "$(latest whole_$network)" "$(latest parts_$network)" || fail "the checkpoints of $network differ"; done

if has_real mnist; then
  "$program" --data "$real/mnist" --epochs 4 --run real >out 2>&1 && within_a_point MNIST 92 || { fail MNIST; cat out; }
fi

python3 - "$program" <<'PY' || fail 'an interrupted run'
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored where tests run in the background
p = subprocess.Popen([sys.argv[1], "--epochs", "1000000", "--run", "stopped"], stdout=subprocess.PIPE, text=True)
while not os.path.exists("stopped_float32/checkpoints/ckpt-index.json"): time.sleep(.01)
p.send_signal(signal.SIGINT)
out = p.communicate()[0]
assert p.returncode == 130 and "goes on from stopped_float32" in out, (p.returncode, out)
PY
count=--epochs
bad_arguments
says 'seed was "1", is "2"' "$program" --epochs 2 --run whole --seed 2
mkdir empty binary
: >empty/train-images-idx3-ubyte
head -c 3000 "$program" >binary/train-images-idx3-ubyte
fails_with 1 'no folder nowhere' "$program" --data nowhere
fails_with 1 empty/train-images "$program" --data empty
fails_with 1 binary/train-images "$program" --data binary
finish
