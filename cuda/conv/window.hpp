// Windows over the spatial axes of images, for the kernels of convolutions and pooling: which elements they read, and
// which windows read an element. Images are [batch, spatial..., channels], with three spatial axes. An axis is a
// WindowAxis or a NarrowAxis, whose type of numbers the functions compute in.
#pragma once
#include <cstdint>
#include <type_traits>

#include "cuda/queue.hpp"
#include "tandem/attrs/conv.hpp"

namespace TANDEM_NS::cuda {

/// A WindowAxis whose numbers fit 32 bits, as those of kernels with indices of 32 bits do: division takes a fifth of
/// the time.
struct NarrowAxis {
  std::int32_t in = 1, out = 1, window = 1, stride = 1, dilation = 1, before = 0;

  NarrowAxis() = default;
  explicit NarrowAxis(const WindowAxis& a)
      : in(static_cast<std::int32_t>(a.in)),
        out(static_cast<std::int32_t>(a.out)),
        window(static_cast<std::int32_t>(a.window)),
        stride(static_cast<std::int32_t>(a.stride)),
        dilation(static_cast<std::int32_t>(a.dilation)),
        before(static_cast<std::int32_t>(a.before)) {}
};
/// No number that the functions below compute of the axis is larger.
inline i64 largest_number(const WindowAxis& a) { return a.in + a.before + a.out * a.stride + a.window * a.dilation; }
template <class Axis>
using AxisNumber = decltype(Axis::in);

/// One pixel of a batch of images.
template <class N>
struct Pixel {
  N image, at[3];
};
/// Pixel number i of images with these sizes.
template <class N>
TANDEM_HD Pixel<N> pixel_of(N i, N depth, N rows, N columns) {
  Pixel<N> p{};
  p.at[2] = i % columns, i /= columns;
  p.at[1] = i % rows, i /= rows;
  p.at[0] = i % depth, p.image = i / depth;
  return p;
}
template <class Axis>
TANDEM_HD auto input_pixel(const Axis* a, AxisNumber<Axis> i) {
  return pixel_of(i, a[0].in, a[1].in, a[2].in);
}
template <class Axis>
TANDEM_HD auto result_pixel(const Axis* a, AxisNumber<Axis> i) {
  return pixel_of(i, a[0].out, a[1].out, a[2].out);
}

/// The position that element k of window t reads, or -1 outside of the image.
template <class Axis, class N = AxisNumber<Axis>>
TANDEM_HD N position_of(const Axis& a, std::type_identity_t<N> t, std::type_identity_t<N> k) {
  const N at = t * a.stride - a.before + k * a.dilation;
  return at < a.in ? at < 0 ? -1 : at : -1;
}
/// The window whose element k reads a position, or -1.
template <class Axis, class N = AxisNumber<Axis>>
TANDEM_HD N window_at(const Axis& a, std::type_identity_t<N> position, std::type_identity_t<N> k) {
  const N at = position + a.before - k * a.dilation;
  if (at < 0 || at % a.stride != 0) return -1;
  return at / a.stride < a.out ? at / a.stride : -1;
}
/// The number of elements of window t that are inside of the image.
template <class Axis, class N = AxisNumber<Axis>>
TANDEM_HD N count_inside(const Axis& a, std::type_identity_t<N> t) {
  N n = 0;
  for (N k = 0; k < a.window; ++k) n += position_of(a, t, k) >= 0;
  return n;
}

/// Calls f(pixel of the image, element of the window), flat numbers, for what result pixel `t` reads of its image.
template <class Axis, class F, class N = AxisNumber<Axis>>
__device__ void each_read(const Axis* a, const Pixel<N>& t, const F& f) {
  for (N i = 0; i < a[0].window; ++i) {
    const N z = position_of(a[0], t.at[0], i);
    if (z < 0) continue;
    for (N j = 0; j < a[1].window; ++j) {
      const N y = position_of(a[1], t.at[1], j);
      if (y < 0) continue;
      for (N k = 0; k < a[2].window; ++k)
        if (const N x = position_of(a[2], t.at[2], k); x >= 0)
          f((z * a[1].in + y) * a[2].in + x, (i * a[1].window + j) * a[2].window + k);
    }
  }
}
/// Calls f(result pixel of the image, element of the window) for the windows that read a pixel, in their order.
template <class Axis, class F, class N = AxisNumber<Axis>>
__device__ void each_reader(const Axis* a, const Pixel<N>& p, const F& f) {
  for (N i = a[0].window; i-- > 0;) {
    const N z = window_at(a[0], p.at[0], i);
    if (z < 0) continue;
    for (N j = a[1].window; j-- > 0;) {
      const N y = window_at(a[1], p.at[1], j);
      if (y < 0) continue;
      for (N k = a[2].window; k-- > 0;)
        if (const N x = window_at(a[2], p.at[2], k); x >= 0)
          f((z * a[1].out + y) * a[2].out + x, (i * a[1].window + j) * a[2].window + k);
    }
  }
}

}  // namespace TANDEM_NS::cuda
