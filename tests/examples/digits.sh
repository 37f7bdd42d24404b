# What the tests of programs that read digits share; each sources this first. $mnist is the folder of real digits.
. "$(dirname "$0")/support.sh"
mnist=$real/mnist

# right_above LIMIT: more than so many percent of what was held out are right, by the last line of `out`.
right_above() {
  right=$(tail -n 1 out | sed -nE 's#^(.* )?([0-9.]+) % of [0-9]+ held-out [a-z]+ right.*#\2#p')
  awk "BEGIN { exit !(\"$right\" != \"\" && $right + 0 > $1) }" || { fail "'$right' % are right, not $1 %"; cat out; }
}
# bad_digits: wrong arguments, and folders without the four files of digits.
bad_digits() {
  narrow_help
  "$program" --help >out 2>&1 && grep -q -- --data out || fail 'no help'
  mkdir nothing empty binary truncated mixed
  for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    : >empty/$file-ubyte
    head -c 3000 "$program" >binary/$file-ubyte
  done
  python3 - <<'PY'
import gzip, struct
def images(n): return struct.pack(">4i", 0x803, n, 28, 28) + bytes(784 * n)
def labels(n): return struct.pack(">2i", 0x801, n) + bytes(n)
for part, n in (("train", 5), ("t10k", 3)):
    gzip.open("mixed/%s-images-idx3-ubyte.gz" % part, "wb").write(images(n))
    gzip.open("mixed/%s-labels-idx1-ubyte.gz" % part, "wb").write(labels(4))
    open("truncated/%s-images-idx3-ubyte.gz" % part, "wb").write(gzip.compress(images(n))[:30])
PY
  fails_with 1 'there is no folder nowhere' "$program" --data nowhere
  fails_with 1 'there is neither nothing/train-images-idx3-ubyte nor nothing/train-images-idx3-ubyte.gz' "$program" --data nothing
  fails_with 1 'empty/train-images-idx3-ubyte' "$program" --data empty
  fails_with 1 'binary/train-images-idx3-ubyte' "$program" --data binary
  fails_with 1 'truncated/train-images-idx3-ubyte.gz' "$program" --data truncated
  fails_with 1 'train-labels-idx1-ubyte.gz: not a label for each of 5 images' "$program" --data mixed
  fails_with 1 'leaves no batch' "$program" --batch 100000
  fails_with 2 "'0' is not a whole number of at least 1" "$program" --batch 0
  fails_with 2 "'x' is not a whole number of at least 0" "$program" --seed x
  fails_with 2 'nonsense' "$program" --nonsense
}
