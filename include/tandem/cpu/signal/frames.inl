// Definitions of cpu/signal/frames.hpp.
#pragma once
#include <cstring>

#include "tandem/cpu/layout/strided_copy.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/signal/frames.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

inline i64 sizes_before(const Shape& s, int axis) {
  i64 n = 1;
  for (int d = 0; d < axis; ++d) n *= s.dim(d);
  return n;
}
inline i64 sizes_after(const Shape& s, int axis) {
  i64 n = 1;
  for (int d = axis + 1; d < s.rank(); ++d) n *= s.dim(d);
  return n;
}
template <class T>
void add_frames(const KernelCall& c, i64 outer, i64 inner, i64 frames, i64 length, i64 step) {
  const T* const x = c.in[0].as<const T>();
  T* const y = c.out[0].as<T>();
  const i64 total = c.out[0].size() ? c.out[0].size() / outer * (is_complex(c.out[0].spec->dtype) ? 2 : 1) : 0;
  parallel_for(outer, 32768 / (frames * length * inner + 1) + 1, [&](i64 begin, i64 end) {
    for (i64 o = begin; o < end; ++o)
      for (i64 f = 0; f < frames; ++f) {
        const T* const from = x + (o * frames + f) * length * inner;
        T* const to = y + o * total + f * step * inner;
        for (i64 i = 0; i < length * inner; ++i) to[i] += from[i];
      }
  });
}

}  // namespace detail

TANDEM_INLINE void pad_or_trim(const KernelCall& c, int axis) {
  const Shape &from = c.in[0].shape(), &to = c.out[0].shape();
  const i64 outer = detail::sizes_before(to, axis), inner = detail::sizes_after(to, axis);
  const i64 n = from.dim(axis), m = to.dim(axis);
  if (m > n) fill_zero(c);
  if (outer * inner * m * n == 0) return;
  StridedCopy nest;
  nest.add(outer, m * inner, n * inner);
  nest.add((n < m ? n : m) * inner, 1, 1);
  copy_strided(c, nest, c.out[0].data, c.in[0].data);
}
TANDEM_INLINE void frame(const KernelCall& c, int axis, i64 step) {
  const Shape &from = c.in[0].shape(), &to = c.out[0].shape();
  const i64 outer = detail::sizes_before(from, axis), inner = detail::sizes_after(from, axis), n = from.dim(axis);
  const i64 frames = to.dim(axis), length = to.dim(axis + 1);
  if (step > n) step = n + 1;                            // the second frame begins behind the signal
  i64 whole = n < length ? 0 : (n - length) / step + 1;  // frames that end inside of the signal
  if (whole > frames) whole = frames;
  if (whole < frames) fill_zero(c);
  if (c.out[0].size() == 0 || n == 0) return;
  const std::size_t width = size_of(c.out[0].spec->dtype);
  char* const y = c.out[0].as<char>();
  const char* const x = c.in[0].as<const char>();
  if (whole > 0) {
    StridedCopy nest;
    nest.add(outer, frames * length * inner, n * inner);
    nest.add(whole, length * inner, step * inner);
    nest.add(length * inner, 1, 1);
    copy_strided(c, nest, y, x);
  }
  for (i64 f = whole; f < frames && f * step < n; ++f) {
    StridedCopy nest;
    nest.add(outer, frames * length * inner, n * inner);
    nest.add((n - f * step < length ? n - f * step : length) * inner, 1, 1);
    copy_strided(c, nest, y + static_cast<std::size_t>(f * length * inner) * width,
                 x + static_cast<std::size_t>(f * step * inner) * width);
  }
}
TANDEM_INLINE void overlap_and_add(const KernelCall& c, int axis, i64 step) {
  const Shape &from = c.in[0].shape(), &to = c.out[0].shape();
  fill_zero(c);
  if (c.in[0].size() == 0) return;
  const i64 outer = detail::sizes_before(to, axis), inner = detail::sizes_after(to, axis);
  const i64 frames = from.dim(axis), length = from.dim(axis + 1);
  switch (c.out[0].spec->dtype) {
    case DType::float64: return detail::add_frames<double>(c, outer, inner, frames, length, step);
    case DType::complex64: return detail::add_frames<float>(c, outer, 2 * inner, frames, length, step);
    case DType::complex128: return detail::add_frames<double>(c, outer, 2 * inner, frames, length, step);
    default: return detail::add_frames<float>(c, outer, inner, frames, length, step);
  }
}

}  // namespace TANDEM_NS::cpu
