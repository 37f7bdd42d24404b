#!/bin/sh
# autoencoder as a user meets it: train, draw, resume, interrupt, and what goes wrong. Usage: autoencoder.sh PROGRAM
. "$(dirname "$0")/digits.sh"

# error_below LIMIT: the error in `out` is below so many percent of the variance.
error_below() {
  error=$(sed -n 's/^784 pixels in [0-9]* numbers: error \([0-9.]*\) % of the variance.*/\1/p' out)
  awk "BEGIN { exit !(\"$error\" != \"\" && $error + 0 < $1) }" || { fail "the error is '$error' %, not below $1 %"; cat out; }
}

resumes 4
cp whole.out out
error_below 40
python3 - <<'PY' || fail 'the picture'
import xml.etree.ElementTree as xml
ns = "{http://www.w3.org/2000/svg}"
svg = xml.parse("autoencoder.svg").getroot()
images = svg.findall(ns + "g")
assert len(images) == 60 and all(g.findall(ns + "path") for g in images), len(images)
assert "Held-out digits" in svg.find(ns + "title").text and svg.get("viewBox").startswith("0 0 680 "), svg.attrib
PY

says 'dims was "16", is "2"' "$program" --run parts --dims 2
interrupted_run --epochs 1000

# Two numbers: also the plane.
"$program" --epochs 1 --dims 2 --run two >out 2>&1 || { fail 'train, two numbers'; cat out; }
python3 - <<'PY' || fail 'the picture of the plane'
import re
import xml.etree.ElementTree as xml
ns = "{http://www.w3.org/2000/svg}"
svg = xml.parse("autoencoder_plane.svg").getroot()
assert "Digits as points of a plane" in svg.find(ns + "title").text
encoder, decoder = svg.findall(ns + "svg")
assert "The encoder" in encoder.find(ns + "title").text and "The decoder" in decoder.find(ns + "title").text
assert len(decoder.findall(ns + "g")) == 400
discs = [tuple(map(float, disc)) for path in encoder.iter(ns + "path")
         for disc in re.findall(r"M([\d.]+) ([\d.]+)h0", path.get("d"))]
assert len(discs) == 1500, len(discs)
# As many digits in each quarter of the plane's width and height.
for axis in zip(*discs):
    low, high = min(axis), max(axis)
    quarters = [0] * 4
    for at in axis: quarters[min(3, int(4 * (at - low) / (high - low)))] += 1
    assert all(abs(n - 375) < 3 for n in quarters), quarters
PY

if has_real mnist; then
  "$program" --data "$mnist" --epochs 5 --run real >out 2>&1 || { fail 'train on real digits'; cat out; }
  error_below 40  # what principal components of the same number leave
fi

bad_digits
# A picture that cannot be saved: the run is kept, and the same command with another name draws at once.
: >wall
says 'the folder wall' "$program" --epochs 4 --run whole --picture wall/x.svg
fails_with 2 'dims' "$program" --dims 0
fails_with 2 "'abc' is not a whole number of at least 1" "$program" --epochs abc

finish
