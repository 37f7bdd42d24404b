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
printf x >>copy/graphs/serving_default.graph
gives 1 'copy/graphs/serving_default.graph is damaged' "$program" verify copy
gives 1 'saved_model: .*there is no directory none' "$program" show none
gives 2 'subcommand is required' "$program"
gives 2 'DIR is required' "$program" show
gives 2 'OTHER is required' "$program" diff $model
gives 0 'COMMAND DIR' "$program" --help

[ $failures -eq 0 ] && echo ok
exit $((failures > 0))
