// Windows over the spatial axes of images, for the kernels of convolutions and pooling: which elements they read, and
// which windows read an element. Images are [batch, spatial..., channels], with three spatial axes.
#pragma once
#include "cuda/queue.hpp"
#include "tandem/attrs/conv.hpp"

namespace TANDEM_NS::cuda {

/// One pixel of a batch of images.
struct Pixel {
  i64 image, at[3];
};
/// Pixel number i of images with these sizes.
TANDEM_HD Pixel pixel_of(i64 i, i64 depth, i64 rows, i64 columns) {
  Pixel p{};
  p.at[2] = i % columns, i /= columns;
  p.at[1] = i % rows, i /= rows;
  p.at[0] = i % depth, p.image = i / depth;
  return p;
}
TANDEM_HD Pixel input_pixel(const WindowAxis* a, i64 i) { return pixel_of(i, a[0].in, a[1].in, a[2].in); }
TANDEM_HD Pixel result_pixel(const WindowAxis* a, i64 i) { return pixel_of(i, a[0].out, a[1].out, a[2].out); }

/// The position that element k of window t reads, or -1 outside of the image.
TANDEM_HD i64 position_of(const WindowAxis& a, i64 t, i64 k) {
  const i64 at = t * a.stride - a.before + k * a.dilation;
  return at < a.in ? at < 0 ? -1 : at : -1;
}
/// The window whose element k reads a position, or -1.
TANDEM_HD i64 window_at(const WindowAxis& a, i64 position, i64 k) {
  const i64 at = position + a.before - k * a.dilation;
  if (at < 0 || at % a.stride != 0) return -1;
  return at / a.stride < a.out ? at / a.stride : -1;
}
/// The number of elements of window t that are inside of the image.
TANDEM_HD i64 count_inside(const WindowAxis& a, i64 t) {
  i64 n = 0;
  for (i64 k = 0; k < a.window; ++k) n += position_of(a, t, k) >= 0;
  return n;
}

/// Calls f(pixel of the image, element of the window), flat numbers, for what result pixel `t` reads of its image.
template <class F>
__device__ void each_read(const WindowAxis* a, const Pixel& t, const F& f) {
  for (i64 i = 0; i < a[0].window; ++i) {
    const i64 z = position_of(a[0], t.at[0], i);
    if (z < 0) continue;
    for (i64 j = 0; j < a[1].window; ++j) {
      const i64 y = position_of(a[1], t.at[1], j);
      if (y < 0) continue;
      for (i64 k = 0; k < a[2].window; ++k)
        if (const i64 x = position_of(a[2], t.at[2], k); x >= 0)
          f((z * a[1].in + y) * a[2].in + x, (i * a[1].window + j) * a[2].window + k);
    }
  }
}
/// Calls f(result pixel of the image, element of the window) for the windows that read a pixel, in their order.
template <class F>
__device__ void each_reader(const WindowAxis* a, const Pixel& p, const F& f) {
  for (i64 i = a[0].window; i-- > 0;) {
    const i64 z = window_at(a[0], p.at[0], i);
    if (z < 0) continue;
    for (i64 j = a[1].window; j-- > 0;) {
      const i64 y = window_at(a[1], p.at[1], j);
      if (y < 0) continue;
      for (i64 k = a[2].window; k-- > 0;)
        if (const i64 x = window_at(a[2], p.at[2], k); x >= 0)
          f((z * a[1].out + y) * a[2].out + x, (i * a[1].window + j) * a[2].window + k);
    }
  }
}

}  // namespace TANDEM_NS::cuda
