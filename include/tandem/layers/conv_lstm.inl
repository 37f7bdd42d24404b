// Definitions of layers/conv_lstm.hpp.
#pragma once
#include <string>

#include "tandem/layers/conv_lstm.hpp"
#include "tandem/layers/rnn_cells.hpp"
#include "tandem/layers/rnn_projected.hpp"
#include "tandem/layers/time_distributed.hpp"
#include "tandem/ops/conv/conv.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS::layers::detail {

TANDEM_INLINE ConvolutionalLstm::ConvolutionalLstm(const char* layer, const char* kind, int spatial, i64 filters,
                                                   const WindowSizes& kernel_size, const ConvLSTMOptions& o)
    : ConvBase(layer, kind, spatial, kernel_size, o), filters_(positive(layer, "filters", filters)), options_(o) {
  checked_rate(layer, o.dropout.rate());
  checked_rate(layer, o.recurrent_dropout);
  if (o.stateful) add_module("states", states_.emplace_back());
}
TANDEM_INLINE void ConvolutionalLstm::check_rank(const Tensor& x) const {
  if (x.rank() != spatial_ + 3)
    fail("needs an input of rank " + std::to_string(spatial_ + 3) + ", [batch, time, ...], not " + to_string(x.spec()));
}
TANDEM_INLINE Layer::Weights ConvolutionalLstm::weights_for(const Tensor& x) const {
  check_rank(x);
  const i64 channels = x.shape().dim(channel_axis() + 1);
  if (channels == none) fail("the number of channels must be known at the first call: " + to_string(x.spec()));
  const ConvLSTMOptions& o = options_;
  Weights w = with_bias_weight({{"kernel", kernel_shape(channels, 4 * filters_), o.kernel_initializer, dtype_,
                                 o.kernel_regularizer, o.kernel_constraint},
                                {"recurrent_kernel", kernel_shape(filters_, 4 * filters_), o.recurrent_initializer,
                                 dtype_, o.recurrent_regularizer, o.recurrent_constraint}},
                               4 * filters_);
  if (use_bias_ && o.unit_forget_bias) w.back().adjusted = &bias_of_ones_for_forget;
  return w;
}
// The inputs' part of the gates' sums, for all steps at once.
TANDEM_INLINE Tensor ConvolutionalLstm::projected(const Tensor& steps, const Tensors& w) const {
  const Tensor images = with_channels(merge_steps(steps), w[0].shape().dim(-2));
  return split_steps(biased(fitting(images, nn::convolution(images, w[0], window_)), w), steps);
}
TANDEM_INLINE nn::LstmState ConvolutionalLstm::start_of(const Tensor& projected, const Call& call) const {
  const std::vector<DimValue> sizes = get_shape(projected);
  Dims dims;
  Shape shape;
  for (int i = 1; i < projected.rank(); ++i) {
    const bool is_channels = i == channel_axis() + 1;
    dims.push_back(is_channels ? Dim(filters_) : Dim(sizes[static_cast<std::size_t>(i)]));
    shape.push_back(is_channels ? filters_ : projected.shape().dim(i));
  }
  const auto zero = [&] { return zeros(dims, {.dtype = dtype_}); };
  if (call.initial_state) {
    for (const Tensor& t : {call.initial_state->h, call.initial_state->c})
      if (t.dtype() != dtype_ || !t.shape().is_compatible_with(shape))
        fail("the initial state must be two tensors of " + to_string(Spec{shape, dtype_, {}}) + ", not " +
             to_string(t.spec()));
    return *call.initial_state;
  }
  if (!options_.stateful || !is_built()) return {zero(), zero()};
  const std::vector<Tensor> kept = states_[0].begin(layer_, sizes[1], [&](i64) {
    if (!shape.is_fully_defined()) fail("with .stateful all sizes of the states must be known at the first call");
    return std::vector<Tensor>{zero(), zero()};
  });
  if (!kept[0].shape().is_compatible_with(shape))
    fail("the states of this layer (.stateful) are " + to_string(kept[0].spec()) + ", but this input needs " +
         to_string(Spec{shape, dtype_, {}}) + ": inputs of other sizes need a layer of their own");
  return {kept[0], kept[1]};
}
// The state's part of the gates' sums.
TANDEM_INLINE std::vector<Tensor> ConvolutionalLstm::recurrent_sums(const Tensor& h, const Tensor& kernel,
                                                                    const std::vector<Tensor>& masks) const {
  const nn::ConvOptions window{
      .strides = {}, .padding = Padding::same, .data_format = window_.data_format, .dilations = {}};
  if (masks.empty()) return split(nn::convolution(h, kernel, window), 4, {.axis = channel_axis()});
  std::vector<Tensor> sums = split(kernel, 4, {.axis = -1});
  for (std::size_t i = 0; i < 4; ++i) sums[i] = nn::convolution(h * masks[i], sums[i], window);
  return sums;
}
TANDEM_INLINE RnnOutput<nn::LstmState> ConvolutionalLstm::run(const Tensor& x, const Call& call,
                                                              const Tensors& w) const {
  check_rank(x);
  const ConvLSTMOptions& o = options_;
  const RnnOrder order{o.time_major, o.go_backwards};
  const bool training = call.is_training(o.dropout.rate() != 0 || o.recurrent_dropout != 0);
  const Sequence s = order.begin(layer_, x, call.mask, call.sequence_length);
  const Tensor z = projected(o.dropout(s.x, training), w);
  const State start = start_of(z, call);
  std::vector<Tensor> masks;
  for (int i = 0; i < 4 && training && o.recurrent_dropout != 0; ++i)
    masks.push_back(nn::dropout(ones_like(start.h), {.rate = o.recurrent_dropout}));
  const auto step = [&](const Tensor& of_x, const State& state) {
    const tandem::detail::ShapeChecks lenient(false);
    std::vector<Tensor> sums = split(of_x, 4, {.axis = channel_axis()});
    const std::vector<Tensor> of_h = recurrent_sums(state.h, w[1], masks);
    for (std::size_t i = 0; i < 4; ++i) sums[i] = sums[i] + of_h[i];
    const auto& gate = o.recurrent_activation;
    const Tensor c = gate(sums[1]) * state.c + gate(sums[0]) * o.activation(sums[2]);
    return State{gate(sums[3]) * o.activation(c), c};
  };
  RnnSteps<State> all = run_projected(layer_, z, start, s.lengths, step);
  RnnOutput<State> r{{}, std::move(all.state)};
  r.output = o.return_sequences ? order.end(all.output, s) : r.state.h;
  return r;
}
TANDEM_INLINE RnnOutput<nn::LstmState> ConvolutionalLstm::operator()(const Tensor& x, const Call& call) const {
  RnnOutput<State> r =
      run_with_weights([&] { return weights_for(x); }, [&](const Tensors& w) { return run(x, call, w); });
  if (options_.stateful) states_[0].end({r.state.h, r.state.c});
  penalized(r.output, activity_regularizer_);
  return r;
}
TANDEM_INLINE Tensor ConvolutionalLstm::call_with_mask(const Tensor& x, SequenceMask& mask) const {
  Tensor y = (*this)(x, {.mask = mask}).output;
  if (!options_.return_sequences) mask = {};
  else if (options_.go_backwards) mask = mask.reversed(options_.time_major);
  return y;
}
TANDEM_INLINE void ConvolutionalLstm::reset_states() const {
  check_stateful(layer_, options_.stateful);
  states_[0].reset([&](i64) {
    std::vector<Tensor> zero;
    for (const Variable& v : states_[0].variables()) zero.push_back(zeros_like(v));
    return zero;
  });
}

}  // namespace TANDEM_NS::layers::detail
