// CPU kernels of cumsum, cumprod, and of the ops that cumprod's gradient and cumulative_logsumexp use: linear_scan,
// shift and cumulative_max. Not here: shape rules and gradients (ops/reduce/scan.hpp).
#pragma once
#include "tandem/attrs/reduce.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// The most columns that one call of ScanKernel::columns scans.
inline constexpr i64 scan_tile = 1024;

/// One scan, element type and instruction set.
struct ScanKernel {
  std::size_t width;
  void (*rows)(const void* x, i64 rows, i64 n, bool exclusive, bool reverse, void* y);
  void (*columns)(const void* x, i64 n, i64 stride, i64 w, bool exclusive, bool reverse, void* y);
};

TANDEM_API void cumsum(const KernelCall& c);
TANDEM_API void cumprod(const KernelCall& c);
TANDEM_API void linear_scan(const KernelCall& c);
TANDEM_API void shift(const KernelCall& c);
TANDEM_API void cumulative_max(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
