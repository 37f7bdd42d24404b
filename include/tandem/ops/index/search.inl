// Definitions of ops/index/search.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/index/lookup.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/search.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_search(const InferCall& c) {
  const Shape &s = c.spec(0).shape, &v = c.spec(1).shape;
  const DType d = c.get<rules::SearchSortedAttrs>().out_type;
  if (!dtypes::index.has(d)) raise_specs(c, std::string(".out_type must be int32 or int64, not ") + name(d));
  if (c.spec(0).dtype != c.spec(1).dtype) raise_specs(c, "dtypes differ", "cast one of them");
  bool fits = s.rank() == v.rank() && s.rank() > 0;
  for (int i = 0; fits && i + 1 < s.rank(); ++i) fits = s.dim(i) == v.dim(i) || s.dim(i) == none || v.dim(i) == none;
  if (!fits) raise_specs(c, "both must have a last axis, and equal sizes on the others");
  return Specs(Spec{v, d, c.spec(1).device});
}
TANDEM_INLINE void search_kernel(const KernelCall& c) {
  cpu::search_sorted(c, c.attrs.get<rules::SearchSortedAttrs>().side == Side::right);
}
TANDEM_INLINE Specs infer_unravel(const InferCall& c) {
  check_index_dtype(c, 0);
  if (c.spec(1).dtype != DType::int64 || c.spec(1).shape.rank() != 1 || c.spec(1).shape.dim(0) == none)
    raise_specs(c, "the sizes must be an int64 vector of known length");
  Specs r(c.spec(0));
  r[0].shape.insert(0, c.spec(1).shape.dim(0));
  return r;
}
TANDEM_INLINE Specs infer_invert(const InferCall& c) {
  check_index_dtype(c, 0);
  if (c.spec(0).shape.rank() != 1) raise_specs(c, "a permutation must have rank 1");
  return Specs(c.spec(0));
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef searchsorted_op{.name = "searchsorted",
                                              .input_names = "sorted, values",
                                              .infer = &detail::infer_search,
                                              .cpu = &detail::search_kernel,
                                              .cuda = TANDEM_CUDA(&cuda::searchsorted),
                                              .dtypes = dtypes::real,
                                              .inputs = 2,
                                              .saves = Saves::nothing,
                                              .flags = {.non_differentiable = true},
                                              .attrs = &detail::attr_type<rules::SearchSortedAttrs>};
TANDEM_INLINE constexpr OpDef unravel_index_op{.name = "unravel_index",
                                               .input_names = "indices, dims",
                                               .infer = &detail::infer_unravel,
                                               .cpu = &cpu::unravel,
                                               .cuda = TANDEM_CUDA(&cuda::unravel),
                                               .dtypes = dtypes::index,
                                               .inputs = 2,
                                               .saves = Saves::nothing,
                                               .host_inputs = 2,
                                               .flags = {.non_differentiable = true}};
TANDEM_INLINE constexpr OpDef invert_permutation_op{.name = "invert_permutation",
                                                    .infer = &detail::infer_invert,
                                                    .cpu = &cpu::invert_permutation,
                                                    .cuda = TANDEM_CUDA(&cuda::invert_permutation),
                                                    .dtype_input = -1,
                                                    .saves = Saves::nothing,
                                                    .flags = {.non_differentiable = true}};

TANDEM_INLINE Tensor searchsorted(const Tensor& sorted, const Tensor& values, SearchSortedOptions o) {
  return apply1(searchsorted_op, rules::SearchSortedAttrs{o.side, o.out_type}, {o.name, o.where}, sorted, values);
}
TANDEM_INLINE Tensor unravel_index(const Tensor& indices, const Dims& dims, OpOptions o) {
  const tandem::detail::CallSite call(o);
  return apply1(unravel_index_op, no_attrs, o, indices, dims.tensor("unravel_index"));
}
TANDEM_INLINE Tensor invert_permutation(const Tensor& x, OpOptions o) {
  return apply1(invert_permutation_op, no_attrs, o, x);
}

}  // namespace TANDEM_NS
