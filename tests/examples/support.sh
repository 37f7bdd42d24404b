# What the example tests share; each sources this first. Its argument is the program, and it works in a folder of its own.
set -u
program=$1
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
finish() {
  [ $failures = 0 ] && echo 'all passed'
  exit $failures
}
