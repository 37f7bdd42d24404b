// ConvLSTM1D, ConvLSTM2D and ConvLSTM3D: LSTMs whose products are convolutions. Not here: LSTM (rnn_stack.hpp).
#pragma once
#include <optional>
#include <vector>

#include "tandem/layers/conv_base.hpp"
#include "tandem/layers/rnn_call.hpp"
#include "tandem/layers/rnn_states.hpp"
#include "tandem/ops/rnn/lstm.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::layers {

struct ConvLSTMOptions {
  WindowSizes strides = {};  ///< of the inputs' convolution; default: 1
  Padding padding = Padding::valid;
  DataFormat data_format = DataFormat::channels_last;
  WindowSizes dilation_rate = {};  ///< of the inputs' convolution; default: 1
  tandem::Activation activation = tandem::Activation::tanh;
  tandem::Activation recurrent_activation = tandem::Activation::sigmoid;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer recurrent_initializer = initializers::Orthogonal();
  Initializer bias_initializer = initializers::Zeros();
  bool unit_forget_bias = true;  ///< adds 1 to the forget gate's initial bias
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};  ///< of the layer's output, divided by the batch size
  Constraint kernel_constraint = {};
  Constraint recurrent_constraint = {};
  Constraint bias_constraint = {};
  RnnDropout dropout = {};        ///< of the inputs, the same elements of a row at each step, in training
  double recurrent_dropout = 0;   ///< of the state, likewise, with a mask of its own for each gate; in [0, 1)
  bool return_sequences = false;  ///< return the output of every step, not only the last one of each row
  bool time_major = false;        ///< inputs and sequences [time, batch, ...]
  GoBackwards go_backwards = {};  ///< run from the last step to the first (RnnLayerOptions)
  /// Begin each call where the last one ended, row by row, for batches of one size: the states are Variables, which
  /// are not trained. reset_states() sets them back.
  bool stateful = false;
  DType dtype = DType::float32;
};

namespace detail {
/// A convolutional LSTM of any number of spatial axes.
class TANDEM_API ConvolutionalLstm : public ConvBase {
 public:
  using State = nn::LstmState;
  using Call = RnnCall<std::optional<State>>;
  RnnOutput<State> operator()(const Tensor& x, const Call& call = {}) const;
  /// For Sequential: with .return_sequences, the result has the mask of x.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const;
  /// With .stateful: sets the states to zeros.
  ///   throws  errors::FailedPreconditionError without .stateful
  void reset_states() const;

 protected:
  ConvolutionalLstm(const char* layer, const char* kind, int spatial, i64 filters, const WindowSizes& kernel_size,
                    const ConvLSTMOptions& options);

 private:
  void check_rank(const Tensor& x) const;
  Weights weights_for(const Tensor& x) const;
  RnnOutput<State> run(const Tensor& x, const Call& call, const Tensors& weights) const;
  Tensor projected(const Tensor& steps, const Tensors& weights) const;
  State start_of(const Tensor& projected, const Call& call) const;
  std::vector<Tensor> recurrent_sums(const Tensor& h, const Tensor& kernel, const std::vector<Tensor>& masks) const;
  int channel_axis() const { return window_.data_format == DataFormat::channels_first ? 1 : spatial_ + 1; }
  i64 filters_;
  ConvLSTMOptions options_;
  LeanVector<RnnStates> states_;  // one with .stateful, otherwise none
};
}  // namespace detail

/// An LSTM over a sequence of images, whose products are convolutions: with the sums z of conv2d(x, kernel) + bias and
/// conv2d(h, recurrent_kernel), the latter with Padding::same, i = sigmoid(z_i), f = sigmoid(z_f), o = sigmoid(z_o),
/// c' = f c + i tanh(z_g), h' = o tanh(c'). Gate order i, f, g, o, as in Keras.
///   x         [batch, time, h, w, c], or [batch, time, c, h, w] with DataFormat::nchw; c is fixed by the first
///             successful call; the sizes of batch and time may be unknown
///   returns   the last output [batch, oh, ow, filters], or with .return_sequences [batch, time, oh, ow, filters];
///             sizes as nn::conv2d. The state: h and c, [batch, oh, ow, filters]
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank, dtype or number of channels, an
///             option with the wrong number of entries, a window that does not fit (as Conv2D), an initial state that
///             does not match, or a length outside of [0, time]
///   gradient  to all floating inputs and weights, through all steps
///   variables kernel [kh, kw, c, 4 filters], recurrent_kernel [kh, kw, filters, 4 filters], bias [4 filters]
///   source    Shi et al. 2015, "Convolutional LSTM Network: A Machine Learning Approach for Precipitation Nowcasting",
///             without its peepholes, as in Keras
class ConvLSTM2D : public detail::ConvolutionalLstm {
 public:
  ConvLSTM2D(i64 filters, WindowSizes kernel_size, const ConvLSTMOptions& options = {})
      : ConvolutionalLstm("ConvLSTM2D", "conv_lstm2d", 2, filters, kernel_size, options) {}
};
/// An LSTM over a sequence of sequences: x [batch, time, length, c], kernel [k, c, 4 filters]. Otherwise as ConvLSTM2D.
class ConvLSTM1D : public detail::ConvolutionalLstm {
 public:
  ConvLSTM1D(i64 filters, WindowSizes kernel_size, const ConvLSTMOptions& options = {})
      : ConvolutionalLstm("ConvLSTM1D", "conv_lstm1d", 1, filters, kernel_size, options) {}
};
/// An LSTM over a sequence of volumes: x [batch, time, d, h, w, c], kernel [kd, kh, kw, c, 4 filters]. Otherwise as
/// ConvLSTM2D.
class ConvLSTM3D : public detail::ConvolutionalLstm {
 public:
  ConvLSTM3D(i64 filters, WindowSizes kernel_size, const ConvLSTMOptions& options = {})
      : ConvolutionalLstm("ConvLSTM3D", "conv_lstm3d", 3, filters, kernel_size, options) {}
};

}  // namespace TANDEM_NS::layers
