#!/bin/sh
# serve_char_rnn as a user meets it: text comes while it is written. Usage: serve_char_rnn.sh PROGRAM, with char_rnn
# beside it
trainer=$(dirname "$1")/char_rnn
if [ ! -x "$trainer" ]; then
  echo "char_rnn is not built" >"${TANDEM_SKIPPED:-/dev/null}"
  exit 77
fi
. "$(dirname "$0")/server.sh"

gives 'serve_char_rnn: .*none' "$program" --run "$folder/none" --port 0
for i in $(seq 300); do echo "The quick brown fox number $i jumps over the lazy dog."; done >"$folder/corpus.txt"
"$trainer" train --data "$folder/corpus.txt" --run "$folder/run" --hidden 32 --layers 1 --batch 20 --window 20 --epochs 1 \
  --steps-per-epoch 20 >"$folder/train" 2>&1 || cat "$folder/train"
start 'send texts to \(.*\)' 10 "$program" --run "$folder/run" --port 0

# ask QUERY TEXT: status, how the body is coded, in how many pieces it came, and its length.
ask() {
  python3 - "$address$1" "$2" <<'PY'
import http.client, sys, urllib.parse
at = urllib.parse.urlsplit(sys.argv[1])
client = http.client.HTTPConnection(at.hostname, at.port, timeout=60)
client.request("POST", at.path + ("?" + at.query if at.query else ""), sys.argv[2].encode())
answer = client.getresponse()
pieces = []
while piece := answer.read1(65536):
    pieces.append(piece)
print(answer.status, answer.getheader("Transfer-Encoding"), "several" if len(pieces) > 3 else "one", len(b"".join(pieces)), b"".join(pieces)[:200])
PY
}
gives '^200 chunked several 500 ' ask '' 'The '
gives '^200 chunked several 2000 ' ask '?characters=2000&temperature=0' 'The '
gives '^200 chunked one 0 ' ask '?characters=0' 'The '
gives '^400 .*characters must be from 0 to 100000' ask '?characters=-1' 'The '
gives '^400 .*temperature must be' ask '?temperature=nan' 'The '
gives '^400 .*send a text to' ask '?other=1' 'The '
gives '^400 .*none of the characters' ask '' '%%%'
stop
exit $failures
