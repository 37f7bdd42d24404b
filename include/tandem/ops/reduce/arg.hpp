// Index of the largest or smallest element along an axis: argmax, argmin. Not here: the values (reduce.hpp), the k
// largest (nn::top_k).
#pragma once
#include <concepts>

#include "tandem/core/apply.hpp"
#include "tandem/ops/reduce/attrs.hpp"

namespace TANDEM_NS {

struct ArgOptions {
  TANDEM_OP_OPTIONS;
  DType output_type = DType::int64;  ///< int32 or int64
};

namespace detail {
TANDEM_API Tensor arg_reduce(const OpDef& op, const Tensor& x, i64 axis, const ArgOptions& options);
}
TANDEM_OPS(arg_ops, argmax, argmin)

/// Returns the index of the largest element along an axis: the lowest index among equals, the first NaN if there is
/// one.
///   x         real numbers, rank >= 1
///   axis      required; negative counts from the end
///   returns   shape of x without the axis, dtype .output_type
///   throws    errors::InvalidArgumentError for an axis that is out of range or empty, or an invalid output type
///   gradient  none (non-differentiable)
template <std::integral I>
  requires(!std::same_as<I, bool>)
Tensor argmax(const Tensor& x, I axis, ArgOptions options = {}) {
  return detail::arg_reduce(argmax_op, x, axis, options);
}
/// Returns the index of the smallest element along an axis. Otherwise as argmax.
template <std::integral I>
  requires(!std::same_as<I, bool>)
Tensor argmin(const Tensor& x, I axis, ArgOptions options = {}) {
  return detail::arg_reduce(argmin_op, x, axis, options);
}

}  // namespace TANDEM_NS
