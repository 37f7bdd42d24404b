#!/bin/sh
# half_plus_two as a user meets it: a model is exported and answers, and is not replaced by accident. Usage:
# half_plus_two.sh PROGRAM
set -u
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
fail() {
  failures=$((failures + 1))
  echo "FAILED: $*"
  cat out
}

"$program" >out 2>&1 || fail 'export'
grep -q 'models/half_plus_two/1: x = \[1, 2, 5\] gives y = .*2.5, 3.0, 4.5' out || fail 'the answer'
[ -f models/half_plus_two/1/model.json ] || fail 'the manifest'
"$program" >out 2>&1
[ $? = 1 ] || fail 'an existing version'
grep -q 'half_plus_two: .*models/half_plus_two/1 exists' out || fail 'the reason'
"$program" --overwrite >out 2>&1 || fail '--overwrite'
"$program" --base other/place >out 2>&1 || fail '--base'
[ -f other/place/half_plus_two/1/model.json ] || fail 'the other place'
[ "$(ls -A models/half_plus_two)" = 1 ] || fail 'something is left'

[ $failures -eq 0 ] && echo ok
exit $((failures > 0))
