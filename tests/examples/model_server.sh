#!/bin/sh
# model_server as a user meets it: a saved model answers, SIGTERM ends it. Usage: model_server.sh PROGRAM
. "$(dirname "$0")/server.sh"

gives 'model_server: give --model_base_path' "$program"
gives 'not expected: --none' "$program" --none
gives 'rest_api_port' "$program" --help
gives 'ssl_config_file' "$program" --help
gives '--port' "$program" --help
gives 'grpc_max_threads has no effect and is passed over' "$program" --grpc_max_threads 3 --flush_filesystem_caches=false
gives 'flush_filesystem_caches has no effect and is passed over' "$program" --grpc_max_threads 3 --flush_filesystem_caches=false
if "$program" --help | grep -q 'built without gRPC'; then
  gives '--port has no effect: built without gRPC' "$program" --port 8500
fi
gives 'give --model_base_path' "$program" --max_request_bytes 64MiB --memory_limit 0
gives 'max_request_bytes: qi unit not recognized' "$program" --max_request_bytes 64Qi
gives 'others reach 0.0.0.0' "$program" --model_base_path "$folder" --bind 0.0.0.0
echo 'model_config_list { config { nam: "half" } }' >"$folder/models.config"
gives "models.config:1: there is no field 'nam'" "$program" --model_config_file "$folder/models.config"

"$(dirname "$program")/half_plus_two" --base "$folder/models" >"$folder/out" 2>&1 || cat "$folder/out"
start 'model_server: \(http.*\)' 10 "$program" --model_name half --model_base_path "$folder/models/half_plus_two" --rest_api_port 0 \
  --port 0

# ask PATH [BODY]: the answer's status and body.
ask() {
  python3 - "$address$1" "${2:-}" <<'PY'
import sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen(sys.argv[1], sys.argv[2].encode() or None, timeout=30)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, answer.read().decode())
PY
}
for _ in $(seq 100); do
  ask /v2/health/ready | grep -q '^200' && break
  sleep 0.1
done
gives '^200 .*2.5' ask /v1/models/half:predict '{"instances": [1.0, 2.0, 5.0]}'
gives 'AVAILABLE' ask /v1/models/half
gives '^404 .*Latest(none)' ask /v1/models/none:predict '{"instances": [1]}'
gives 'tandem_requests_total' ask /metrics

# Threads that serve many clients share as many heaps of glibc as there are cores, each in 64 MB of addresses.
heaps() {
  python3 - "${address#http://}" "$server" <<'PY'
import http.client, os, re, sys, threading
def client():
    connection = http.client.HTTPConnection(sys.argv[1], timeout=30)
    for _ in range(200):
        connection.request("POST", "/v1/models/half:predict", '{"instances": [1.0]}')
        connection.getresponse().read()
clients = [threading.Thread(target=client) for _ in range(16)]
[c.start() for c in clients]
[c.join() for c in clients]
heaps, end, begin = 0, None, None
for line in open(f"/proc/{sys.argv[2]}/maps"):
    place, mode, _, _, _, *name = line.split()
    low, high = (int(x, 16) for x in place.split("-"))
    if not name and mode == "rw-p" and low % (64 << 20) == 0:
        begin, end = low, high
    elif not name and mode == "---p" and low == end and high == begin + (64 << 20):
        heaps += 1
cores = max(2, os.cpu_count())
print("few heaps" if heaps < cores else f"{heaps} heaps besides the main one, {cores} cores")
PY
}
gives '^few heaps' heaps
stop

# SIGHUP: a file of tokens that is wrong does not keep the models from being read again.
config() { echo "{\"model_config_list\": {\"config\": [{\"name\": \"$1\", \"base_path\": \"$folder/models/half_plus_two\"}]}}"; }
config first >"$folder/models.config"
echo secret >"$folder/tokens"
start 'model_server: \(http.*\)' 10 "$program" --model_config_file "$folder/models.config" --auth_token_file "$folder/tokens" \
  --rest_api_port 0 --port -1 --drain_seconds 0
