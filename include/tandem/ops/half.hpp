// What is composed of several ops computes half precision in float32, so that only its result is rounded.
// Not here: single ops, for which apply() does the same.
#pragma once
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/ops/cast.hpp"

namespace TANDEM_NS::detail {

inline DType widened(DType d) { return dtypes::half_floating.has(d) ? DType::float32 : d; }
/// x, or float32 for half precision; unset if x is.
inline Tensor widened(const Tensor& x) { return x.is_set() ? cast(x, widened(x.dtype())) : x; }
/// The operands, those of half precision as float32.
inline std::vector<Tensor> all_widened(Span<const Tensor> in) {
  std::vector<Tensor> wide;
  for (const Tensor& t : in) wide.push_back(is_floating(t.dtype()) ? widened(t) : t);
  return wide;
}
/// Raises unless x is floating, in the name of a function that is composed of ops which take integers too.
inline void check_floating(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype()))
    errors::raise<errors::UnimplementedError>(op, "x must be floating, not " + to_string(x.spec()) + " (cast it)");
}

}  // namespace TANDEM_NS::detail
