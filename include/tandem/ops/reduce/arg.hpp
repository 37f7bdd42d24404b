// Index of the largest or smallest element along an axis: argmax, argmin. Not here: the values (reduce.hpp), the k
// largest (nn::top_k).
#pragma once
#include <concepts>

#include "tandem/attrs/reduce.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct ArgOptions {
  TANDEM_OP_OPTIONS;
  DType output_type = DType::int64;  ///< int32 or int64
};

namespace detail {
/// An axis without a default: options that lack it do not compile.
struct ArgAxis {
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  ArgAxis(I axis) : number(static_cast<i64>(axis)) {}
  i64 number;
};
}  // namespace detail
/// The options with the axis among them: argmax(x, {.axis = -1}).
struct ArgAxisOptions {
  TANDEM_OP_OPTIONS;
  detail::ArgAxis axis;
  DType output_type = DType::int64;
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
inline Tensor argmax(const Tensor& x, ArgAxisOptions o) {
  return detail::arg_reduce(argmax_op, x, o.axis.number, {o.name, o.where, o.output_type});
}
/// Returns the index of the smallest element along an axis. Otherwise as argmax.
template <std::integral I>
  requires(!std::same_as<I, bool>)
Tensor argmin(const Tensor& x, I axis, ArgOptions options = {}) {
  return detail::arg_reduce(argmin_op, x, axis, options);
}
inline Tensor argmin(const Tensor& x, ArgAxisOptions o) {
  return detail::arg_reduce(argmin_op, x, o.axis.number, {o.name, o.where, o.output_type});
}

}  // namespace TANDEM_NS
