#!/bin/sh
# sequence_labelling as a user meets it: letters, tags, an interrupt, and what goes wrong.
# Usage: sequence_labelling.sh PROGRAM
. "$(dirname "$0")/support.sh"

right() { number "^$1 +([0-9.]+) % right"; }

# Letters. Of 12.3 % only the next letter tells which they are, so reading from left to right gets half of them wrong.
one_way=0 both_ways=0
for seed in 1 2 3; do
  "$program" --units 64 --epochs 2 --seed $seed --run letters$seed >out 2>&1 || { fail "letters, seed $seed"; cat out; }
  one_way="$one_way + 100 - $(right 'one way')" both_ways="$both_ways + 100 - $(right 'both ways')"
done
awk "BEGIN { exit !($one_way > 3 * 5 && $one_way < 3 * 10 && $both_ways < ($one_way) / 2) }" ||
  { fail "letters, wrong in three runs: one way $one_way, both ways $both_ways"; cat out; }

# Tags. Here the word behind "can" tells whether it is a noun.
awk 'BEGIN { for (i = 0; i < 400; ++i) print i % 3 ? "can/md-hl wait/vb" : "the/at+x can/nn --/--", "end/nn", "./." }' >own.txt
"$program" --task tags --data own.txt --units 16 --embedding 8 --epochs 1 --run own >out 2>&1 || { fail 'tags'; cat out; }
grep -q '^400 sentences, 40 of them held out; 6 words, 6 tags$' out || { fail 'tags: sizes'; cat out; }
near "$(right 'commonest tag of each word')" 92 3 || { fail 'tags: the table'; cat out; }
near "$(right 'both ways')" 99.5 0.5 || { fail 'tags: both ways'; cat out; }

if has_real text/brown_tagged.txt.gz; then
  "$program" --task tags --data "$real/text/brown_tagged.txt.gz" --epochs 2 --units 64 --embedding 32 --run real >out 2>&1 ||
    { fail 'real tags'; cat out; }
  grep -q '^57340 sentences, 5734 of them held out; 30000 words, 105 tags$' out || { fail 'real tags: sizes'; cat out; }
  near "$(right 'commonest tag of each word')" 91.6 0.5 || { fail 'real tags: the table'; cat out; }
  awk "BEGIN { exit !($(right 'one way') > 60 && $(right 'both ways') > $(right 'one way') + 0.5) }" ||
    { fail 'real tags: both ways are not better than one'; cat out; }
fi

# Killed and resumed equals uninterrupted, in either network.
small() { "$program" --units 8 --epochs 4 --steps-per-epoch 100 "$@"; }
curve() { sed -n '/^epoch\|right/p' "$@" | sort -u; }
small --run whole >whole.out || fail 'a short run'
for network in one_way both_ways; do
  killed part_$network/checkpoints/ckpt-index.json --units 8 --epochs 4 --steps-per-epoch 100 --run part
  cat killed.out >>parts.out
done
small --run part >parts.out.2 || fail 'resume'
grep -A 1 '^both ways' parts.out.2 | grep -q '^epoch 1/' && fail 'the run of the second network did not resume'
curve whole.out >whole.curve
{ [ "$(wc -l <whole.curve)" = 10 ] && curve parts.out parts.out.2 | cmp -s - whole.curve; } ||
  { fail 'killed and uninterrupted training differ'; cat whole.out parts.out parts.out.2; }
for network in one_way both_ways; do
  cmp -s "$(latest whole_$network)" "$(latest part_$network)" || fail "the checkpoints of $network differ"
done
says 'units was "8", is "9"' "$program" --units 9 --run whole --steps-per-epoch 100

python3 - "$program" <<'PY' || fail 'an interrupted run'
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored where tests run in the background
p = subprocess.Popen([sys.argv[1], "--units", "8", "--epochs", "1000000", "--run", "stopped"], stdout=subprocess.PIPE, text=True)
for line in p.stdout:
    if line.startswith("epoch 1/"): break
p.send_signal(signal.SIGINT)
out = p.communicate()[0]
assert p.returncode == 130 and "goes on from stopped_one_way" in out, (p.returncode, out)
PY
: >empty.txt
printf 'one/a two/b\nthree\n' >untagged.txt
head -c 3000 "$program" >binary.txt
fails_with 1 'nowhere.txt' "$program" --task tags --data nowhere.txt
fails_with 1 'empty.txt needs eleven lines' "$program" --task tags --data empty.txt
fails_with 1 'untagged.txt, line 2: ' "$program" --task tags --data untagged.txt
fails_with 1 'binary.txt, line 1: ' "$program" --task tags --data binary.txt
fails_with 1 'needs --data' "$program" --task tags
fails_with 2 'nonsense' "$program" --task nonsense
"$program" --help >out 2>&1 && grep -q -- --data out || fail 'no help'
count=--epochs
bad_arguments
: >wall
says wall "$program" --run wall/run
finish
