// Definitions of layers/rnn_unfused.hpp.
#pragma once
#include <utility>

#include "tandem/layers/rnn_cells.hpp"
#include "tandem/layers/rnn_projected.hpp"
#include "tandem/layers/rnn_unfused.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/rnn/gru.hpp"
#include "tandem/ops/shape/concat.hpp"

namespace TANDEM_NS::layers::detail {

TANDEM_INLINE nn::LstmState lstm_of_sums(std::vector<Tensor> z, const nn::LstmState& s, const Tensors& w,
                                         const LSTMCellOptions& o) {
  const tandem::Activation &activation = o.activation.value(), &gate = o.recurrent_activation.value();
  const std::size_t peepholes = o.use_bias ? 3 : 2;
  if (o.use_peepholes) z[0] = z[0] + s.c * w[peepholes], z[1] = z[1] + s.c * w[peepholes + 1];
  const Tensor c = gate(z[1]) * s.c + gate(z[0]) * activation(z[2]);
  if (o.use_peepholes) z[3] = z[3] + c * w[peepholes + 2];
  return {gate(z[3]) * activation(c), c};
}
TANDEM_INLINE nn::LstmState lstm_step_of_projected(const Tensor& x, const nn::LstmState& s, const Tensors& w,
                                                   const LSTMCellOptions& o) {
  const tandem::detail::ShapeChecks lenient(false);
  return lstm_of_sums(split(x + matmul(s.h, w[1]), 4, {.axis = -1}), s, w, o);
}
TANDEM_INLINE Tensor lstm_inputs(const Tensor& x, const Tensors& w, const LSTMCellOptions& o) {
  return nn::dense(x, w[0], o.use_bias ? w[2] : Tensor());
}
TANDEM_INLINE nn::LstmState unfused_lstm_step(const Tensor& x, const nn::LstmState& s, const Tensors& w,
                                              const LSTMCellOptions& o) {
  return lstm_step_of_projected(lstm_inputs(x, w, o), s, w, o);
}
// Whether an activation is the one of the fused kernels, also if it is set to the op.
template <class A>
bool is_fused(const A& activation, Tensor (*op)(const Tensor&, OpOptions)) {
  return activation.is_usual() || activation.value() == tandem::Activation(op);
}
TANDEM_INLINE RnnSteps<nn::LstmState> unfused_lstm_steps(const char* layer, const Tensor& x, const nn::LstmState& start,
                                                         const Tensors& w, const Tensor& lengths,
                                                         const LSTMCellOptions& o) {
  if (!o.use_peepholes && is_fused(o.activation, &tandem::tanh) && is_fused(o.recurrent_activation, &sigmoid)) {
    const Tensor bias = o.use_bias ? w[2] : zeros({w[1].shape().dim(1)}, w[1].dtype());
    nn::LstmResult r = nn::lstm(x, start, w[0], w[1], bias, {.sequence_length = lengths});
    return {std::move(r.output), std::move(r.state)};
  }
  return run_projected(layer, lstm_inputs(x, w, o), start, lengths,
                       [&](const Tensor& z, const nn::LstmState& s) { return lstm_step_of_projected(z, s, w, o); });
}
TANDEM_INLINE constinit const UnfusedLstm unfused_lstm{&unfused_lstm_step, &unfused_lstm_steps};

TANDEM_INLINE GruBias gru_bias(const Tensors& w, const GRUCellOptions& o) {
  if (!o.use_bias) return {};
  if (!o.reset_after) return {w[2], {}};
  return {w[2][0], w[2][1]};
}
// A GRU with its weights divided as a step needs them.
class GruForm {
 public:
  GruForm(const Tensors& w, const GRUCellOptions& o) : options_(o), kernel_(w[0]), recurrent_(w[1]) {
    const i64 u = w[1].shape().dim(0);
    const GruBias bias = gru_bias(w, o);
    bias_ = bias.input, state_bias_ = bias.state;
    if (o.reset_after) return;
    std::vector<Tensor> parts = split(recurrent_, {2 * u, u}, {.axis = -1});
    recurrent_ = std::move(parts[0]), of_candidate_ = std::move(parts[1]);
  }
  Tensor inputs(const Tensor& x) const { return nn::dense(x, kernel_, bias_); }
  // z * h + (1 - z) * candidate
  Tensor step(const Tensor& projected, const Tensor& h) const {
    const tandem::detail::ShapeChecks lenient(false);
    const tandem::Activation &activation = options_.activation.value(), &gate = options_.recurrent_activation.value();
    const SplitOptions last{.axis = -1};
    const std::vector<Tensor> a = split(projected, 3, last);
    const std::vector<Tensor> s = split(nn::dense(h, recurrent_, state_bias_), options_.reset_after ? 3 : 2, last);
    const Tensor z = gate(a[0] + s[0]), r = gate(a[1] + s[1]);
    const Tensor candidate = activation(a[2] + (options_.reset_after ? r * s[2] : matmul(r * h, of_candidate_)));
    return z * (h - candidate) + candidate;
  }

 private:
  const GRUCellOptions& options_;
  Tensor kernel_, recurrent_, of_candidate_, bias_, state_bias_;
};
TANDEM_INLINE Tensor unfused_gru_step(const Tensor& x, const Tensor& h, const Tensors& w, const GRUCellOptions& o) {
  const GruForm form(w, o);
  return form.step(form.inputs(x), h);
}
TANDEM_INLINE RnnSteps<Tensor> unfused_gru_steps(const char* layer, const Tensor& x, const Tensor& start,
                                                 const Tensors& w, const Tensor& lengths, const GRUCellOptions& o) {
  if (o.reset_after && is_fused(o.activation, &tandem::tanh) && is_fused(o.recurrent_activation, &sigmoid)) {
    const Tensor bias = o.use_bias ? w[2] : zeros({2, w[1].shape().dim(1)}, w[1].dtype());
    nn::GruResult r = nn::gru(x, start, w[0], w[1], bias, {.sequence_length = lengths});
    return {std::move(r.output), std::move(r.state)};
  }
  const GruForm form(w, o);
  return run_projected(layer, form.inputs(x), start, lengths,
                       [&](const Tensor& z, const Tensor& h) { return form.step(z, h); });
}
TANDEM_INLINE constinit const UnfusedGru unfused_gru{&unfused_gru_step, &unfused_gru_steps};

}  // namespace TANDEM_NS::layers::detail
