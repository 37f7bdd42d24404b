// Definitions of layers/rnn_cells.hpp.
#pragma once
#include "tandem/layers/rnn_cells.hpp"
#include "tandem/layers/rnn_projected.hpp"
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
  return {
      {"kernel", {features, gates * units_}, o.kernel_initializer, o.dtype, o.kernel_regularizer, o.kernel_constraint},
      {"recurrent_kernel",
       {units_, gates * units_},
       o.recurrent_initializer,
       o.dtype,
       o.recurrent_regularizer,
       o.recurrent_constraint},
      {"bias", bias, o.bias_initializer, o.dtype, o.bias_regularizer, o.bias_constraint}};
}
TANDEM_INLINE Tensor GateCell::zeros_of(const Dim& batch) const {
  return zeros({batch, units_}, {.dtype = weights_.dtype});
}
TANDEM_INLINE Tensor GateCell::bias_or_zeros(const Tensors& w, bool has_bias, const Shape& bias) const {
  return has_bias ? w[2] : zeros(bias, {.dtype = weights_.dtype});
}
}  // namespace detail

TANDEM_INLINE SimpleRNNCell::SimpleRNNCell(i64 units, const SimpleRNNCellOptions& options)
    : GateCell("SimpleRNNCell", "simple_rnn_cell", units, options), options_(options) {}
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
                                                          const Tensors& w, const Tensor& lengths,
                                                          bool training) const {
  if (const auto* dropped = options_.recurrent_dropout.selected(training))
    return dropped->simple_rnn({layer, x, w, lengths, options_.dropout.rate(), options_.recurrent_dropout.rate()},
                               start, options_.use_bias, options_.activation);
  return detail::run_projected(layer, projected(options_.dropout(x, training), w), start, lengths,
                               [&](const Tensor& z, const Tensor& h) { return step(z, h, w); });
}
TANDEM_INLINE detail::RnnSteps<Tensor> SimpleRNNCell::run_sequence(const char* layer, const Tensor& x, const Tensor& h,
                                                                   const Tensor& lengths) const {
  return run_with_weights([&] { return weights_for(features_of(layer, x)); },
                          [&](const Tensors& w) { return run(layer, x, h, w, lengths, is_training()); });
}

namespace detail {
TANDEM_INLINE Tensor bias_of_ones_for_forget(const Tensor& bias) {
  const std::vector<Tensor> b = split(bias, 4, {.axis = 0});
  return concat({b[0], b[1] + ones(b[1].shape(), {.dtype = bias.dtype()}), b[2], b[3]}, 0);
}
}  // namespace detail

TANDEM_INLINE LSTMCell::LSTMCell(i64 units, const LSTMCellOptions& options)
    : GateCell("LSTMCell", "lstm_cell", units, options), options_(options) {}
