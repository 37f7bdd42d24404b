# What the example tests share; each sources this first. Its argument is the program, and it works in a folder of its own.
set -u
program=$1
real=$(cd "$(dirname "$0")/../../.." && pwd)/shared/data  # real data, where they are
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

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
# has_real FILE: whether there is that file of real data; says so if not.
has_real() {
  [ -e "$real/$1" ] || { echo "skipped: there is no ../shared/data/$1"; return 1; }
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
bad_arguments() {
  fails_with 2 "'0' is not a whole number of at least 1" "$program" --steps 0
  fails_with 2 "'x' is not a whole number of at least 0" "$program" --seed x
  fails_with 2 'nonsense' "$program" --nonsense
}
# stops_at_interrupt ARGUMENTS...: Ctrl-C after the first report of a step ends the program: status 130.
stops_at_interrupt() {
  python3 - "$program" "$@" <<'PY' || fail "an interrupted run of $*"
import signal, subprocess, sys
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
for line in p.stdout:
    if "step " in line: break
p.send_signal(signal.SIGINT)
out = p.communicate()[0]
assert p.returncode == 130 and "interrupted" in out, (p.returncode, out)
PY
}
finish() {
  [ $failures = 0 ] && echo 'all passed'
  exit $failures
}
