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

#ifdef TANDEM_IMPLEMENT_REDUCE
#include "tandem/cpu/arg_reduce.hpp"
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
namespace TANDEM_NS::cuda {
void argmax(const KernelCall& c);
void argmin(const KernelCall& c);
}  // namespace TANDEM_NS::cuda
#endif
namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Specs infer_arg(const InferCall& c) {
  const ArgAttrs& a = c.get<ArgAttrs>();
  const Spec& x = c.spec(0);
  const int axis = resolve_axis(c.op.name, a.axis, x.shape.rank());
  if (x.shape.dim(axis) == 0)
    raise_specs(c, "axis " + std::to_string(a.axis) + " is empty, so nothing on it is largest or smallest");
  if (!dtypes::index.has(a.output_type))
    raise_specs(c, std::string("the output type must be int32 or int64, not ") + name(a.output_type));
  Spec y{x.shape, a.output_type, x.device};
  y.shape.erase(axis);
  return Specs(y);
}
TANDEM_INLINE Tensor arg_reduce(const OpDef& op, const Tensor& x, i64 axis, const ArgOptions& o) {
  return apply1(op, ArgAttrs{axis, o.output_type}, {o.name, o.where}, x);
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef argmax_op{.name = "argmax",
                                        .infer = &detail::infer_arg,
                                        .cpu = &cpu::argmax,
                                        .cuda = TANDEM_CUDA(&cuda::argmax),
                                        .dtypes = dtypes::real,
                                        .saves = Saves::nothing,
                                        .flags = {.blocked = true},
                                        .attrs = &detail::attr_type<ArgAttrs>,
                                        .display = "ArgMax"};
TANDEM_INLINE constexpr OpDef argmin_op{.name = "argmin",
                                        .infer = &detail::infer_arg,
                                        .cpu = &cpu::argmin,
                                        .cuda = TANDEM_CUDA(&cuda::argmin),
                                        .dtypes = dtypes::real,
                                        .saves = Saves::nothing,
                                        .flags = {.blocked = true},
                                        .attrs = &detail::attr_type<ArgAttrs>,
                                        .display = "ArgMin"};

}  // namespace TANDEM_NS
#endif
