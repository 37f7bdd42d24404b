// Ops on the channels of images: nn::bias_add, nn::crelu.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/data_format.hpp"

namespace TANDEM_NS::nn {

struct BiasAddOptions {
  TANDEM_OP_OPTIONS;
  DataFormat data_format = DataFormat::channels_last;
};
/// Adds a bias for each channel.
///   x         numbers, rank >= 2, channels on the last axis or on axis 1
///   bias      [channels], dtype of x
///   throws    errors::InvalidArgumentError if the bias does not have one number for each channel
///   gradient  to x: g; to the bias: the sum of g over the other axes
TANDEM_API Tensor bias_add(const Tensor& x, const Tensor& bias, BiasAddOptions = {});

struct CreluOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = -1;
};
/// Concatenated rectified linear units: relu(x) and relu(-x), one behind the other along an axis.
///   x         real numbers, rank >= 1
///   gradient  that of its parts
///   source    Shang et al. 2016, "Understanding and Improving Convolutional Neural Networks via Concatenated
///             Rectified Linear Units"
TANDEM_API Tensor crelu(const Tensor& x, CreluOptions = {});

}  // namespace TANDEM_NS::nn
