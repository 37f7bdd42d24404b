// The place of the largest or smallest element along an axis: argmax, argmin. Values: reduce.hpp; several: nn::top_k.
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
extern TANDEM_API const OpDef argmax_op, argmin_op;
inline constexpr const OpDef* arg_ops[] = {&argmax_op, &argmin_op};

/// Where the largest element along an axis is: the lowest index among equals, the first NaN if there is one.
///   x         real numbers, rank >= 1
///   axis      required; negative counts from the end
///   returns   x's shape without the axis, of .output_type
///   throws    errors::InvalidArgumentError for an axis out of range or empty, or another output type
///   gradient  none (blocked)
template <std::integral I>
  requires(!std::same_as<I, bool>)
Tensor argmax(const Tensor& x, I axis, ArgOptions options = {}) {
  return detail::arg_reduce(argmax_op, x, axis, options);
}
/// Where the smallest element along an axis is; as argmax.
template <std::integral I>
  requires(!std::same_as<I, bool>)
Tensor argmin(const Tensor& x, I axis, ArgOptions options = {}) {
  return detail::arg_reduce(argmin_op, x, axis, options);
}

}  // namespace TANDEM_NS
