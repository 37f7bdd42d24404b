// Conversion of float16 and bfloat16 to float32 and back, by rows, for kernels that compute in float32 a tile at a
// time. Not here: the scalar types (base/half.hpp), cast.
#pragma once
#include "tandem/base/dtype.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// How a half-precision dtype is read and written. Distances and counts are in elements.
struct HalfRows {
  /// to[r * step + i] = from[r * ld + i] for r < rows, i < n.
  void (*widen)(const void* from, i64 ld, float* to, i64 step, i64 rows, i64 n);
  /// The same in the other direction: to nearest, ties to even.
  void (*round)(const float* from, i64 ld, void* to, i64 step, i64 rows, i64 n);
  /// The loops of cast.
  decltype(DenseLoop::run) widen_loop, round_loop;
};

/// The conversions of float16 or bfloat16 for the instruction set in use.
TANDEM_API const HalfRows& half_rows(DType d);

}  // namespace TANDEM_NS::cpu
