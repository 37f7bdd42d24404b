// The definition of a fold: the combining operation, the steps before and after it, and the kernel of one element
// type.
#pragma once
#include <cstddef>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::cpu {

/// The combining operation, and the function applied to each element first.
enum class Fold {
  sum,
  prod,
  max,
  min,
  any,
  all,
  max_abs,                 // of |x|
  sum_exp,                 // of e^(x - p)
  sum_squared_difference,  // of (x - p)^2
  sum_squared_scaled       // of (x p)^2
};
/// The function applied to the folded values y: y / number, log(y) + p, sqrt(y) / p.
enum class Finish { divide, log_plus, sqrt_over };

/// A fold for one element type and instruction set; pointers are to elements, strides and counts in elements. Half
/// precision is read and folded as float32: `width` is of the parameters and results, `read_width` of x.
struct FoldKernel {
  std::size_t width, read_width;
  void (*segments)(const void* x, i64 count, i64 stride, i64 n, const void* param, void* out);
  void (*columns)(const void* x, i64 rows, i64 stride, i64 n, const void* param, void* out);
  void (*join)(void* into, const void* from, i64 n);
  void (*clear)(void* out, i64 n);
};

}  // namespace TANDEM_NS::cpu
