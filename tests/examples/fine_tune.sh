#!/bin/sh
# fine_tune as a user meets it: loads weights of PyTorch, trains in three ways, draws, and what goes wrong.
# Usage: fine_tune.sh PROGRAM
. "$(dirname "$0")/support.sh"

right() { number "^$1 .* weights: +([0-9.]+) % of"; }

"$program" >out 2>&1 || { fail 'train'; cat out; }
grep -q -F 'restored 4, deferred 0, missing 2: head/kernel head/bias, mismatched 0, unused 2: out.bias out.weight' out ||
  { fail 'what was restored'; cat out; }
awk "BEGIN { exit !($(right 'then all of them') > 65 && $(right 'then all of them') > $(right 'new weights')) }" ||
  { fail 'the loaded weights do not help'; cat out; }
picture fine_tune.svg 'learned from 30 pictures'

fails_with 1 'there is no folder nowhere' "$program" --data nowhere
head -c 1000 fine_tune.safetensors >torn
says 'torn' "$program" --weights torn
says 'only 4[0-9]* digits from 5 to 9' "$program" --examples 1000000
count=--epochs
bad_arguments
finish
