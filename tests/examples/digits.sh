# What the tests of programs that read digits share; each sources this first. $mnist is the folder of the real digits,
# beside the source directory, or empty.
mnist=$(cd "$(dirname "$0")/../../../shared/data/mnist" 2>/dev/null && pwd) || mnist=
. "$(dirname "$0")/support.sh"

has_real_digits() {
  [ -n "$mnist" ] || { echo 'SKIPPED: real digits, as there is no ../shared/data/mnist beside the source directory'; false; }
}
# right_above LIMIT: more than so many percent of what was held out are right, by the last line of `out`.
right_above() {
  right=$(tail -n 1 out | sed -n 's/^\(.* \)\{0,1\}\([0-9.]*\) % of [0-9]* held-out [a-z]* right.*/\2/p')
  awk "BEGIN { exit !(\"$right\" != \"\" && $right + 0 > $1) }" || { fail "'$right' % are right, not $1 %"; cat out; }
}
# refuses PATTERN COMMAND...: the command fails with status 1 and one line that has the pattern.
refuses() {
  says "$@"
  [ "$(wc -l <out)" = 1 ] || { fail "more than one line from $*:"; cat out; }
  shift
  "$@" >/dev/null 2>&1
  [ $? = 1 ] || fail "$*: the status is not 1"
}
# refuses_other_data COMMAND...: the command refuses folders without the four files of digits.
refuses_other_data() {
  mkdir nothing empty binary truncated mixed
  for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    : >empty/$file-ubyte
    printf 'abc\000def\377' >binary/$file-ubyte
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
  refuses 'there is no folder nowhere' "$@" --data nowhere
  refuses 'nothing/train-images-idx3-ubyte.gz' "$@" --data nothing
  refuses 'empty/train-images-idx3-ubyte' "$@" --data empty
  refuses 'binary/train-images-idx3-ubyte' "$@" --data binary
  refuses 'truncated/train-images-idx3-ubyte.gz' "$@" --data truncated
  refuses 'train-labels-idx1-ubyte.gz: not a label for each of 5 images' "$@" --data mixed
}
# is_interruptible COMMAND...: Ctrl-C during training saves, and the status is 130. The command writes `stopped`.
is_interruptible() {
  python3 - "$@" <<'PY' || fail "an interrupted run of $*"
import signal, subprocess, sys, time
p = subprocess.Popen(sys.argv[1:] + ["--checkpoint", "stopped"], stdout=subprocess.PIPE, text=True)
for line in p.stdout:
    if line.startswith("Total:"): break  # the summary is complete: training begins
time.sleep(0.2)
p.send_signal(signal.SIGINT)
out = p.communicate()[0]
assert p.returncode == 130 and "interrupted" in out, (p.returncode, out)
PY
  [ -s stopped ] || fail "no checkpoint after an interrupt of $*"
}