: >"$folder/tokens"
config second >"$folder/models.config"
kill -HUP "$server"
for _ in $(seq 100); do
  grep -q 'tokens and certificates stay' "$folder/log" && break
  sleep 0.1
done
echo secret >"$folder/tokens"
"$program" --help | grep -q 'built without gRPC' || gives 'gRPC on 127.0.0.1:[1-9]' cat "$folder/log"
second() {
  python3 - "$address/v1/models/second" <<'PY'
import sys, time, urllib.error, urllib.request
for _ in range(100):
    try:
        request = urllib.request.Request(sys.argv[1], headers={"Authorization": "Bearer secret"})
        print(urllib.request.urlopen(request, timeout=30).read().decode())
        break
    except urllib.error.HTTPError:
        time.sleep(0.1)
PY
}
gives 'version' second
stop

# The configuration is read again when its file changes, without a signal; what is wrong with it is said once, also if
# the other file changes.
config first >"$folder/models.config"
echo 'max_batch_size { value: 8 }' >"$folder/parameters.config"
start 'model_server: \(http.*\)' 10 "$program" --model_config_file "$folder/models.config" --auth_token_file "$folder/tokens" \
  --model_config_file_poll_wait_seconds 0.05 --enable_batching --batching_parameters_file "$folder/parameters.config" \
  --rest_api_port 0 --port 0 --drain_seconds 0
echo 'model_config_list { config { nam: "half" } }' >"$folder/wrong.config" && mv "$folder/wrong.config" "$folder/models.config"
for _ in $(seq 100); do
  grep -q 'models stay as they were' "$folder/log" && break
  sleep 0.1
done
echo 'max_batch_siz { value: 8 }' >"$folder/wrong.config" && mv "$folder/wrong.config" "$folder/parameters.config"
for _ in $(seq 100); do
  grep -q 'parameters of batches stay as they were' "$folder/log" && break
  sleep 0.1
done
sleep 0.3
gives '^1$' grep -c 'models stay as they were' "$folder/log"
gives '^1$' grep -c 'parameters of batches stay as they were' "$folder/log"
config second >"$folder/models.config"
gives 'version' second
stop

# Limits of batches, and where the metrics are.
echo 'max_batch_size { value: 8 } num_batch_threads { value: 1 } max_enqueued_batches { value: 0 }' >"$folder/batching.config"
gives 'batching.config:1: max_enqueued_batches is 0, but must be positive' "$program" --model_name half --model_base_path "$folder" \
  --batching_parameters_file "$folder/batching.config"
echo 'max_batch_size { value: 8 } num_batch_threads { value: 1 } max_enqueued_batches { value: 4 }' >"$folder/batching.config"
echo 'prometheus_config { enable: true path: "/of/models" }' >"$folder/monitoring.config"
start 'model_server: \(http.*\)' 10 "$program" --model_name half --model_base_path "$folder/models/half_plus_two" --rest_api_port 0 \
  --port 0 --drain_seconds 0 --enable_batching --batching_parameters_file "$folder/batching.config" \
  --monitoring_config_file "$folder/monitoring.config" --max_total_queue_rows 100 --max_total_queue_bytes 1MiB
gives 'tandem_build_info' ask /of/models
gives '^404' ask /monitoring/prometheus/metrics
gives '^0$' grep -c 'passed over' "$folder/log"
for _ in $(seq 100); do
  ask /v2/health/ready | grep -q '^200' && break
  sleep 0.1
done
# SIGHUP: other parameters of batches, without a restart. Those that are wrong change nothing.
gives '^200 ' ask /v1/models/half:predict '{"instances": [1.0, 2.0, 5.0]}'
echo 'max_batch_size { value: 2 } num_batch_threads { value: 1 } enable_large_batch_splitting { value: false }' >"$folder/batching.config"
kill -HUP "$server"
for _ in $(seq 100); do
  ask /v1/models/half:predict '{"instances": [1.0, 2.0, 5.0]}' | grep -q '^400' && break
  sleep 0.1
