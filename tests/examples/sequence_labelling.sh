#!/bin/sh
# sequence_labelling as a user meets it: letters, tags, an interrupt, and what goes wrong.
# Usage: sequence_labelling.sh PROGRAM
. "$(dirname "$0")/support.sh"

right() { number "^$1 +([0-9.]+) % right"; }

# Letters. Of 12.3 % only the next letter tells which they are, so reading from left to right gets half of them wrong.
one_way=0 both_ways=0
for seed in 1 2 3; do
  "$program" --units 64 --steps 400 --seed $seed --checkpoint letters$seed >out 2>&1 || { fail "letters, seed $seed"; cat out; }
  one_way="$one_way + 100 - $(right 'one way')" both_ways="$both_ways + 100 - $(right 'both ways')"
done
awk "BEGIN { exit !($one_way > 3 * 5 && $one_way < 3 * 10 && $both_ways < ($one_way) / 2) }" ||
  { fail "letters, wrong in three runs: one way $one_way, both ways $both_ways"; cat out; }

# Tags. Here the word behind "can" tells whether it is a noun.
awk 'BEGIN { for (i = 0; i < 400; ++i) print i % 3 ? "can/md-hl wait/vb" : "the/at+x can/nn --/--", "end/nn", "./." }' >own.txt
"$program" --task tags --data own.txt --units 16 --embedding 8 --steps 200 --checkpoint own >out 2>&1 || { fail 'tags'; cat out; }
grep -q '^400 sentences, 40 of them held out; 6 words, 6 tags$' out || { fail 'tags: sizes'; cat out; }
near "$(right 'commonest tag of each word')" 92 3 || { fail 'tags: the table'; cat out; }
near "$(right 'both ways')" 99.5 0.5 || { fail 'tags: both ways'; cat out; }

if has_real text/brown_tagged.txt.gz; then
  "$program" --task tags --data "$real/text/brown_tagged.txt.gz" --steps 400 --units 64 --embedding 32 --checkpoint real >out 2>&1 ||
    { fail 'real tags'; cat out; }
  grep -q '^57340 sentences, 5734 of them held out; 30000 words, 105 tags$' out || { fail 'real tags: sizes'; cat out; }
  near "$(right 'commonest tag of each word')" 91.6 0.5 || { fail 'real tags: the table'; cat out; }
  awk "BEGIN { exit !($(right 'one way') > 60 && $(right 'both ways') > $(right 'one way') + 0.5) }" ||
    { fail 'real tags: both ways are not better than one'; cat out; }
fi

# Killed and resumed equals uninterrupted, in either network.
small() { "$program" --units 8 --steps 400 "$@"; }
curve() { sed -n 's/; [0-9]* sequences.s$//; /step\|right/p' "$@" | sort -u; }
small --checkpoint whole.st >whole.out || fail 'a short run'
for network in one_way both_ways; do
  killed part_$network.st --units 8 --steps 400 --checkpoint part.st
  cat killed.out >>parts.out
done
small --checkpoint part.st >>parts.out && grep -q 'going on from part_both_ways.st' parts.out || fail 'resume'
curve whole.out >whole.curve
{ [ "$(wc -l <whole.curve)" = 6 ] && curve parts.out | cmp -s - whole.curve; } ||
  { fail 'killed and uninterrupted training differ'; cat whole.out parts.out; }
for network in one_way both_ways; do cmp -s whole_$network.st part_$network.st || fail "the checkpoints of $network differ"; done

stops_at_interrupt --units 8 --steps 1000000 --checkpoint stopped
[ -s stopped_one_way ] || fail 'no checkpoint after an interrupt'
says "units is 8, not 9" "$program" --units 9 --checkpoint stopped
bad_folder "$program" --units 8
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
bad_arguments
finish
