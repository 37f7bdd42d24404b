// Definitions of layers/conv_base.hpp.
#pragma once
#include "tandem/layers/conv_base.hpp"
#include "tandem/layers/image.hpp"
#include "tandem/ops/conv/channels.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS::layers::detail {

TANDEM_INLINE ConvBase::ConvBase(const char* layer, const char* kind, int spatial, const WindowSizes& kernel_size,
                                 nn::ConvOptions window, DType dtype)
    : Layer(kind), layer_(layer), spatial_(spatial), window_(window), dtype_(dtype) {
  if (kernel_size.size() == 0) fail("kernel_size is empty");
  if (window.padding.is_causal() && spatial != 1) fail("Padding::causal is for Conv1D");
  const auto sizes = [&](const char* what, const WindowSizes& s) {
    return tandem::detail::spatial_sizes(layer, what, s, spatial, window.data_format);
  };
  kernel_ = sizes("kernel_size", kernel_size);
  strides_ = sizes("strides", window.strides);
  dilations_ = sizes("dilation_rate", window.dilations);
  if (rules::ConvAttrs checked; !window.padding.is_causal())
    tandem::detail::set_padding(layer, window.padding, spatial, window.data_format, checked);
}
TANDEM_INLINE void ConvBase::fail(const std::string& what) const {
  errors::raise<errors::InvalidArgumentError>(layer_, what);
}
TANDEM_INLINE i64 ConvBase::channels_of(const Tensor& x) const {
  check_image(layer_, x, spatial_);
  const i64 n = x.shape().dim(window_.data_format == DataFormat::channels_first ? 1 : -1);
  if (n == none) fail("the number of channels must be known at the first call: " + to_string(x.spec()));
  return n;
}
TANDEM_INLINE Tensor ConvBase::with_channels(const Tensor& x, i64 channels) const {
  check_image(layer_, x, spatial_);
  if (x.dtype() != dtype_) raise_input_dtype(layer_, x, dtype_);
  const int axis = window_.data_format == DataFormat::channels_first ? 1 : spatial_ + 1;
  const i64 n = x.shape().dim(axis);
  if (n == channels) return x;
  if (n != none)
    fail("the layer was built for " + std::to_string(channels) + " channels, the input is " + to_string(x.spec()));
  Shape known;
  for (int i = 0; i < x.rank(); ++i) known.push_back(i == axis ? channels : x.shape().dim(i));
  return ensure_shape(x, known);
}
TANDEM_INLINE Tensor ConvBase::fitting(const Tensor& x, const Tensor& y) const {
  if (window_.padding.kind() == PaddingKind::same) return y;
  for (int i = 0; i < spatial_; ++i) {
    const int axis = i + (window_.data_format == DataFormat::channels_first ? 2 : 1);
    if (y.shape().dim(axis) == 0)
      fail("a window of " + std::to_string(kernel_.dim(i)) + " with dilation " + std::to_string(dilations_.dim(i)) +
           " does not fit into size " + std::to_string(x.shape().dim(axis)) + " of spatial axis " + std::to_string(i) +
           ": " + to_string(x.spec()) + " (use Padding::same, or a smaller kernel)");
  }
  return y;
}
TANDEM_INLINE Shape ConvBase::kernel_shape(i64 a, i64 b) const {
  Shape s = kernel_;
  s.push_back(a);
  s.push_back(b);
  return s;
}
TANDEM_INLINE Layer::Weights ConvBase::with_bias_weight(Weights weights, i64 filters) const {
  if (use_bias_) weights.push_back({"bias", {filters}, bias_initializer_, dtype_, bias_regularizer_, bias_constraint_});
  return weights;
}
TANDEM_INLINE Tensor ConvBase::biased(const Tensor& y, const Tensors& weights) const {
  return use_bias_ ? nn::bias_add(y, weights[weights.size() - 1], {.data_format = window_.data_format}) : y;
}

}  // namespace TANDEM_NS::layers::detail
