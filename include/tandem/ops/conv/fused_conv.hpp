// A convolution with what usually follows it, as one op: activation((conv(x, w) + bias) * scale + offset), applied
// while the results are in the cache. Layers and the pass fuse_epilogues make it; there is no public function.
#pragma once
#include "tandem/attrs/conv.hpp"
#include "tandem/ops/conv/conv.hpp"

namespace TANDEM_NS {

TANDEM_OPS(fused_conv_ops, fused_conv)

namespace detail {
/// activation(conv(x, w) + b) for images of so many spatial axes, channels last.
///   b         [o], or an unset tensor for no bias
///   throws    as conv2d, or errors::InvalidArgumentError if b has another shape or dtype
///   gradient  with gz = g * activation'(z): to x and w as conv2d for gz; to b: the sum of gz over all other axes
TANDEM_API Tensor call_fused_conv(int spatial, const Tensor& x, const Tensor& w, const Tensor& b,
                                  const nn::ConvOptions& o, FusedActivation activation);
}  // namespace detail

}  // namespace TANDEM_NS
