# What the example tests share; each sources this first. Its argument is the program, and it works in a folder of its own.
set -u
program=$1
# Real data, where they are: beside the checkout, or in the folder that TANDEM_DATA names.
real=${TANDEM_DATA:-$(cd "$(dirname "$0")/../../.." && pwd)/shared/data}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
skipped=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
# says PATTERN COMMAND...: the command fails and its message has the pattern.
says() {
  pattern=$1
  shift
  if "$@" >out 2>&1; then fail "$* succeeded"; fi
  grep -q -- "$pattern" out || { fail "$*: no '$pattern' in:"; cat out; }
}
# has_real FILE: whether there is that file of real data. If not, says so, and ctest reports the test as skipped.
has_real() {
  [ -e "$real/$1" ] && return 0
  skipped=$((skipped + 1))
  echo "skipped: there is no $real/$1"
  [ -z "${TANDEM_SKIPPED:-}" ] || echo "$(basename "$program"): there is no $real/$1" >>"$TANDEM_SKIPPED"
  return 1
}
# number PATTERN: what the first group of the sed pattern matches in out; nothing if it does not match.
number() {
  sed -nE "s#.*$1.*#\\1#p" out | tail -n 1
}
# near VALUE WANTED TOLERANCE
near() {
  awk "BEGIN { exit !(\"$1\" != \"\" && $1 + 0 >= $2 - $3 && $1 + 0 <= $2 + $3) }"
}
# weights_near A TOLERANCE B TOLERANCE C TOLERANCE: out has a parabola of about these weights.
weights_near() {
  near "$(number 'y = ([-0-9.]+) x\^2')" "$1" "$2" && near "$(number 'x\^2 ([-+0-9.]+) x')" "$3" "$4" &&
    near "$(number ' x ([-+0-9.]+)$')" "$5" "$6"
}
# fails_with STATUS PATTERN COMMAND...: as says, with this exit status and a message of one line.
fails_with() {
  status=$1 pattern=$2
  shift 2
  "$@" >out 2>&1
  [ $? = "$status" ] || fail "$*: not status $status"
  grep -q -- "$pattern" out || { fail "$*: no '$pattern' in:"; cat out; }
  [ "$(wc -l <out)" = 1 ] || { fail "$*: more than one line:"; cat out; }
}
# bad_data HEADER: wrong arguments and files, to a program that reads a CSV file.
bad_data() {
  : >empty.csv
  echo "$1" >header.csv
  printf '%s\n1\n' "$1" >short.csv
  head -c 3000 "$program" >binary.csv
  "$program" --help >out 2>&1 && grep -q -- --data out || fail 'no help'
  fails_with 1 'nowhere.csv' "$program" --data nowhere.csv
  for file in empty header short binary; do fails_with 1 "$file.csv" "$program" --data $file.csv; done
  bad_arguments
}
# bad_numbers HEADER: fields of a CSV file that are not finite.
bad_numbers() {
  zeros=$(echo "$1" | sed 's/[^,][^,]*/0/g')
  for field in nan inf -inf; do
    { echo "$1"; for row in 1 2 3 4 5 6 7 8 9 10 11; do echo "$zeros"; done; echo "$zeros" | sed "s/^0/$field/"; } >field.csv
    fails_with 1 "field.csv: record 12, column \"${1%%,*}\": \"$field\" is not a finite number" "$program" --data field.csv
  done
}
# Programs that do not count steps set `count` to the option that says how long they work.
bad_arguments() {
  fails_with 2 "'0' is not a whole number of at least 1" "$program" ${count:=--steps} 0
  fails_with 2 "'x' is not a whole number of at least 0" "$program" --seed x
  fails_with 2 'nonsense' "$program" --nonsense
  fails_with 2 'not expected: --nonsense of three words' "$program" --nonsense of three words
  narrow_help
  if [ -e /dev/full ]; then fails_with 1 'the output could not be written' full_device "$program" $count 2; fi
}
# full_device COMMAND...: with a device in place of its output that has no room.
full_device() { "$@" >/dev/full; }
# narrow_help COMMAND...: no line of the program's help is wider than a terminal.
narrow_help() {
  "$program" "$@" --help >out 2>&1 || fail "no help of $*"
  awk 'length > 80' out | grep . >wide && { fail "$*: --help is wide:"; cat wide; }
}
# bad_run ARGUMENTS...: a folder that a run cannot have, and one of a run with another seed.
bad_run() {
  : >wall
  says 'wall' "$program" "$@" --run wall/run
  "$program" "$@" --run of_seed_1 >out 2>&1 || { fail "$*"; cat out; }
  says 'seed was "1", is "2"' "$program" "$@" --run of_seed_1 --seed 2
}
# latest FOLDER: the latest checkpoint of a run.
latest() { ls "$1"/checkpoints/*.safetensors | sort -V | tail -n 1; }
# epochs_of FILES...: the values of all epochs, as a run prints them, each line once.
epochs_of() { sed -n '/^epoch [0-9]*\//p' "$@" | sort -u; }
# resumes EPOCHS ARGUMENTS...: killed after its first save and started again, a run ends like an uninterrupted one, in
# what it prints and in its checkpoint. The folders are `whole` and `parts`, what the first run printed is in whole.out.
resumes() {
  epochs=$1
  shift
  "$program" "$@" --epochs "$epochs" --run whole >whole.out 2>&1 || { fail "train: $*"; cat whole.out; }
  killed parts/checkpoints/ckpt-index.json "$@" --epochs "$epochs" --run parts
  "$program" "$@" --epochs "$epochs" --run parts >out 2>&1 || { fail "resume after a kill: $*"; cat out; }
  grep -q '^epoch 1/' out && fail "the second run did not resume: $*"
  epochs_of whole.out >whole.epochs
  { [ "$(wc -l <whole.epochs)" = "$epochs" ] && epochs_of killed.out out | cmp -s - whole.epochs; } ||
    { fail "killed and uninterrupted training differ: $*"; cat whole.out killed.out out; }
  cmp -s "$(latest whole)" "$(latest parts)" || fail "the checkpoints of a killed and an uninterrupted run differ: $*"
}
# interrupted_run ARGUMENTS...: Ctrl-C during training saves, and the status is 130.
interrupted_run() {
  python3 - "$program" "$@" <<'PY' || fail "an interrupted run of $*"
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored where tests run in the background
p = subprocess.Popen(sys.argv[1:] + ["--run", "stopped"], stdout=subprocess.PIPE, text=True)
for line in p.stdout:
    if line.startswith("epoch 1/"): break
p.send_signal(signal.SIGINT)
out = p.communicate()[0]
assert p.returncode == 130 and "interrupted" in out, (p.returncode, out)
PY
  [ -n "$(latest stopped)" ] || fail "no checkpoint after an interrupt of $*"
}
# picture FILE TITLE: an SVG picture with this in its title.
picture() {
  python3 - "$@" <<'PY' || fail "the picture $1"
import sys
import xml.etree.ElementTree as xml
title = xml.parse(sys.argv[1]).getroot().find("{http://www.w3.org/2000/svg}title").text
assert sys.argv[2] in title, title
PY
}
# begins COMMAND...: prints its errors, and a second line if it began to train.
begins() {
  "$@" >begins.out
  status_of_program=$?
  grep -m 1 '^step \|^epoch \|loss' begins.out
  return $status_of_program
}
# killed FILE ARGUMENTS...: kill -9 of the program when it has saved FILE; its output is in killed.out.
killed() {
  python3 - "$program" "$@" <<'PY' || fail "a killed run of $*"
import os, subprocess, sys, time
program, file, *arguments = sys.argv[1:]
p = subprocess.Popen([program, *arguments], stdout=open("killed.out", "w"))
def saved(): return os.stat(file).st_ino if os.path.exists(file) else None
before = saved()
while saved() == before:
    assert p.poll() is None, "it ended before it saved"
    time.sleep(.001)
p.kill()
assert p.wait() == -9, "it ended before it was killed"
PY
}
# The exit status 77 means that a part was skipped (cmake/Examples.cmake).
finish() {
  [ $failures = 0 ] || exit 1
  [ $skipped = 0 ] || { echo "all passed but $skipped, which were skipped"; exit 77; }
  echo 'all passed'
  exit 0
}
