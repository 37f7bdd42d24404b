#!/bin/sh
# The programs for servers, as they are installed, and in a container. Usage: tools.sh BUILD CMAKE SOURCE
# The container is built where podman, buildah or docker is, and can have Debian's image.
set -u
build=$1 cmake=$2 source=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "FAILED: $*"
  exit 1
}

for program in model_server saved_model; do
  [ -x "$build/examples/$program" ] || {
    echo "$program is not built" >"${TANDEM_SKIPPED:-/dev/null}"
    exit 77
  }
done
"$cmake" --install "$build" --component tools --prefix "$folder/stage" >"$folder/out" 2>&1 || fail "install: $(cat "$folder/out")"
"$folder/stage/bin/tandem_model_server" --version | grep -q '^Tandem [0-9]' || fail 'tandem_model_server --version'
"$folder/stage/bin/tandem_saved_model" --help | grep -q 'verify' || fail 'tandem_saved_model --help'
unit=$folder/stage/lib/systemd/system/tandem_model_server.service
[ -f "$unit" ] || fail 'the unit of systemd'
# The flags that the unit and the container give are those of the program.
for flag in $(grep -ho -e '--[a-z_]*' "$unit") $(grep -o -e '"--[a-z_]*' "$source/packaging/container/Containerfile" | tr -d '"'); do
  "$folder/stage/bin/tandem_model_server" --help | grep -q -e "$flag" || fail "there is no $flag"
done
if command -v systemd-analyze >/dev/null; then
  sed "s|/usr/local/bin|$folder/stage/bin|" "$unit" >"$folder/tandem_model_server.service"
  systemd-analyze verify "$folder/tandem_model_server.service" >"$folder/out" 2>&1 || fail "systemd-analyze: $(cat "$folder/out")"
fi

for builder in podman buildah docker; do
  command -v $builder >/dev/null && break
  builder=
done
file=$source/packaging/container/Containerfile
image=docker.io/library/debian:bookworm-slim
if [ -z "$builder" ]; then
  why='podman, buildah or docker is not installed'
elif ! $builder pull "$image" >"$folder/out" 2>&1; then
  why="$builder cannot have $image"
else
  if [ $builder = buildah ]; then set -- buildah build; else set -- $builder build; fi
  "$@" -t tandem_model_server_test -f "$file" "$folder/stage" >"$folder/out" 2>&1 || fail "$builder: $(tail -20 "$folder/out")"
  [ $builder = buildah ] || $builder run --rm tandem_model_server_test --version | grep -q '^Tandem [0-9]' || fail 'the container'
  exit 0
fi
echo "the container: $why" >"${TANDEM_SKIPPED:-/dev/null}"
exit 77
