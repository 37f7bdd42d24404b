#!/bin/sh
# The Debian package of a build: made, unpacked, and found by pkg-config where it was unpacked.
# Usage: debian.sh BUILD_FOLDER EMPTY_FOLDER COMPILER COMPONENT...
set -eu
build=$1 folder=$2 compiler=$3
shift 3
for tool in cpack dpkg-deb pkg-config; do
  command -v $tool >/dev/null || {
    echo "packaging_debian: there is no $tool" | tee "${TANDEM_SKIPPED:-/dev/null}"
    exit 77
  }
done
consumer=$(dirname "$0")/consumer
rm -rf "$folder"
mkdir -p "$folder"
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder/cpack" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
for package in "$folder"/cpack/*.deb; do
  dpkg-deb --info "$package"
  dpkg-deb -x "$package" "$folder/root"
done
version=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)").*/\1/p' "$build/tandemConfigVersion.cmake")
[ -e "$folder/cpack/libtandem-dev_${version}_$(dpkg --print-architecture).deb" ] || { ls "$folder/cpack"; exit 1; }

PKG_CONFIG_PATH=$(dirname "$(find "$folder/root" -name tandem.pc)")
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion tandem)" = "$version" ] || { echo "pkg-config has not version $version"; exit 1; }
packages=tandem definitions=
for component; do
  packages="$packages tandem-$component"
  definitions="$definitions -DWITH_$(printf '%s' "$component" | tr '[:lower:]' '[:upper:]')"
done
# shellcheck disable=SC2046,SC2086
"$compiler" -std=c++20 -O0 $definitions $(pkg-config --cflags $packages) "$consumer/two_units.cpp" \
  "$consumer/other_unit.cpp" $(pkg-config --libs $packages) -o "$folder/two_units"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir tandem) "$folder/two_units"
[ "$(pkg-config --cflags tandem-header-only | grep -c TANDEM_HEADER_ONLY=1)" = 1 ]
