// Definitions of ops/index/unique.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/index/lookup.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/count.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/index/unique.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

inline void check_vector(const InferCall& c, std::size_t i) {
  const Shape& s = c.spec(i).shape;
  if (s.rank() != 1) raise_specs(c, "the input must have rank 1");
  if (s.dim(0) != none && s.dim(0) > INT32_MAX) raise_specs(c, "the vector has more than 2^31 - 1 elements");
}
TANDEM_INLINE Specs infer_distinct(const InferCall& c) {
  check_vector(c, 0);
  const DType d = c.get<rules::DistinctAttrs>().out_idx;
  if (!dtypes::index.has(d)) raise_specs(c, std::string("indices must be int32 or int64, not ") + name(d));
  const Spec& x = c.spec(0);
  return Specs(Spec{x.shape, d, x.device}, Spec{x.shape, DType::bool_, x.device});
}
TANDEM_INLINE Specs infer_member(const InferCall& c) {
  check_vector(c, 0);
  check_vector(c, 1);
  if (c.spec(0).dtype != c.spec(1).dtype) raise_specs(c, "dtypes differ", "cast one of them");
  return Specs(Spec{c.spec(0).shape, DType::bool_, c.spec(0).device});
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef number_distinct_op{.name = "number_distinct",
                                                 .infer = &detail::infer_distinct,
                                                 .cpu = &cpu::number_distinct,
                                                 .cuda = TANDEM_CUDA(&cuda::number_distinct),
                                                 .outputs = 2,
                                                 .saves = Saves::nothing,
                                                 .flags = {.non_differentiable = true, .own_width = true},
                                                 .attrs = &detail::attr_type<rules::DistinctAttrs>,
                                                 .rare = {.in_errors = "unique"}};
TANDEM_INLINE constexpr OpDef is_member_op{.name = "is_member",
                                           .input_names = "values, y",
                                           .infer = &detail::infer_member,
                                           .cpu = &cpu::is_member,
                                           .cuda = TANDEM_CUDA(&cuda::is_member),
                                           .inputs = 2,
                                           .saves = Saves::nothing,
                                           .flags = {.non_differentiable = true, .own_width = true},
                                           .rare = {.in_errors = "setdiff1d"}};

TANDEM_INLINE Unique unique(const Tensor& x, UniqueOptions o) {
  const tandem::detail::CallSite call(o);
  const Tensor values = stop_gradient(x);
  const Tensor* const in[] = {&values};
  Tensors r = apply(number_distinct_op, in, rules::DistinctAttrs{o.out_idx}, {o.name, o.where});
  return {boolean_mask(values, r[1]), r[0]};
}
TANDEM_INLINE UniqueWithCounts unique_with_counts(const Tensor& x, UniqueOptions o) {
  const tandem::detail::CallSite call(o);
  const Unique u = unique(x, o);
  return {u.y, u.idx, bincount(u.idx, {.dtype = o.out_idx})};
}
TANDEM_INLINE SetDiff1d setdiff1d(const Tensor& x, const Tensor& y, SetDiff1dOptions o) {
  const tandem::detail::CallSite call(o);
  if (!dtypes::index.has(o.index_dtype))
    errors::raise<errors::InvalidArgumentError>(
        "setdiff1d", std::string(".index_dtype must be int32 or int64, not ") + name(o.index_dtype));
  const Tensor values = stop_gradient(x);
  const Tensor others = apply1(is_member_op, no_attrs, {o.name, o.where}, values, y);
  const Tensor at = squeeze(where(logical_not(others)), {.axis = {1}});
  return {gather(values, at), cast(at, o.index_dtype)};
}

}  // namespace TANDEM_NS
