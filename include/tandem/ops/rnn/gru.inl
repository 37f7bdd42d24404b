// Definitions of ops/rnn/gru.hpp.
#pragma once
#include "tandem/cpu/rnn/rnn.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/rnn/common.hpp"
#include "tandem/ops/rnn/gru.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_gru(const InferCall& c) {
  const Spec &x = c.spec(0), &h0 = c.spec(1);
  const i64 u = h0.shape.rank() == 2 ? h0.shape.dim(1) : none;
  check_rnn(c, 3, 1, {2, u == none ? none : 3 * u});
  Specs out;
  const auto push = [&](const Shape& s) { out.push_back(Spec{s, x.dtype, x.device}); };
  push({x.shape.dim(0), x.shape.dim(1), u});
  push(h0.shape);
  const RnnResiduals saved = rnn_residuals(x, u, 3, c.in.size() > 5);
  push({x.shape.dim(0), x.shape.dim(1), saved.gates});
  push({x.shape.dim(0), x.shape.dim(1), saved.second});
  return out;
}
TANDEM_INLINE Tensors gru_reference(Span<const Tensor> in, const Attrs&) {
  return rnn_reference("gru", in, 1, {[](Span<const Tensor> h, Span<const Tensor> w) {
                         return std::vector<Tensor>{nn::gru_cell(h[1], h[0], w[0], w[1], w[2])};
                       }});
}
TANDEM_INLINE Grads gru_gradient(const GradCall& c) {
  InlinedVector<Tensor, 16> all;
  for (int i = 0; i < 5; ++i) all.push_back(c.in[static_cast<std::size_t>(i)]);
  for (int i : {0, 2, 3}) all.push_back(c.out[static_cast<std::size_t>(i)]);
  for (int i = 0; i < 2; ++i) all.push_back(upstream_or_zeros(c, static_cast<std::size_t>(i)));
  if (c.in.size() > 5) all[0] = within_lengths(c.in[0], c.in[5]), all.push_back(c.in[5]);
  return rnn_gradient(gru_grad_op, all, c, 5);
}

// x h0 wx wh b y gates hu dy dh [lengths] -> dx dh0 dwx dwh db
TANDEM_INLINE Specs infer_gru_grad(const InferCall& c) { return infer_rnn_grad(c); }
inline constexpr BackwardOf gru_backward{.forward = &gru_op, .inputs = 5, .upstream = 8, .outputs = 2};

}  // namespace detail

TANDEM_INLINE constexpr OpDef gru_op{.name = "gru",
                                     .input_names = "x, initial, kernel, recurrent_kernel, bias, sequence_length",
                                     .infer = &detail::infer_gru,
                                     .cpu = &cpu::gru,
                                     .cuda = TANDEM_CUDA(&cuda::gru),
                                     .gradient = &detail::gru_gradient,
                                     .dtypes = dtypes::floating,
                                     .inputs = at_least(5),
                                     .outputs = 4,
                                     .flags = {.takes_half = kernels_take_half},
                                     .rare = {.decomposition = &detail::gru_reference}};
TANDEM_INLINE constexpr OpDef gru_grad_op{
    .name = "gru_grad",
    .input_names = "x, initial, kernel, recurrent_kernel, bias, output, gates, candidate, g, g_state, sequence_length",
    .infer = &detail::infer_gru_grad,
    .cpu = &cpu::gru_grad,
    .cuda = TANDEM_CUDA(&cuda::gru_grad),
    .dtypes = dtypes::floating,
    .inputs = at_least(10),
    .outputs = 5,
    .saves = Saves::inputs,
    .flags = {.takes_half = kernels_take_half},
    .attrs = &detail::attr_type<rules::RnnGradAttrs>,
    .rare = {.backward_of = &detail::gru_backward}};

namespace nn {

TANDEM_INLINE Tensor gru_cell(const Tensor& x, const Tensor& h, const Tensor& kernel, const Tensor& recurrent_kernel,
                              const Tensor& bias, bool reset_after) {
  const tandem::detail::ShapeChecks lenient(false);
  const SplitOptions last{.axis = -1};
  const i64 u = recurrent_kernel.shape().dim(0);
  if (reset_after) {
    const std::vector<Tensor> a = split(matmul(x, kernel) + bias[0], 3, last),
                              s = split(matmul(h, recurrent_kernel) + bias[1], 3, last);
    const Tensor z = sigmoid(a[0] + s[0]), r = sigmoid(a[1] + s[1]), candidate = tandem::tanh(a[2] + r * s[2]);
    return z * (h - candidate) + candidate;
  }
  const std::vector<Tensor> a = split(matmul(x, kernel) + bias, 3, last), w = split(recurrent_kernel, {2 * u, u}, last),
                            s = split(matmul(h, w[0]), 2, last);
  const Tensor z = sigmoid(a[0] + s[0]), r = sigmoid(a[1] + s[1]), candidate = tandem::tanh(a[2] + matmul(r * h, w[1]));
  return z * (h - candidate) + candidate;
}
TANDEM_INLINE GruResult gru(const Tensor& x, const Tensor& initial, const Tensor& kernel,
                            const Tensor& recurrent_kernel, const Tensor& bias, GruOptions o) {
  InlinedVector<const Tensor*, 8> in(&x, &initial, &kernel, &recurrent_kernel, &bias);
  if (o.sequence_length.is_set()) in.push_back(&o.sequence_length);
  Tensors out = apply(gru_op, {in.begin(), in.size()}, no_attrs, {o.name, o.where});
  return {std::move(out[0]), std::move(out[1])};
}

}  // namespace nn
}  // namespace TANDEM_NS
