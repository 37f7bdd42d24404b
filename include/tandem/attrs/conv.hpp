// The attributes of ops that move a window over the spatial axes of an image (convolutions, pooling), and the sizes
// that follow from them. Shared by the ops and their kernels; images are [batch, spatial..., channels].
#pragma once
#include "tandem/attrs/attrs.hpp"
#include "tandem/attrs/fused_activation.hpp"

namespace TANDEM_NS {

enum class PaddingKind : std::uint8_t { valid, same, given };
template <>
inline constexpr int enumerators<PaddingKind> = 3;

namespace rules {

/// The window's movement, one entry for each spatial axis.
struct WindowAttrs {
  Shape strides, dilations;
  Shape pads;  // given: before and after the first axis, before and after the second, ...
  PaddingKind padding;
};
struct ConvAttrs : WindowAttrs {
  Shape output;  // a transposed convolution's result; empty if an input has that shape
  TANDEM_ATTRS(ConvAttrs, strides, dilations, pads, padding, output);
};
struct FusedConvAttrs : ConvAttrs {
  FusedActivation activation;
  TANDEM_ATTRS(FusedConvAttrs, strides, dilations, pads, padding, activation);
};
struct PoolAttrs : WindowAttrs {
  Shape ksize;
  bool include_batch = false;  // max_pool_argmax: indices count from the first image, not from the pixel's own
  TANDEM_ATTRS(PoolAttrs, strides, dilations, pads, padding, ksize, include_batch);
};

}  // namespace rules

/// One spatial axis: result t reads the input at t * stride - before + k * dilation for k < window, where that is in
/// [0, in).
struct WindowAxis {
  i64 in = 1, out = 1, window = 1, stride = 1, dilation = 1, before = 0;
};

/// Spatial axis `i` of an input of size `in`, under a window of size `window`. `out` is negative if the window does
/// not fit. It is 0 if the window is larger than the input by less than two strides: TensorFlow's rounding.
inline WindowAxis window_axis(const rules::WindowAttrs& a, int i, i64 in, i64 window) {
  WindowAxis w{in, 0, window, a.strides.dim(i), a.dilations.dim(i), 0};
  const i64 reach = (window - 1) * w.dilation;
  if (a.padding == PaddingKind::same) {
    w.out = (in + w.stride - 1) / w.stride;
    const i64 total = (w.out - 1) * w.stride + reach + 1 - in;
    w.before = total > 0 && in > 0 ? total / 2 : 0;
    return w;
  }
  i64 room = in - reach;
  if (a.padding == PaddingKind::given) {
    w.before = a.pads.dim(2 * i);
    room += w.before + a.pads.dim(2 * i + 1);
  }
  w.out = (room + w.stride - 1) / w.stride;  // rounded towards 0
  return w;
}

/// The spatial axes of an image of shape x under a window of these sizes, as three axes: missing ones come first and
/// have size 1.
struct WindowAxes {
  WindowAxis axis[3];

  WindowAxes(const rules::WindowAttrs& a, const Shape& x, const i64* window) {
    const int spatial = a.strides.rank();
    for (int i = 0; i < spatial; ++i) axis[3 - spatial + i] = window_axis(a, i, x.dim(1 + i), window[i]);
  }
};

}  // namespace TANDEM_NS
