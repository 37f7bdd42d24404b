// Definitions of ops/reduce/arg.hpp.
#pragma once
#include "tandem/cpu/reduce/arg_reduce.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/reduce/arg.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Specs infer_arg(const InferCall& c) {
  const rules::ArgAttrs& a = c.get<rules::ArgAttrs>();
  const Spec& x = c.spec(0);
  const int axis = resolve_axis(c.op.name, a.axis, x.shape.rank());
  if (x.shape.dim(axis) == 0)
    raise_specs(c, "axis " + std::to_string(a.axis) + " is empty, so it has no largest or smallest element");
  if (!dtypes::index.has(a.output_type))
    raise_specs(c, std::string("the output type must be int32 or int64, not ") + name(a.output_type));
  Spec y{x.shape, a.output_type, x.device};
  y.shape.erase(axis);
  return Specs(y);
}
TANDEM_INLINE Tensor arg_reduce(const OpDef& op, const Tensor& x, i64 axis, const ArgOptions& o) {
  return apply1(op, rules::ArgAttrs{axis, o.output_type}, {o.name, o.where}, x);
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef argmax_op{.name = "argmax",
                                        .infer = &detail::infer_arg,
                                        .cpu = &cpu::argmax,
                                        .cuda = TANDEM_CUDA(&cuda::argmax),
                                        .dtypes = dtypes::real,
                                        .saves = Saves::nothing,
                                        .flags = {.non_differentiable = true},
                                        .attrs = &detail::attr_type<rules::ArgAttrs>,
                                        .rare = {.display = "ArgMax"}};
TANDEM_INLINE constexpr OpDef argmin_op{.name = "argmin",
                                        .infer = &detail::infer_arg,
                                        .cpu = &cpu::argmin,
                                        .cuda = TANDEM_CUDA(&cuda::argmin),
                                        .dtypes = dtypes::real,
                                        .saves = Saves::nothing,
                                        .flags = {.non_differentiable = true},
                                        .attrs = &detail::attr_type<rules::ArgAttrs>,
                                        .rare = {.display = "ArgMin"}};

}  // namespace TANDEM_NS