done
gives '^400 .*has 3 rows, a batch at most 2' ask /v1/models/half:predict '{"instances": [1.0, 2.0, 5.0]}'
echo 'max_batch_size { value: 4 } num_batch_threads { value: 2 }' >"$folder/batching.config"
kill -HUP "$server"
for _ in $(seq 100); do
  grep -q 'parameters of batches stay' "$folder/log" && break
  sleep 0.1
done
gives 'parameters of batches stay as they were: .*num_batch_threads, which is 1, stay' cat "$folder/log"
gives '^400 .*has 3 rows, a batch at most 2' ask /v1/models/half:predict '{"instances": [1.0, 2.0, 5.0]}'
stop

# Parameters of batches in the folder of a version.
mkdir "$folder/own" && cp -r "$folder/models/half_plus_two" "$folder/own/half"
for version in "$folder"/own/half/*; do
  echo 'max_batch_size { value: 2 } enable_large_batch_splitting { value: false }' >"$version/batching_params.pbtxt"
done
start 'model_server: \(http.*\)' 10 "$program" --model_name half --model_base_path "$folder/own/half" --rest_api_port 0 \
  --port 0 --drain_seconds 0 --enable_batching --enable_per_model_batching_parameters
for _ in $(seq 100); do
  ask /v2/health/ready | grep -q '^200' && break
  sleep 0.1
done
gives '^400 .*has 3 rows, a batch at most 2' ask /v1/models/half:predict '{"instances": [1.0, 2.0, 5.0]}'
gives '^200 ' ask /v1/models/half:predict '{"instances": [1.0, 2.0]}'
stop
gives 'enable_per_model_batching_parameters has no effect without --enable_batching' "$program" \
  --enable_per_model_batching_parameters

# A second signal ends a server that still waits for its clients.
start 'model_server: \(http.*\)' 10 "$program" --model_name half --model_base_path "$folder/models/half_plus_two" --rest_api_port 0 \
  --port 0 --drain_seconds 100
kill -TERM "$server"
for _ in $(seq 100); do
  ask /v2/health/ready | grep -q '^503' && break
  sleep 0.1
done
kill -TERM "$server"
wait "$server" 2>/dev/null
status=$? server=
gives '^143$' echo "$status"

# Without a log for machines, a line says what happens to versions.
start 'model_server: \(http.*\)' 10 "$program" --model_name half --model_base_path "$folder/models/half_plus_two" --rest_api_port 0 \
  --port 0 --drain_seconds 0 --enable_batching
for _ in $(seq 100); do
  grep -q 'rows a second' "$folder/log" && break
  sleep 0.1
done
stop
gives 'model_server: half 1: loaded in [0-9]* ms$' cat "$folder/log"
gives 'model_server: half 1, serving_default: rows a second in batches of 1: [0-9]*, 2: [0-9]*, ' cat "$folder/log"

# A log for machines: every line of stdout is JSON.
"$program" --model_name half --model_base_path "$folder/models/half_plus_two" --rest_api_port 0 --port 0 --log json --drain_seconds 0 \
  >"$folder/log" 2>"$folder/errors" &
server=$!
for _ in $(seq 100); do
  grep -q '"loaded"' "$folder/log" && grep -q '"listening"' "$folder/log" && break
  sleep 0.1
done
address=$(sed -n 's/.*"text":"\(http:[^"]*\)".*/\1/p' "$folder/log")
gives '^200 .*2.5' ask /v1/models/half:predict '{"instances": [1.0]}'
stop
gives '"rows":1,"id":"[0-9a-f]*"}$' grep '"request"' "$folder/log"
gives '^request half 1 predict OK$' python3 -c 'import json, sys
for line in open(sys.argv[1]):
    entry = json.loads(line)
    print(entry["event"], entry.get("model"), entry.get("version"), entry.get("method"), entry["code"])' "$folder/log"
exit $failures
