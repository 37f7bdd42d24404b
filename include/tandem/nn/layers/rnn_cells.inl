// Definitions of nn/layers/rnn_cells.hpp.
#pragma once
#include "tandem/nn/layers/rnn_cells.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/shape/concat.hpp"

namespace TANDEM_NS::layers {

namespace detail {

TANDEM_INLINE Layer::Weights GateCell::weights_of(i64 features, i64 gates, const Shape& bias) const {
  const RnnCellOptions& o = weights_;
  return {{"kernel", {features, gates * units_}, o.kernel_initializer, o.dtype, o.kernel_regularizer},
          {"recurrent_kernel", {units_, gates * units_}, o.recurrent_initializer, o.dtype, o.recurrent_regularizer},
          {"bias", bias, o.bias_initializer, o.dtype, o.bias_regularizer}};
}
TANDEM_INLINE Tensor GateCell::zeros_of(const Dim& batch) const {
  return zeros({batch, units_}, {.dtype = weights_.dtype});
}
// Runs a step over inputs that are projected already, for all steps in one product.
template <class State, class Step>
RnnSteps<State> run_projected(const char* layer, const Tensor& x, const State& start, const Tensor& lengths,
                              const Step& step) {
  const auto code = [&](Span<const Tensor> in) {
    State state = start;
    control::refill(state, in.first(in.size() - 1));
    std::vector<Tensor> out = control::tensors_of(step(in.back(), state));
    out.push_back(out.front());  // h is the output
    return out;
  };
  RnnSteps<std::vector<Tensor>> all = run_loop(layer, x, control::tensors_of(start), lengths, control::code_of(code));
  RnnSteps<State> r{std::move(all.output), start};
  control::refill(r.state, all.state);
  return r;
}

}  // namespace detail

TANDEM_INLINE SimpleRNNCell::SimpleRNNCell(i64 units, const SimpleRNNCellOptions& options)
    : GateCell("SimpleRNNCell", "simple_rnn_cell", units, options.weights), options_(options) {}
TANDEM_INLINE Layer::Weights SimpleRNNCell::weights_for(i64 features) const {
  Weights w = weights_of(features, 1, {units_});
  if (!options_.use_bias) w.pop_back();
  return w;
}
TANDEM_INLINE Tensor SimpleRNNCell::projected(const Tensor& x, const Tensors& w) const {
  return nn::dense(x, w[0], options_.use_bias ? w[2] : Tensor());
}
TANDEM_INLINE Tensor SimpleRNNCell::step(const Tensor& x, const Tensor& h, const Tensors& w) const {
  return options_.activation(x + matmul(h, w[1]));
}
TANDEM_INLINE Tensor SimpleRNNCell::operator()(const Tensor& x, const Tensor& h) const {
  return run_with_weights([&] { return weights_for(features_of("SimpleRNNCell", x)); },
                          [&](const Tensors& w) { return step(projected(x, w), h, w); });
}
TANDEM_INLINE detail::RnnSteps<Tensor> SimpleRNNCell::run(const char* layer, const Tensor& x, const Tensor& start,
                                                          const Tensors& w, const Tensor& lengths) const {
  return detail::run_projected(layer, projected(x, w), start, lengths,
                               [&](const Tensor& z, const Tensor& h) { return step(z, h, w); });
}
TANDEM_INLINE detail::RnnSteps<Tensor> SimpleRNNCell::run_sequence(const char* layer, const Tensor& x, const Tensor& h,
                                                                   const Tensor& lengths) const {
  return run_with_weights([&] { return weights_for(features_of(layer, x)); },
                          [&](const Tensors& w) { return run(layer, x, h, w, lengths); });
}

namespace detail {
TANDEM_INLINE nn::LstmState peephole_step_of_projected(const Tensor& x, const nn::LstmState& s, const Tensors& w) {
  const tandem::detail::ShapeChecks lenient(false);
  const std::vector<Tensor> z = split(x + matmul(s.h, w[1]), 4, {.axis = -1});
  const Tensor c = sigmoid(z[1] + s.c * w[4]) * s.c + sigmoid(z[0] + s.c * w[3]) * tandem::tanh(z[2]);
  return {sigmoid(z[3] + c * w[5]) * tandem::tanh(c), c};
}
TANDEM_INLINE nn::LstmState peephole_step(const Tensor& x, const nn::LstmState& s, const Tensors& w) {
  return peephole_step_of_projected(nn::dense(x, w[0], w[2]), s, w);
}
TANDEM_INLINE RnnSteps<nn::LstmState> peephole_steps(const char* layer, const Tensor& x, const nn::LstmState& start,
                                                     const Tensors& w, const Tensor& lengths) {
  return run_projected(layer, nn::dense(x, w[0], w[2]), start, lengths,
                       [&](const Tensor& z, const nn::LstmState& s) { return peephole_step_of_projected(z, s, w); });
}
TANDEM_INLINE constinit const PeepholeLstm peephole_lstm{&peephole_step, &peephole_steps};

TANDEM_INLINE Tensor bias_of_ones_for_forget(const Tensor& bias) {
  const std::vector<Tensor> b = split(bias, 4, {.axis = 0});
  return concat({b[0], b[1] + ones(b[1].shape(), {.dtype = bias.dtype()}), b[2], b[3]}, 0);
}
}  // namespace detail

TANDEM_INLINE LSTMCell::LSTMCell(i64 units, const LSTMCellOptions& options)
    : GateCell("LSTMCell", "lstm_cell", units, options.weights), options_(options) {}
TANDEM_INLINE Layer::Weights LSTMCell::weights_for(i64 features) const {
  Weights w = weights_of(features, 4, {4 * units_});
  if (options_.unit_forget_bias) w[2].adjusted = &detail::bias_of_ones_for_forget;
  if (!options_.use_peepholes) return w;
  for (const char* name :
       {"input_gate_peephole_weights", "forget_gate_peephole_weights", "output_gate_peephole_weights"})
    w.push_back({name, {units_}, weights_.kernel_initializer, weights_.dtype, weights_.kernel_regularizer});
  return w;
}
TANDEM_INLINE nn::LstmState LSTMCell::zero_state(const Dim& batch) const {
  const Tensor z = zeros_of(batch);
  return {z, z};
}
TANDEM_INLINE nn::LstmState LSTMCell::operator()(const Tensor& x, const nn::LstmState& state) const {
  return run_with_weights([&] { return weights_for(features_of("LSTMCell", x)); },
                          [&](const Tensors& w) {
                            if (const auto* p = options_.use_peepholes.selected()) return p->step(x, state, w);
                            return nn::lstm_cell(x, state, w[0], w[1], w[2]);
                          });
}
TANDEM_INLINE detail::RnnSteps<nn::LstmState> LSTMCell::run(const char* layer, const Tensor& x,
                                                            const nn::LstmState& state, const Tensors& w,
                                                            const Tensor& lengths) const {
  if (const auto* p = options_.use_peepholes.selected()) return p->run(layer, x, state, w, lengths);
  nn::LstmResult r = nn::lstm(x, state, w[0], w[1], w[2], {.sequence_length = lengths});
  return {std::move(r.output), std::move(r.state)};
}
TANDEM_INLINE detail::RnnSteps<nn::LstmState> LSTMCell::run_sequence(const char* layer, const Tensor& x,
                                                                     const nn::LstmState& state,
                                                                     const Tensor& lengths) const {
  return run_with_weights([&] { return weights_for(features_of(layer, x)); },
                          [&](const Tensors& w) { return run(layer, x, state, w, lengths); });
}

namespace detail {
// The classic GRU multiplies r h by part of its weights within each step, so it has no fused kernel.
TANDEM_INLINE RnnSteps<Tensor> classic_gru(const char* layer, const Tensor& x, const Tensor& start, const Tensors& w,
                                           const Tensor& lengths) {
  const i64 u = w[1].shape().dim(0);
  const std::vector<Tensor> recurrent = split(w[1], {2 * u, u}, {.axis = -1});
  return run_projected(layer, nn::dense(x, w[0], w[2]), start, lengths, [&](const Tensor& z, const Tensor& h) {
    const tandem::detail::ShapeChecks lenient(false);
    const std::vector<Tensor> inputs = split(z, {2 * u, u}, {.axis = -1});
    const std::vector<Tensor> gates = split(sigmoid(inputs[0] + matmul(h, recurrent[0])), 2, {.axis = -1});
    const Tensor candidate = tandem::tanh(inputs[1] + matmul(gates[1] * h, recurrent[1]));
    return gates[0] * (h - candidate) + candidate;
  });
}
}  // namespace detail

TANDEM_INLINE GRUCell::GRUCell(i64 units, const GRUCellOptions& options)
    : GateCell("GRUCell", "gru_cell", units, options.weights), options_(options) {}
TANDEM_INLINE Layer::Weights GRUCell::weights_for(i64 features) const {
  return weights_of(features, 3, options_.reset_after ? Shape{2, 3 * units_} : Shape{3 * units_});
}
TANDEM_INLINE Tensor GRUCell::operator()(const Tensor& x, const Tensor& h) const {
  return run_with_weights([&] { return weights_for(features_of("GRUCell", x)); },
                          [&](const Tensors& w) { return nn::gru_cell(x, h, w[0], w[1], w[2], options_.reset_after); });
}
TANDEM_INLINE detail::RnnSteps<Tensor> GRUCell::run(const char* layer, const Tensor& x, const Tensor& h,
                                                    const Tensors& w, const Tensor& lengths) const {
  if (const auto classic = options_.reset_after.selected()) return classic(layer, x, h, w, lengths);
  nn::GruResult r = nn::gru(x, h, w[0], w[1], w[2], {.sequence_length = lengths});
  return {std::move(r.output), std::move(r.state)};
}
TANDEM_INLINE detail::RnnSteps<Tensor> GRUCell::run_sequence(const char* layer, const Tensor& x, const Tensor& h,
                                                             const Tensor& lengths) const {
  return run_with_weights([&] { return weights_for(features_of(layer, x)); },
                          [&](const Tensors& w) { return run(layer, x, h, w, lengths); });
}

}  // namespace TANDEM_NS::layers
