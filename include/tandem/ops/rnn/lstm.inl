// Definitions of ops/rnn/lstm.hpp.
#pragma once
#include "tandem/cpu/rnn/rnn.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/rnn/common.hpp"
#include "tandem/ops/rnn/lstm.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_lstm(const InferCall& c) {
  const Spec &x = c.spec(0), &h0 = c.spec(1);
  check_rnn(c, 4, 2, {});
  const i64 u = h0.shape.dim(1);
  Specs out;
  const auto push = [&](const Shape& s) { out.push_back(Spec{s, x.dtype, x.device}); };
  push({x.shape.dim(0), x.shape.dim(1), u});
  push(h0.shape);
  push(h0.shape);
  const RnnResiduals saved = rnn_residuals(x, u, 4, c.in.size() > 6);
  push({x.shape.dim(0), x.shape.dim(1), saved.gates});
  push({x.shape.dim(0), x.shape.dim(1), saved.second});
  return out;
}

TANDEM_INLINE Tensors lstm_reference(Span<const Tensor> in, const Attrs&) {
  return rnn_reference("lstm", in, 2, {[](Span<const Tensor> s, Span<const Tensor> w) {
                         nn::LstmState next = nn::lstm_cell(s[2], {s[0], s[1]}, w[0], w[1], w[2]);
                         return std::vector<Tensor>{std::move(next.h), std::move(next.c)};
                       }});
}

TANDEM_INLINE Grads lstm_gradient(const GradCall& c) {
  InlinedVector<Tensor, 16> all;
  for (int i = 0; i < 6; ++i) all.push_back(c.in[static_cast<std::size_t>(i)]);
  for (int i : {0, 3, 4}) all.push_back(c.out[static_cast<std::size_t>(i)]);
  for (int i = 0; i < 3; ++i) all.push_back(upstream_or_zeros(c, static_cast<std::size_t>(i)));
  if (c.in.size() > 6) all[0] = within_lengths(c.in[0], c.in[6]), all.push_back(c.in[6]);
  return rnn_gradient(lstm_grad_op, all, c, 6);
}

// x h0 c0 wx wh b y gates cells dy dh dc [lengths] -> dx dh0 dc0 dwx dwh db
TANDEM_INLINE Specs infer_lstm_grad(const InferCall& c) { return infer_rnn_grad(c); }
inline constexpr BackwardOf lstm_backward{.forward = &lstm_op, .inputs = 6, .upstream = 9, .outputs = 3};

}  // namespace detail

TANDEM_INLINE constexpr OpDef lstm_op{
    .name = "lstm",
    .input_names = "x, initial_h, initial_c, kernel, recurrent_kernel, bias, sequence_length",
    .infer = &detail::infer_lstm,
    .cpu = &cpu::lstm,
    .cuda = TANDEM_CUDA(&cuda::lstm),
    .gradient = &detail::lstm_gradient,
    .dtypes = dtypes::floating,
    .inputs = at_least(6),
    .outputs = 5,
    .flags = {.takes_half = kernels_take_half},
    .rare = {.decomposition = &detail::lstm_reference}};
TANDEM_INLINE constexpr OpDef lstm_grad_op{
    .name = "lstm_grad",
    .input_names =
        "x, initial_h, initial_c, kernel, recurrent_kernel, bias, output, gates, cells, g, g_h, g_c, sequence_length",
    .infer = &detail::infer_lstm_grad,
    .cpu = &cpu::lstm_grad,
    .cuda = TANDEM_CUDA(&cuda::lstm_grad),
    .dtypes = dtypes::floating,
    .inputs = at_least(12),
    .outputs = 6,
    .saves = Saves::inputs,
    .flags = {.takes_half = kernels_take_half},
    .attrs = &detail::attr_type<rules::RnnGradAttrs>,
    .rare = {.backward_of = &detail::lstm_backward}};

namespace nn {

TANDEM_INLINE LstmState lstm_cell(const Tensor& x, const LstmState& s, const Tensor& kernel,
                                  const Tensor& recurrent_kernel, const Tensor& bias) {
  const tandem::detail::ShapeChecks lenient(false);
  const std::vector<Tensor> z = split(matmul(x, kernel) + matmul(s.h, recurrent_kernel) + bias, 4, {.axis = -1});
  const Tensor c = sigmoid(z[1]) * s.c + sigmoid(z[0]) * tandem::tanh(z[2]);
  return {sigmoid(z[3]) * tandem::tanh(c), c};
}
TANDEM_INLINE LstmResult lstm(const Tensor& x, const LstmState& initial, const Tensor& kernel,
                              const Tensor& recurrent_kernel, const Tensor& bias, LstmOptions o) {
  InlinedVector<const Tensor*, 8> in(&x, &initial.h, &initial.c, &kernel, &recurrent_kernel, &bias);
  if (o.sequence_length.is_set()) in.push_back(&o.sequence_length);
  Tensors out = apply(lstm_op, {in.begin(), in.size()}, no_attrs, {o.name, o.where});
  return {std::move(out[0]), {std::move(out[1]), std::move(out[2])}};
}

}  // namespace nn
}  // namespace TANDEM_NS
