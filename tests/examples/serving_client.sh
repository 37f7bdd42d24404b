#!/bin/sh
# The clients in C++ and in Python ask a model server. Usage: serving_client.sh PROGRAM, with model_server and half_plus_two
# beside it
programs=$(dirname "$1")
for other in model_server half_plus_two; do
  if [ ! -x "$programs/$other" ]; then
    echo "$other is not built" >"${TANDEM_SKIPPED:-/dev/null}"
    exit 77
  fi
done
. "$(dirname "$0")/server.sh"
python="python3 $(dirname "$0")/../../examples/serving_client/serving_client.py"

"$programs/half_plus_two" --base "$folder/models" >"$folder/out" 2>&1 || cat "$folder/out"
echo secret >"$folder/tokens"
start 'model_server: \(http.*\)' 10 "$programs/model_server" --model_name half --model_base_path "$folder/models/half_plus_two" \
  --rest_api_port 0 --port 0 --drain_seconds 0 --auth_token_file "$folder/tokens"
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
stop

# Servers that accept and never answer, do not read, or send byte by byte end at the client's time limit.
cat >"$folder/slow.py" <<'PY'
import socket, sys, threading, time
def trickle(c):
    c.recv(65536)
    c.sendall(b"HTTP/1.1 200 OK\r\n")
    try:
        while True:
            c.sendall(b"X")
            time.sleep(0.05)
    except OSError:
        pass
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
s.bind(("127.0.0.1", 0))
s.listen()
print("slow:", s.getsockname()[1], flush=True)
kept = []
while True:
    kept.append(s.accept()[0])
    if sys.argv[1] == "trickle":
        threading.Thread(target=trickle, args=(kept[-1],), daemon=True).start()
PY
cat >"$folder/busy.py" <<'PY'
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print("busy:", s.getsockname()[1], flush=True)
n = 0
while True:
    c = s.accept()[0]
    n += 1
    request = b""
    while not request.endswith(b"]}"):
        request += c.recv(65536)
    text = '{"error": "busy %d"}' % n
    c.sendall(("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)).encode())
    c.close()
PY
row=$(python3 -c 'print("[" + "0.5, " * 20000 + "1]")')
for how in silent trickle; do
  start 'slow: \([0-9]*\)' 10 python3 "$folder/slow.py" $how
  gives 'serving_client: the answer takes too long' timeout 60 "$program" half 1 --port "$address" --timeout 1
  [ $how = trickle ] || gives 'serving_client: the answer takes too long' timeout 60 "$program" half "$row" "$row" "$row" "$row" \
    "$row" "$row" "$row" "$row" --port "$address" --timeout 1 # which is not read
  gives 'serving_client.py: the answer takes too long' timeout 60 $python half 1 --address "http://127.0.0.1:$address" --timeout 1
  [ $how = trickle ] || gives 'serving_client.py: the answer takes too long' timeout 60 $python half "$row" "$row" "$row" "$row" \
    "$row" "$row" "$row" "$row" --address "http://127.0.0.1:$address" --timeout 1
  kill "$server"
  wait "$server" 2>/dev/null
  server=
done
# A server that is busy is asked again within that time.
start 'busy: \([0-9]*\)' 10 python3 "$folder/busy.py"
gives 'serving_client.py: busy 1' $python half 1 --address "http://127.0.0.1:$address" --timeout 0.5
gives 'serving_client.py: busy 4' $python half 1 --address "http://127.0.0.1:$address"
kill "$server"
wait "$server" 2>/dev/null
server=
exit $failures
