#!/bin/sh
# Installs the peers that bench/ measures Tandem against: what to fetch and from where. How they are built:
# bench/cmake/peers.cmake. LibTorch comes from the newest PyTorch wheel, unpacked into the git-ignored .venv at the
# repository's root; OpenBLAS (OpenMP flavour), oneDNN, Eigen and Google Benchmark come from Debian. Without root the
# Debian half only prints its install line. `install.sh python` adds the Python peers (peers/python/): JAX,
# TensorFlow and Grain from their wheels, beside PyTorch in the same .venv, TensorBoard and Pillow; about 7 GB in all.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
packages="libopenblas-openmp-dev libdnnl-dev libeigen3-dev libbenchmark-dev python3-venv"

missing=""
for package in $packages; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "install ok installed" || missing="$missing $package"
done
if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ]; then
    apt-get update -q && apt-get install -q -y --no-install-recommends $missing || exit 1
  else
    echo "missing packages; run: sudo apt-get install$missing" >&2
    exit 2
  fi
fi

venv="$root/.venv"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv" || exit 1
if ! "$venv/bin/python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'; then
  if ! "$venv/bin/python" -m pip install -q --disable-pip-version-check torch; then
    echo "no PyTorch wheel could be had; falling back to Debian's libtorch-dev," \
      "an older LibTorch; configuring says so" >&2
    if [ "$(id -u)" = 0 ]; then
      apt-get install -q -y --no-install-recommends libtorch-dev || exit 1
    else
      echo "run: sudo apt-get install libtorch-dev" >&2
      exit 2
    fi
  fi
fi
version=$("$venv/bin/python" -c 'import importlib.metadata as m; print(m.version("torch"))' 2>/dev/null) &&
  echo "LibTorch from the PyTorch wheel $version" ||
  echo "LibTorch from Debian's libtorch-dev"

[ "${1:-}" = python ] || exit 0
if ! "$venv/bin/python" -c 'import importlib.util as u, sys; sys.exit(not (u.find_spec("torch") and u.find_spec("jax") and u.find_spec("tensorflow") and u.find_spec("tensorboard") and u.find_spec("grain") and u.find_spec("PIL")))'; then
  "$venv/bin/python" -m pip install -q --disable-pip-version-check torch "jax[cpu]" tensorflow-cpu tensorboard grain pillow || exit 1
fi
"$venv/bin/python" -c 'import importlib.metadata as m
print("Python peers:", ", ".join(name + " " + m.version(name) for name in ("torch", "jax", "tensorflow-cpu", "grain")))'
