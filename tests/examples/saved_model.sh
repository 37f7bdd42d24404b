#!/bin/sh
# saved_model as a user meets it: models are shown, run, checked and compared. Usage: saved_model.sh PROGRAM; it needs
# half_plus_two beside the program.
set -u
program=$1
exporter=$(dirname "$program")/half_plus_two
[ -x "$exporter" ] || {
  echo "half_plus_two is not built" >"${TANDEM_SKIPPED:-/dev/null}"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

# gives STATUS PATTERN COMMAND...: the command ends with the status, and its output has the pattern.
gives() {
  wanted=$1 pattern=$2
  shift 2
  "$@" >out 2>&1
  status=$?
  if [ $status != "$wanted" ] || ! grep -q -e "$pattern" out; then
    failures=$((failures + 1))
    echo "FAILED: $*: status $status, and no '$pattern' in:"
    cat out
  fi
}

"$exporter" >/dev/null || exit 1
model=models/half_plus_two/1
gives 0 'signature serving_default: tensorflow/serving/predict, in batches' "$program" show $model
gives 0 'input x: float32\[None\]' "$program" show $model
gives 0 'output y: float32\[None\]' "$program" show $model
gives 0 'Variable a: float32\[\]' "$program" show $model
gives 0 '1 signatures and 2 Variables are sound' "$program" verify $model

gives 0 'y = .*2.5, 3.0, 4.5' "$program" run $model --inputs 'x=[1, 2, 5]'
gives 0 'y = ' "$program" run $model --inputs 'x=[]'
python3 -c 'import numpy' 2>/dev/null && {
  python3 -c 'import numpy; numpy.save("x.npy", numpy.array([4, -4], "float32"))'
  gives 0 'y = .*4.0, 0.0' "$program" run $model --inputs x=x.npy --outdir .
  gives 0 '\[4. 0.\] float32' python3 -c 'import numpy; y = numpy.load("y.npy"); print(y, y.dtype)'
}
gives 1 'takes {x}; missing {x}, surplus {z}' "$program" run $model --inputs 'z=[1]'
gives 1 'takes {x}; missing {x}' "$program" run $model
gives 1 'float32\[1,1\], it takes float32\[None\]' "$program" run $model --inputs 'x=[[1]]'
gives 1 "'\[1, \[2\]\]' is not float32.*equal lengths" "$program" run $model --inputs 'x=[1, [2]]'
gives 1 "'\[1' is neither a file" "$program" run $model --inputs 'x=[1'
gives 1 'there is text among the numbers' "$program" run $model --inputs 'x=["a"]'
gives 1 "'x' does not have the form" "$program" run $model --inputs x
gives 1 'given twice' "$program" run $model --inputs 'x=[1]' --inputs 'x=[2]'
gives 1 'signature name: "none" not found' "$program" run $model --signature none --inputs 'x=[1]'
gives 1 'cannot read none.npy' "$program" run $model --inputs x=none.npy

cp -r $model copy
gives 0 '^equal$' "$program" diff $model copy
# change PYTHON: makes `copy` the model with the manifest m and the bytes of a file changed.
change() {
  rm -rf copy && cp -r $model copy && python3 - "$1" <<'END' || exit 1
import json, os, sys
def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82f63b78 * (crc & 1)
    return "%08x" % (crc ^ 0xffffffff)
def write(name, data):
    os.makedirs(os.path.dirname("copy/" + name), exist_ok=True)
    open("copy/" + name, "wb").write(data)
    m["files"][name] = {"bytes": len(data), "crc32c": crc32c(data)}
m = json.load(open("copy/model.json"))
graph = "graphs/serving_default.graph"
exec(sys.argv[1])
json.dump(m, open("copy/model.json", "w"))
END
}
command -v python3 >/dev/null && {
  change 'write("assets/labels.txt", b"cat")'
  gives 1 '+ file assets/labels.txt' "$program" diff $model copy
  gives 1 '- file assets/labels.txt' "$program" diff copy $model
  change 'write("assets.extra/tf_serving_warmup_requests", b"")'
  gives 1 '+ file assets.extra/tf_serving_warmup_requests' "$program" diff $model copy
  # a * x + b becomes b * x + a, a graph of the same structure
  change 'g = open("copy/" + graph, "rb").read()
a, b = b"\1\0\0\0a\1", b"\1\0\0\0b\1"
i, j = g.index(a), g.index(b)
write(graph, bytes(g[j + 4] if k == i + 4 else g[i + 4] if k == j + 4 else x for k, x in enumerate(g)))'
  gives 0 'y = .*2.5, 4.5' "$program" run copy --inputs 'x=[1, 2]'
  gives 1 'file graphs/serving_default.graph: contents differ' "$program" diff $model copy
  change 'm["producer"] = "tandem 99"'
  gives 1 '+ saved by tandem 99' "$program" diff $model copy
  change 'm["signatures"]["serving_default"]["batch"] = False'
  gives 1 'file model.json: contents differ' "$program" diff $model copy
  # y = x of a dtype: its number, its name, the value that is given, what is printed or said, names of outputs if not y
  identity() {
    change 'import struct
def text(s): return struct.pack("<I", len(s)) + s.encode()
def count(n): return struct.pack("<I", n)
spec = struct.pack("<BBBBq", '"$1"', 0, 0, 1, -2**63)
outputs = "'"${5:-y}"'".split()
names = count(1) + text("x") + count(len(outputs)) + b"".join(map(text, outputs))
node = count(0) + text("x") + count(0) + count(1) + spec + bytes([1]) + text("index") + bytes(9)
write(graph, b"TANDEMGR" + count(2) + bytes(8) + names + count(0) + count(1) + text("argument") + text("f") + count(1) +
      count(0) + count(1) + node + count(len(outputs)) + count(0) * len(outputs))
s = m["signatures"]["serving_default"]
s["inputs"][0]["dtype"] = s["outputs"][0]["dtype"] = "'"$2"'"
s["outputs"] = [dict(s["outputs"][0], name=name) for name in outputs]'
    status=1
    case $4 in *=*) status=0 ;; esac
    gives $status "$4" "$program" run copy --inputs "x=[$3]"
  }
  identity 4 int32 7 'y = .*7'
  identity 4 int32 1.9 '1.9 is not a value of int32'
  identity 4 int32 2147483648 '2147483648 is not a value of int32'
  identity 2 int8 '-128, 127' 'y = .*-128, 127'
  identity 2 int8 300 '300 is not a value of int8'
  identity 6 uint8 -1 '-1 is not a value of uint8'
  identity 14 uint64 -1 '-1 is not a value of uint64'
  identity 14 uint64 18446744073709551615 'y = .*18446744073709551615'
  identity 5 int64 9223372036854775808 'is not a value of int64'
  identity 7 bool 'true, false' 'y = '
  identity 7 bool 2 '2 is not a value of bool'
  # each output has a file of its own
  identity 4 int32 5 'a_b = .*5' 'a/b a_b'
  "$program" run copy --inputs 'x=[5]' --outdir new/folder >/dev/null
  [ -f new/folder/a/b.npy ] && [ -f new/folder/a_b.npy ] || {
    failures=$((failures + 1))
    echo 'FAILED: --outdir new/folder has not a/b.npy and a_b.npy'
  }
}
rm -rf copy && cp -r $model copy
printf x >>copy/graphs/serving_default.graph
gives 1 'copy/graphs/serving_default.graph is damaged' "$program" verify copy
gives 1 'saved_model: .*there is no directory none' "$program" show none
gives 2 'subcommand is required' "$program"
gives 2 'DIR is required' "$program" show
gives 2 'OTHER is required' "$program" diff $model
gives 0 'COMMAND DIR' "$program" --help

[ $failures -eq 0 ] && echo ok
exit $((failures > 0))
