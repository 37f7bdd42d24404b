#!/bin/sh
# Builds Tandem with CUDA, runs all tests on a machine with an NVIDIA GPU, and compares a few steps with PyTorch.
#
#   needs       a C++20 compiler, cmake >= 3.22, ninja, Catch2, the CUDA toolkit (nvcc), an NVIDIA driver,
#               cuBLASLt of the toolkit's major version where the loader finds it or in $CUDA_HOME/lib64
#   for bench   python3 with a PyTorch that has CUDA
#   usage       cuda/device_check.sh [build folder]        ARCHITECTURES=90 by default (Hopper); JOBS as many as processors
set -eu
source_folder=$(cd "$(dirname "$0")/.." && pwd)
build_folder=${1:-"$source_folder/build/cuda_check"}
architectures=${ARCHITECTURES:-90}
jobs=${JOBS:-$(nproc)}

missing=
for tool in cmake ninja c++; do command -v "$tool" >/dev/null || missing="$missing $tool"; done
[ -z "$missing" ] || { echo "device_check: not installed:$missing" >&2; exit 2; }
command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || { echo "device_check: no nvcc (install the CUDA toolkit)" >&2; exit 2; }
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader

cmake -S "$source_folder" -B "$build_folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTANDEM_WITH_CUDA=ON \
  -DCMAKE_CUDA_ARCHITECTURES="$architectures" -DTANDEM_CUDA_BENCH=ON -DTANDEM_BUILD_EXAMPLES=OFF
cmake --build "$build_folder" -j "$jobs"

# Without a device the tests would skip and all would seem well; this names the reason.
"$build_folder/cuda_steps" </dev/null >/dev/null || exit 3
ctest --test-dir "$build_folder" --output-on-failure -j "$jobs"

if python3 -c 'import torch' 2>/dev/null; then
  python3 "$source_folder/tests/cuda/bench/compare.py" "$build_folder/cuda_steps"
else
  echo "device_check: no benchmark: python3 has no PyTorch (python3 -m pip install torch)"
fi
