// Settings under which LibTorch is fastest here: its widest kernels, and huge pages for large tensors (3x on an
// addition of 16M elements). Both are read from the environment at first use.
#include "libtorch.hpp"

void bench::prepare(int threads) {
  if (__builtin_cpu_supports("avx512f")) setenv("ATEN_CPU_CAPABILITY", "avx512", 0);
  setenv("THP_MEM_ALLOC_ENABLE", "1", 0);
  at::set_num_threads(threads);
  at::set_num_interop_threads(1);
}
