#!/bin/sh
# vae as a user meets it: train, draw, resume, interrupt, and what goes wrong. Usage: vae.sh PROGRAM
. "$(dirname "$0")/digits.sh"

bound() { number 'held out: ([0-9.]+) nats a digit at most'; }

resumes 4 --dims 8
cp whole.out out
near "$(bound)" 175 15 || { fail 'the bound'; cat out; }  # the program's own settings reach 102
picture vae.svg 'Digits of a variational autoencoder'
python3 - <<'PY' || fail 'the parts of the picture'
import xml.etree.ElementTree as xml
ns = "{http://www.w3.org/2000/svg}"
for part in xml.parse("vae.svg").getroot().findall(ns + "svg"): assert len(part.findall(ns + "g")) == 100, part
PY
says 'dims was "8", is "2"' "$program" --run parts --dims 2
interrupted_run --epochs 100000

if has_real mnist; then
  "$program" --data "$mnist" --epochs 10 --run real >out 2>&1 || { fail 'train on real digits'; cat out; }
  near "$(bound)" 108 6 || { fail 'real digits'; cat out; }
fi

bad_digits
fails_with 2 "'0' is not a whole number of at least 1" "$program" --dims 0
bad_run --epochs 1 --dims 2
finish
