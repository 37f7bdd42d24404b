// Definitions of ops/index/mask.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/index/index.hpp"
#include "tandem/cpu/index/mask.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_one_hot(const InferCall& c) {
  check_index_dtype(c, 0);
  const auto& a = c.get<rules::OneHotAttrs>();
  if (c.spec(1).dtype != c.spec(2).dtype || c.spec(1).shape.rank() || c.spec(2).shape.rank())
    raise_specs(c, "on_value and off_value must be scalars of one dtype");
  if (a.depth < 0) raise_specs(c, "depth " + std::to_string(a.depth) + " is negative");
  Specs r(Spec{c.spec(0).shape, c.spec(1).dtype, c.spec(0).device});
  r[0].shape.insert(resolve_axis(c.op.name, a.axis, c.spec(0).shape.rank() + 1), a.depth);
  return r;
}
TANDEM_INLINE void one_hot_kernel(const KernelCall& c) {
  cpu::one_hot(c, resolve_axis(c.op, c.attrs.get<rules::OneHotAttrs>().axis, c.out[0].shape().rank()));
}
TANDEM_INLINE Grads one_hot_gradient(const GradCall& c) {
  const auto& a = c.get<rules::OneHotAttrs>();
  const Tensor& g = c.g[0];
  const Tensor mask = apply1(one_hot_op, a, no_options, c.in[0], scalar_like(1, g), scalar_like(0, g));
  const Tensor on = sum_to_like(g * mask, c.in[1]);
  return {Gradient(), on, c.needs(2) ? Gradient(sum_to_like(g * (1 - mask), c.in[2])) : Gradient()};
}

TANDEM_INLINE Specs infer_where(const InferCall& c) {
  return Specs(Spec{Shape{none, c.spec(0).shape.rank()}, DType::int64, c.spec(0).device});
}
TANDEM_INLINE Specs resolve_where(const KernelCall& c) {
  return Specs(Spec{Shape{cpu::count_true(c.in[0]), c.in[0].shape().rank()}, DType::int64, c.in[0].spec->device});
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef one_hot_op{.name = "one_hot",
                                         .input_names = "indices, on_value, off_value",
                                         .infer = &detail::infer_one_hot,
                                         .cpu = &detail::one_hot_kernel,
                                         .cuda = TANDEM_CUDA(&cuda::one_hot),
                                         .gradient = &detail::one_hot_gradient,
                                         .dtypes = dtypes::index,
                                         .inputs = 3,
                                         .saves = Saves::inputs,
                                         .attrs = &detail::attr_type<rules::OneHotAttrs>};
TANDEM_INLINE constexpr OpDef where_op{.name = "where",
                                       .input_names = "cond",
                                       .infer = &detail::infer_where,
                                       .cpu = &cpu::where_true,
                                       .cuda = TANDEM_CUDA(&cuda::where_true),
                                       .dtypes = dtypes::boolean | dtypes::number | DType::complex128,
                                       .saves = Saves::nothing,
                                       .flags = {.non_differentiable = true},
                                       .rare = {.resolve = &detail::resolve_where}};

TANDEM_INLINE Tensor one_hot(const Tensor& indices, i64 depth, OneHotOptions o) {
  const auto value = [&](const OneHotValue& v) {
    if (v.tensor().is_set()) return v.tensor();
    return tandem::detail::scalar_like(v.number(), Tensor::symbol({Shape{}, o.dtype, indices.device()}));
  };
  return apply1(one_hot_op, rules::OneHotAttrs{depth, o.axis}, {o.name, o.where}, indices, value(o.on_value),
                value(o.off_value));
}
TANDEM_INLINE Tensor where(const Tensor& cond, OpOptions o) { return apply1(where_op, no_attrs, o, cond); }
TANDEM_INLINE Tensor boolean_mask(const Tensor& x, const Tensor& mask, BooleanMaskOptions o) {
  const tandem::detail::CallSite call(o);
  const int axis = resolve_axis("boolean_mask", o.axis, x.rank()), end = axis + mask.rank();
  bool fits = mask.dtype() == DType::bool_ && mask.rank() > 0 && end <= x.rank();
  for (int i = axis; fits && i < end; ++i) {
    const i64 a = x.shape().dim(i), b = mask.shape().dim(i - axis);
    fits = a == b || a == none || b == none;
  }
  if (!fits)
    errors::raise<errors::InvalidArgumentError>(
        "boolean_mask", "the mask must be bool and have the shape of x's axes from " + std::to_string(axis) +
                            " on: " + to_string(x.spec()) + " x " + to_string(mask.spec()));
  Tensor flat = x, flags = mask;
  if (mask.rank() > 1) {
    rules::CollapseAttrs a;
    for (int i = 0; i < axis; ++i) a.counts.push_back(1);
    a.counts.push_back(mask.rank());
    for (int i = end; i < x.rank(); ++i) a.counts.push_back(1);
    flat = apply1(collapse_dims_op, a, no_options, x);
    flags = collapse_leading(mask, mask.rank());
  }
  return gather(flat, squeeze(where(flags), {.axis = {1}}), {.name = o.name, .where = o.where, .axis = axis});
}

}  // namespace TANDEM_NS
