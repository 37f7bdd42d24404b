#!/bin/sh
# The clients in C++ and in Python ask a model server. Usage: serving_client.sh PROGRAM, with model_server and half_plus_two
# beside it
set -u
program=$1
programs=$(dirname "$program")
for other in model_server half_plus_two; do
  if [ ! -x "$programs/$other" ]; then
    echo "$other is not built" >"${TANDEM_SKIPPED:-/dev/null}"
    exit 77
  fi
done
folder=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
. "$(dirname "$0")/gives.sh"
python="python3 $(dirname "$0")/../../examples/serving_client/serving_client.py"

"$programs/half_plus_two" --base "$folder/models" >"$folder/out" 2>&1 || cat "$folder/out"
echo secret >"$folder/tokens"
: >"$folder/log"
"$programs/model_server" --model_name half --model_base_path "$folder/models/half_plus_two" --rest_api_port 0 --port 0 --drain_seconds 0 \
  --auth_token_file "$folder/tokens" >"$folder/log" 2>&1 &
server=$!
for _ in $(seq 100); do
  grep -q '^model_server: http' "$folder/log" && break
  sleep 0.1
done
address=$(sed -n 's/^model_server: http/http/p' "$folder/log")
port=${address##*:}
for _ in $(seq 100); do
  "$program" half 1 --port "$port" --token secret >/dev/null 2>&1 && break
  sleep 0.1
done
gives '"predictions": *\[' "$program" half 1 2 5 --port "$port" --token secret
gives '2.5, *3.0, *4.5' "$program" half 1 2 5 --port "$port" --token secret
gives '2.5' "$program" half/versions/1 1 --port "$port" --token secret
gives 'Bearer TOKEN' "$program" half 1 --port "$port"
gives 'Servable not found for request: Latest(none)' "$program" none 1 --port "$port" --token secret
gives 'not found in signature def' "$program" half 1 --signature none --port "$port" --token secret
gives 'serving_client: .*does not answer' "$program" half 1 --port 1
gives '^\[2.5, 3.0, 4.5\]$' $python half 1 2 5 --address "$address" --token secret
gives 'serving_client.py: .*Bearer TOKEN' $python half 1 --address "$address"
gives 'Servable not found for request: Specific(half, 7)' $python half/versions/7 1 --address "$address" --token secret
gives 'serving_client.py: .*refused' $python half 1 --address http://127.0.0.1:1
kill -TERM "$server"
wait "$server" || { failures=$((failures + 1)); echo "FAILED: SIGTERM"; cat "$folder/log"; }
server=
exit $failures
