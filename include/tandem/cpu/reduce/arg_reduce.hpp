// CPU kernels of argmax and argmin. Not here: their shape rule (ops/reduce/arg.hpp).
#pragma once
#include "tandem/attrs/reduce.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// One direction, element type and instruction set. Positions are written as int64 if `wide`, otherwise as int32.
struct ArgKernel {
  std::size_t width;
  void (*rows)(const void* x, i64 count, i64 n, bool wide, void* out);
  void (*columns)(const void* x, i64 rows, i64 stride, i64 n, bool wide, void* out);
};

TANDEM_API void argmax(const KernelCall& c);
TANDEM_API void argmin(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
