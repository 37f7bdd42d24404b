#!/bin/sh
# run_graph as a user meets it: a saved graph runs in a program that has none of its code. Usage: run_graph.sh PROGRAM
set -u
program=$1
golden=$(dirname "$0")/../graph/golden/model_1.graph
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
. "$(dirname "$0")/gives.sh"

gives 'matmul(%0, %1).*# MatMul' "$program" "$golden"
gives 'float32\[None,2\]  # x' "$program" "$golden"
gives '5.5, 0' "$program" "$golden" 1,2,0,4
gives '15.5' "$program" "$golden" 1,2,0,4
gives 'run_graph: .*takes 1 arguments, not 2' "$program" "$golden" 1,2 3
gives "run_graph: '1,x' is not a list of numbers" "$program" "$golden" 1,x
gives 'run_graph: reshape' "$program" "$golden" 1,2,3
gives 'run_graph: load_graph: cannot read' "$program" "$folder/none"
gives 'run_graph: parse_graph: the graph is not a saved graph' "$program" "$0"
head -c 200 "$golden" >"$folder/torn"
gives 'run_graph: parse_graph: the graph is truncated' "$program" "$folder/torn"
gives 'run_graph: FILE is required' "$program"
gives 'run_graph: .*not expected: --steps' "$program" --steps x
gives 'NUMBERS' "$program" --help
gives '15.0' "$program" "$golden" -1,2,0,4
gives '15.0' "$program" "$golden" -.5,2,0,4

# status WANTED COMMAND...
status() {
  wanted=$1
  shift
  "$@" >"$folder/out" 2>&1
  [ $? = "$wanted" ] || {
    failures=$((failures + 1))
    echo "FAILED: $*: not status $wanted"
  }
}
status 0 "$program" --help
status 0 "$program" "$golden"
status 1 "$program" "$folder/none"
status 2 "$program"
status 2 "$program" --nonsense
status 2 "$program" --steps x
status 2 "$program" "$golden" --steps 1,2

# A call that has failed elsewhere.
failure=$(dirname "$0")/../io/golden/failure_1.graph
hidden=$(dirname "$0")/../io/golden/failure_1_redacted.graph
status 0 "$program" --replay "$failure"
gives 'recorded by tandem [0-9.]*, kernels ' "$program" --replay "$failure"
[ "$(grep -c '^  gather: ' "$folder/out")" = 2 ] || { failures=$((failures + 1)); echo 'FAILED: the error twice'; cat "$folder/out"; }
status 1 "$program" --replay "$hidden"
gives 'its values were left out' "$program" --replay "$hidden"
gives '^  no error' "$program" --replay "$hidden"
gives 'is not a failure file' "$program" --replay "$golden"
gives '--replay takes no NUMBERS' "$program" --replay "$failure" 1,2
gives 'truncated' sh -c 'head -c 300 "$1" >"$2" && "$3" --replay "$2"' - "$failure" "$folder/torn" "$program"
# It may come from anybody, and print would append to printed.txt here: the op is refused, also when it is never reached.
printing=$(cd "$(dirname "$0")/../io/golden" && pwd)/failure_1_print.graph
absolute=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
gives 'run_graph: .*print' sh -c 'cd "$1" && "$2" --replay "$3"' - "$folder" "$absolute" "$printing"
status 1 sh -c 'cd "$1" && "$2" --replay "$3"' - "$folder" "$absolute" "$printing"
[ ! -e "$folder/printed.txt" ] || { failures=$((failures + 1)); echo 'FAILED: print has written a file'; }

[ $failures -eq 0 ] && echo ok
exit $((failures > 0))
