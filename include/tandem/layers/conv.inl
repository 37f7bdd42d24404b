// Definitions of layers/conv.hpp.
#pragma once
#include <algorithm>

#include "tandem/layers/conv.hpp"
#include "tandem/ops/conv/conv_transpose.hpp"
#include "tandem/ops/conv/fused_conv.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS::layers::detail {

TANDEM_INLINE Convolution::Convolution(const char* layer, const char* kind, int spatial, i64 filters,
                                       const WindowSizes& kernel_size, const ConvOptions& o)
    : ConvBase(layer, kind, spatial, kernel_size, o),
      filters_(positive(layer, "filters", filters)),
      groups_(positive(layer, "groups", o.groups)),
      kernel_initializer_(o.kernel_initializer),
      kernel_regularizer_(o.kernel_regularizer),
      kernel_constraint_(o.kernel_constraint) {
  if (filters % groups_)
    fail(std::to_string(filters) + " filters cannot be divided into " + std::to_string(groups_) + " groups");
}
TANDEM_INLINE Layer::Weights Convolution::weights_for(i64 channels) const {
  if (channels % groups_)
    fail(std::to_string(channels) + " channels cannot be divided into " + std::to_string(groups_) + " groups");
  return with_bias_weight({{"kernel", kernel_shape(channels / groups_, filters_), kernel_initializer_, dtype_,
                            kernel_regularizer_, kernel_constraint_}},
                          filters_);
}
TANDEM_INLINE Tensor Convolution::operator()(const Tensor& x) const {
  const FusedActivation inside =
      window_.data_format == DataFormat::channels_last ? activation_.fused() : FusedActivation::none;
  const auto convolved = [&](const Tensors& w) {
    const Tensor image = with_channels(x, w[0].shape().dim(-2) * groups_);
    if (inside == FusedActivation::none) return biased(fitting(x, nn::convolution(image, w[0], window_)), w);
    return fitting(
        x, tandem::detail::call_fused_conv(spatial_, image, w[0], use_bias_ ? w[1] : Tensor(), window_, inside));
  };
  const Tensor y = run_with_weights([&] { return weights_for(channels_of(x)); }, convolved);
  return inside == FusedActivation::none ? activated(y) : penalized(y, activity_regularizer_);
}

TANDEM_INLINE TransposedConvolution::TransposedConvolution(const char* layer, const char* kind, int spatial,
                                                           i64 filters, const WindowSizes& kernel_size,
                                                           const ConvTransposeOptions& o)
    : ConvBase(layer, kind, spatial, kernel_size, o),
      filters_(positive(layer, "filters", filters)),
      kernel_initializer_(o.kernel_initializer),
      kernel_regularizer_(o.kernel_regularizer),
      kernel_constraint_(o.kernel_constraint) {
  if (o.padding.kind() == PaddingKind::given) fail("padding must be Padding::valid or Padding::same");
  const int entries = o.output_padding.size();
  if (entries > 1 && entries != spatial)
    fail("output_padding has " + std::to_string(entries) + " entries for " + std::to_string(spatial) + " spatial axes");
  for (int i = 0; entries && i < spatial; ++i) {
    const i64 n = o.output_padding[entries == 1 ? 0 : i];
    if (n < 0 || n >= strides_.dim(i))
      fail("output_padding " + std::to_string(n) + " must be at least 0 and below the stride, " +
           std::to_string(strides_.dim(i)));
    output_padding_.push_back(n);
  }
}
TANDEM_INLINE Layer::Weights TransposedConvolution::weights_for(i64 channels) const {
  return with_bias_weight({{"kernel", kernel_shape(filters_, channels), kernel_initializer_, dtype_,
                            kernel_regularizer_, kernel_constraint_}},
                          filters_);
}
TANDEM_INLINE Dims TransposedConvolution::output_shape(const Tensor& x) const {
  const bool channels_first = window_.data_format == DataFormat::channels_first;
  const bool same = window_.padding.kind() == PaddingKind::same;
  const std::vector<DimValue> sizes = get_shape(x);
  Dims r{sizes[0]};
  if (channels_first) r.push_back(filters_);
  for (int i = 0; i < spatial_; ++i) {
    const i64 stride = strides_.dim(i), reach = (kernel_.dim(i) - 1) * dilations_.dim(i) + 1;
    i64 more = same ? 0 : std::max<i64>(reach - stride, 0);
    if (!output_padding_.empty())
      more = reach - stride - (same ? reach / 2 * 2 : 0) + output_padding_[static_cast<std::size_t>(i)];
    const DimValue& n = sizes[static_cast<std::size_t>(i + (channels_first ? 2 : 1))];
    r.push_back(n.is_known() ? Dim(n.number * stride + more) : Dim(n.tensor * stride + more));
  }
  if (!channels_first) r.push_back(filters_);
  return r;
}
TANDEM_INLINE Tensor TransposedConvolution::operator()(const Tensor& x) const {
  constexpr decltype(&nn::conv2d_transpose) ops[] = {&nn::conv1d_transpose, &nn::conv2d_transpose,
                                                     &nn::conv3d_transpose};
  return activated(run_with_weights([&] { return weights_for(channels_of(x)); },
                                    [&](const Tensors& w) {
                                      const Tensor image = with_channels(x, w[0].shape().dim(-1));
                                      return biased(ops[spatial_ - 1](image, w[0], output_shape(image),
                                                                      {.strides = window_.strides,
                                                                       .padding = window_.padding,
                                                                       .data_format = window_.data_format,
                                                                       .dilations = window_.dilations}),
                                                    w);
                                    }));
}

}  // namespace TANDEM_NS::layers::detail
