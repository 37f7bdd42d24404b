// Definitions of ops/pointwise/add_n.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/pointwise/add_n.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/add_n.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_add_n(const InferCall& c) {
  Specs r(c.spec(0));
  for (std::size_t i = 1; i < c.in.size(); ++i) {
    if (c.spec(i).dtype != r[0].dtype) raise_specs(c, "dtypes differ", "cast them");
    if (!c.spec(i).shape.is_compatible_with(r[0].shape)) raise_specs(c, "shapes differ", "add() broadcasts");
    r[0].shape = r[0].shape.merge_with(c.spec(i).shape);
  }
  return r;
}
TANDEM_INLINE Grads add_n_gradient(const GradCall& c) {
  Grads r;
  for (std::size_t i = 0; i < c.in.size(); ++i) r.push_back(c.needs(i) ? Gradient(c.g[0]) : Gradient());
  return r;
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef add_n_op{.name = "add_n",
                                       .input_names = "list...",
                                       .infer = &detail::infer_add_n,
                                       .cpu = &cpu::add_n,
                                       .cuda = TANDEM_CUDA(&cuda::add_n),
                                       .gradient = &detail::add_n_gradient,
                                       .dtypes = dtypes::number | DType::complex128,
                                       .inputs = at_least(1),
                                       .saves = Saves::nothing};

TANDEM_INLINE Tensor add_n(const TensorList& list, OpOptions o) {
  const detail::CallSite call(o);
  const Span<const Tensor> in = list.list();
  if (in.empty()) errors::raise<errors::InvalidArgumentError>("add_n", "the list is empty");
  std::vector<const Tensor*> operands;
  for (const Tensor& t : in) operands.push_back(&t);
  return std::move(apply(add_n_op, operands, no_attrs, o)[0]);
}
TANDEM_INLINE Tensor detail::add_gradients(const std::vector<Gradient>& list, const OpOptions& o) {
  const std::vector<Tensor> dense(list.begin(), list.end());
  return add_n(dense, o);
}

}  // namespace TANDEM_NS
