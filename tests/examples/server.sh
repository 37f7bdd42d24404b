# What tests of programs that serve share: a folder of their own, one server at a time, and gives.sh. Sourced first.
set -u
program=$1
folder=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
. "$(dirname "$0")/gives.sh"

# start ADDRESS SECONDS COMMAND...: starts a server, whose output goes to log, and waits until a line of it matches the
# sed pattern from its beginning; the first group is the address.
start() {
  pattern=$1 tenths=$(($2 * 10))
  shift 2
  : >"$folder/log"
  "$@" >"$folder/log" 2>&1 &
  server=$!
  address=
  while [ -z "$address" ] && [ $tenths -gt 0 ] && kill -0 "$server" 2>/dev/null; do
    sleep 0.1
    tenths=$((tenths - 1))
    address=$(sed -n "s#^$pattern.*#\\1#p" "$folder/log" | head -n 1)
  done
}
# stop: SIGTERM ends the server without an error.
stop() {
  kill -TERM "$server"
  wait "$server"
  status=$?
  server=
  [ $status = 0 ] || { failures=$((failures + 1)); echo "FAILED: SIGTERM: status $status"; cat "$folder/log"; }
}
