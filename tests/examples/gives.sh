# What tests of command lines share; sourced with $folder, a folder for their output.
failures=0

# gives PATTERN COMMAND...: the command's output, whatever its status, has the pattern.
gives() {
  pattern=$1
  shift
  "$@" >"$folder/out" 2>&1
  grep -q -e "$pattern" "$folder/out" || {
    failures=$((failures + 1))
    echo "FAILED: $*: no '$pattern' in:"
    cat "$folder/out"
  }
}
