#!/bin/sh
# ./dev demo as a user meets it, with programs that take no time to build: it runs in the caller's folder, and says
# which programs there are. Usage: dev_demo.sh DEV
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/checkout/examples/char_rnn" "$folder/checkout/examples/support" "$folder/tools" "$folder/caller"
cp "$1" "$folder/checkout/dev"
: >"$folder/checkout/examples/probe.cpp"
: >"$folder/checkout/examples/char_rnn/main.cpp"
# In cmake's place: "builds" programs that print how they were run.
cat >"$folder/tools/cmake" <<'SH'
#!/bin/sh
mkdir -p build/release/examples
for program in char_rnn probe tandem_run; do
  printf '#!/bin/sh\necho "%s in $PWD:" "$@"\n' $program >build/release/examples/$program
  chmod +x build/release/examples/$program
done
SH
chmod +x "$folder/tools/cmake"
failures=0
# gives OUTPUT ARGUMENTS...: ./dev demo with these arguments prints that line.
gives() {
  wanted=$1
  shift
  out=$(cd "$folder/caller" && PATH="$folder/tools:$PATH" ../checkout/dev demo "$@" 2>&1)
  [ "$out" = "$wanted" ] || { echo "FAILED: demo $*: '$out', not '$wanted'"; failures=$((failures + 1)); }
}
caller=$(cd "$folder/caller" && pwd)
gives "probe in $caller: --data mnist" probe --data mnist
gives "char_rnn in $caller:"
gives "char_rnn in $caller: sample" sample
gives "char_rnn in $caller: --minutes 1" --minutes 1
programs=$(cd "$folder/checkout" && pwd)/build/release/examples
gives "tandem_run in $caller: --rank-0-plain -n 2 -- $programs/probe --data mnist" --workers 2 probe --data mnist
gives "tandem_run in $caller: --rank-0-plain -n 2 -- $programs/mnist_cnn --epochs 1" --workers 2 --epochs 1
for name in prob support probe.cpp; do gives "there is no example '$name'; there are: char_rnn probe" $name; done
[ -z "$(ls "$folder/caller")" ] || { echo "FAILED: the caller's folder has $(ls "$folder/caller")"; failures=$((failures + 1)); }
[ $failures = 0 ] && echo 'all passed'
exit $failures
