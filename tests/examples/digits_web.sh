#!/bin/sh
# digits_web as a user meets it: a model is trained, the page is served, and in a browser a 7 is a 7. Usage:
# digits_web.sh PROGRAM [FOLDER], where FOLDER gets screenshots
. "$(dirname "$0")/server.sh"

gives 'there is no model in' "$program" --base "$folder/none" --no-train --port 0
start 'draw at \(.*\)' 120 "$program" --base "$folder/models" --epochs 4 --port 0
gives '[89][0-9]\.[0-9]* % of 1500 held-out\|100.00 % of' cat "$folder/log"
get() { python3 -c 'import sys, urllib.request as u; a = u.urlopen(sys.argv[1], timeout=30); print(a.headers, a.read().decode())' "$address$1"; }
gives 'Draw a digit' get ''
gives "Content-Security-Policy: default-src 'self'" get digits.js
gives 'tandem_in_flight' get metrics

if command -v chromedriver >/dev/null && { command -v chromium || command -v google-chrome; } >/dev/null; then
  python3 "$(dirname "$0")/digits_web.py" "$address" ${2:+"$2"} || failures=$((failures + 1))
  skipped=0
else
  echo "the page in a browser: chromium and chromium-driver are not installed" >"${TANDEM_SKIPPED:-/dev/null}"
  skipped=77
fi
stop
[ $failures = 0 ] && exit $skipped
exit 1
