// Weights of PyTorch and Keras: conversions for RestoreOptions.
#pragma once
#include "tandem/train/restore.hpp"

namespace TANDEM_NS::train {

/// Weights that PyTorch saved with safetensors.torch.save_file(model.state_dict(), path). Modules have the same names
/// in both, where PyTorch has '.' and paths here '/':
///
///   net(zeros({1, 28, 28, 1}));  // makes the Variables
///   train::load_weights(net, "net.safetensors", {.convert = train::from_pytorch});
///
/// | layer | of | is |
/// |---|---|---|
/// | Dense | Linear | weight [out, in], transposed |
/// | Conv1D/2D/3D, also with groups | Conv1d/2d/3d | weight [out, in, h, w] as kernel [h, w, in, out] |
/// | Conv1D/2D/3DTranspose | ConvTranspose1d/2d/3d | weight [in, out, h, w] as kernel [h, w, out, in] |
/// | DepthwiseConv1D/2D | Conv1d/2d with groups = in | weight [in * m, 1, h, w] as kernel [h, w, in, m] |
/// | BatchNormalization | BatchNorm1d/2d/3d | weight, bias, running_mean, running_var |
/// | LayerNormalization, GroupNormalization, RMSNormalization | LayerNorm, GroupNorm, RMSNorm | weight, bias |
/// | Embedding | Embedding | weight |
/// | LSTM, LSTMCell | LSTM, LSTMCell | gates i, f, g, o in both; the sum of both biases |
/// | GRU, GRUCell | GRU, GRUCell | gates r, z, n as z, r, n |
/// | SimpleRNN, SimpleRNNCell | RNN, RNNCell | the sum of both biases |
/// | Bidirectional | a bidirectional LSTM, GRU or RNN of one layer | |
/// | MultiHeadAttention | MultiheadAttention | in_proj as three kernels; heads as they are |
///
/// Not converted: the order of features after a Flatten of images, where the channels come last here; the projections
/// of an LSTM (proj_size); spectral and weight normalization. PyTorch's epsilon is 1e-5: layers here have to be told
/// so.
TANDEM_API void from_pytorch(TensorMap& values, const std::vector<WantedTensor>& wanted);

/// Weights of Keras 2 or 3 under the paths of their variables:
///
///   safetensors.numpy.save_file({v.path: v.numpy() for v in model.variables}, path)
///
/// Kernels, gates and statistics are laid out alike. The cells of LSTM, GRU and SimpleRNN have other names here, and
/// MultiHeadAttention has heads and features in one axis. The name of the model is removed by `.map`:
/// {{"sequential/", ""}}.
TANDEM_API void from_keras(TensorMap& values, const std::vector<WantedTensor>& wanted);

}  // namespace TANDEM_NS::train