TANDEM_INLINE Layer::Weights LSTMCell::weights_for(i64 features) const {
  Weights w = weights_of(features, 4, {4 * units_});
  if (!options_.use_bias) w.pop_back();
  else if (options_.unit_forget_bias) w[2].adjusted = &detail::bias_of_ones_for_forget;
  if (!options_.use_peepholes) return w;
  for (const char* name :
       {"input_gate_peephole_weights", "forget_gate_peephole_weights", "output_gate_peephole_weights"})
    w.push_back({name,
                 {units_},
                 weights_.kernel_initializer,
                 weights_.dtype,
                 weights_.kernel_regularizer,
                 weights_.kernel_constraint});
  return w;
}
TANDEM_INLINE nn::LstmState LSTMCell::zero_state(const Dim& batch) const {
  const Tensor z = zeros_of(batch);
  return {z, z};
}
TANDEM_INLINE const detail::UnfusedLstm* LSTMCell::unfused() const {
  for (const auto* code :
       {options_.use_peepholes.selected(), options_.activation.selected(), options_.recurrent_activation.selected()})
    if (code) return code;
  return nullptr;
}
TANDEM_INLINE nn::LstmState LSTMCell::operator()(const Tensor& x, const nn::LstmState& state) const {
  return run_with_weights([&] { return weights_for(features_of("LSTMCell", x)); },
                          [&](const Tensors& w) {
                            if (const auto* code = unfused()) return code->step(x, state, w, options_);
                            return nn::lstm_cell(x, state, w[0], w[1],
                                                 bias_or_zeros(w, options_.use_bias, {4 * units_}));
                          });
}
TANDEM_INLINE detail::RnnSteps<nn::LstmState> LSTMCell::run(const char* layer, const Tensor& x,
                                                            const nn::LstmState& state, const Tensors& w,
                                                            const Tensor& lengths, bool training) const {
  if (const auto* dropped = options_.recurrent_dropout.selected(training))
    return dropped->lstm({layer, x, w, lengths, options_.dropout.rate(), options_.recurrent_dropout.rate()}, state,
                         options_);
  const Tensor in = options_.dropout(x, training);
  if (const auto* code = unfused()) return code->run(layer, in, state, w, lengths, options_);
  const Tensor bias = bias_or_zeros(w, options_.use_bias, {4 * units_});
  nn::LstmResult r = nn::lstm(in, state, w[0], w[1], bias, {.sequence_length = lengths});
  return {std::move(r.output), std::move(r.state)};
}
TANDEM_INLINE detail::RnnSteps<nn::LstmState> LSTMCell::run_sequence(const char* layer, const Tensor& x,
                                                                     const nn::LstmState& state,
                                                                     const Tensor& lengths) const {
  return run_with_weights([&] { return weights_for(features_of(layer, x)); },
                          [&](const Tensors& w) { return run(layer, x, state, w, lengths, is_training()); });
}

TANDEM_INLINE GRUCell::GRUCell(i64 units, const GRUCellOptions& options)
    : GateCell("GRUCell", "gru_cell", units, options), options_(options) {}
TANDEM_INLINE Layer::Weights GRUCell::weights_for(i64 features) const {
  Weights w = weights_of(features, 3, bias_shape());
  if (!options_.use_bias) w.pop_back();
  return w;
}
TANDEM_INLINE Shape GRUCell::bias_shape() const {
  return options_.reset_after ? Shape{2, 3 * units_} : Shape{3 * units_};
}
TANDEM_INLINE const detail::UnfusedGru* GRUCell::unfused() const {
  for (const auto* code :
       {options_.reset_after.selected(), options_.activation.selected(), options_.recurrent_activation.selected()})
    if (code) return code;
  return nullptr;
}
TANDEM_INLINE Tensor GRUCell::operator()(const Tensor& x, const Tensor& h) const {
  return run_with_weights([&] { return weights_for(features_of("GRUCell", x)); },
                          [&](const Tensors& w) {
                            if (const auto* code = unfused()) return code->step(x, h, w, options_);
                            return nn::gru_cell(x, h, w[0], w[1], bias_or_zeros(w, options_.use_bias, bias_shape()));
                          });
}
TANDEM_INLINE detail::RnnSteps<Tensor> GRUCell::run(const char* layer, const Tensor& x, const Tensor& h,
                                                    const Tensors& w, const Tensor& lengths, bool training) const {
  if (const auto* dropped = options_.recurrent_dropout.selected(training))
    return dropped->gru({layer, x, w, lengths, options_.dropout.rate(), options_.recurrent_dropout.rate()}, h,
                        options_);
  const Tensor in = options_.dropout(x, training);
  if (const auto* code = unfused()) return code->run(layer, in, h, w, lengths, options_);
  const Tensor bias = bias_or_zeros(w, options_.use_bias, bias_shape());
  nn::GruResult r = nn::gru(in, h, w[0], w[1], bias, {.sequence_length = lengths});
  return {std::move(r.output), std::move(r.state)};
}
TANDEM_INLINE detail::RnnSteps<Tensor> GRUCell::run_sequence(const char* layer, const Tensor& x, const Tensor& h,
                                                             const Tensor& lengths) const {
  return run_with_weights([&] { return weights_for(features_of(layer, x)); },
                          [&](const Tensors& w) { return run(layer, x, h, w, lengths, is_training()); });
}

}  // namespace TANDEM_NS::layers
