// Definitions of ops/linalg/dense.hpp.
#pragma once
#include "tandem/cpu/gemm/matmul.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_dense(const InferCall& c) {
  const Spec &x = c.spec(0), &w = c.spec(1);
  const auto agree = [](i64 a, i64 b) { return a == b || a == none || b == none; };
  if (w.dtype != x.dtype) raise_specs(c, "dtypes differ", cast_hint(c, 0, 1));
  if (c.in.size() > 2 && c.spec(2).dtype != x.dtype) raise_specs(c, "dtypes differ", cast_hint(c, 2, 0));
  if (x.shape.rank() < 1 || w.shape.rank() != 2) raise_specs(c, "needs x of shape [..., k] and w of shape [k, n]");
  if (!agree(x.shape.dim(-1), w.shape.dim(0))) raise_specs(c, "inner dimensions differ");
  if (c.in.size() > 2 && (c.spec(2).shape.rank() != 1 || !agree(c.spec(2).shape.dim(0), w.shape.dim(1))))
    raise_specs(c, "the bias must have one element per column of w");
  Specs r(x);
  r[0].shape.set(x.shape.rank() - 1, w.shape.dim(1));
  return r;
}
TANDEM_INLINE void dense_kernel(const KernelCall& c) { cpu::dense(c, c.attrs.get<rules::DenseAttrs>().activation); }
TANDEM_INLINE std::size_t dense_workspace(Span<const Spec> in, const Attrs&) {
  return cpu::dense_workspace(in[0], in[1]);
}
TANDEM_INLINE Tensor fused_activation(const Tensor& z, FusedActivation activation) {
  switch (activation) {
    case FusedActivation::relu: return maximum(z, 0);
    case FusedActivation::tanh: return tanh(z);
    case FusedActivation::sigmoid: return sigmoid(z);
    case FusedActivation::none: break;
  }
  return z;
}
TANDEM_INLINE Tensor before_activation(const Tensor& g, const Tensor& y, FusedActivation activation) {
  switch (activation) {
    case FusedActivation::relu: return where(y > 0, g, tandem::detail::scalar_like(0, g));
    case FusedActivation::tanh: return cast(widened(g) * (1 - widened(y) * widened(y)), g.dtype());
    case FusedActivation::sigmoid: return cast(widened(g) * (widened(y) * (1 - widened(y))), g.dtype());
    case FusedActivation::none: break;
  }
  return g;
}
TANDEM_INLINE Tensors dense_reference(Span<const Tensor> in, const Attrs& attrs) {
  const bool vector = in[0].rank() == 1;
  Tensor z = matmul(vector ? expand_dims(in[0], 0) : in[0], in[1]);
  if (vector) z = squeeze(z, {.axis = {0}});
  if (in.size() > 2) z = z + in[2];
  return Tensors(fused_activation(z, attrs.get<rules::DenseAttrs>().activation));
}
TANDEM_INLINE Grads dense_gradient(const GradCall& c) {
  const Tensor g = before_activation(c.g[0], c.out[0], c.get<rules::DenseAttrs>().activation);
  const Tensor &x = c.in[0], &w = c.in[1];
  // Computes the product with all leading axes of x merged into one; the bias is added to each row.
  const auto rows = [](const Tensor& t) { return t.rank() == 2 ? t : collapse_leading(t, t.rank() - 1); };
  const Tensor tall = rows(g);
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) {
    const Tensor dx = flagged_product(tall, false, false, w, true, false);
    r[0] = Gradient(x.rank() == 2 ? dx : tandem::detail::reshape_like(dx, x));
  }
  if (c.needs(1)) r[1] = Gradient(flagged_product(rows(x), true, false, tall, false, false));
  if (c.in.size() > 2) r.push_back(c.needs(2) ? Gradient(tandem::detail::sum_to_like(g, c.in[2])) : Gradient());
  return r;
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef dense_op{
    .name = "dense",
    .input_names = "x, w, b",
    .infer = &detail::infer_dense,
    .cpu = &detail::dense_kernel,
    .cuda = TANDEM_CUDA(&cuda::dense),
    .gradient = &detail::dense_gradient,
    .workspace = &detail::dense_workspace,
    .dtypes = dtypes::floating,
    .inputs = at_least(2),
    .saves = Saves::all,
    .flags = {.keeps_packed = true, .takes_half = kernels_take_half, .cuda_takes_half = true},
    .attrs = &detail::attr_type<rules::DenseAttrs>,
    .rare = {.decomposition = &detail::dense_reference}};

TANDEM_INLINE Tensor nn::dense(const Tensor& x, const Tensor& w, const Tensor& b, DenseOptions o) {
  const rules::DenseAttrs a{o.activation};
  if (!b.is_set()) return apply1(dense_op, a, {o.name, o.where}, x, w);
  return apply1(dense_op, a, {o.name, o.where}, x, w, b);
}

}  // namespace TANDEM_NS
