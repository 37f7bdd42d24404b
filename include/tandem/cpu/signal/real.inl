// Transforms of real numbers, and cosine transforms, by complex ones of half the length.
#pragma once
#include "tandem/core/allocator.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/signal/fft.hpp"
#include "tandem/cpu/signal/rows.hpp"

namespace TANDEM_NS::cpu::fourier {

namespace detail {

// Calls body(first row, rows, scratch of `room` numbers a row) for groups of rows. A single row stays on this thread,
// so that its transform may use all of them.
template <class T, class F>
void row_groups(i64 rows, i64 n, i64 room, const F& body) {
  constexpr i64 group = 16;
  const i64 groups = (rows + group - 1) / group, numbers = group * (n + 1);
  const auto some = [&](i64 begin, i64 end) {
    const memory::Scratch scratch(static_cast<std::size_t>((rows < group ? rows : group) * room) * sizeof(T));
    for (i64 g = begin; g < end; ++g)
      body(g * group, rows - g * group < group ? rows - g * group : group, static_cast<T*>(scratch.data()));
  };
  if (groups == 1) some(0, 1);
  else parallel_for(groups, 16384 / numbers + 1, some);
}
// An odd length: the first half of the complex transform.
template <class T>
void real_odd(const T* x, i64 xs, T* y, i64 ys, i64 rows, i64 n, bool doubled, double scale, T* room) {
  T *const a = room, *const b = room + rows * 2 * n;
  for (i64 r = 0; r < rows; ++r)
    for (i64 j = 0; j < n; ++j) a[(r * n + j) * 2] = x[r * xs + j], a[(r * n + j) * 2 + 1] = T(0);
  complex_rows(a, 2 * n, b, 2 * n, rows, n, false, scale);
  for (i64 r = 0; r < rows; ++r)
    for (i64 k = 0; k < n + 1; ++k) y[r * ys + k] = b[r * 2 * n + k] * (doubled && k > 1 ? T(2) : T(1));
}
template <class T>
void half_odd(const T* x, i64 xs, T* y, i64 ys, i64 rows, i64 n, bool doubled, double scale, T* room) {
  T *const a = room, *const b = room + rows * 2 * n;
  const T weight = doubled ? T(1) : T(0.5);
  for (i64 r = 0; r < rows; ++r) {
    T* const z = a + r * 2 * n;
    z[0] = x[r * xs], z[1] = T(0);
    for (i64 k = 1; 2 * k < n; ++k) {
      z[2 * k] = z[2 * (n - k)] = x[r * xs + 2 * k] * weight;
      z[2 * k + 1] = x[r * xs + 2 * k + 1] * weight;
      z[2 * (n - k) + 1] = -z[2 * k + 1];
    }
  }
  complex_rows(a, 2 * n, b, 2 * n, rows, n, true, scale);
  for (i64 r = 0; r < rows; ++r)
    for (i64 j = 0; j < n; ++j) y[r * ys + j] = b[(r * n + j) * 2];
}

}  // namespace detail

template <class T>
void real_rows(const T* x, i64 xs, T* y, i64 ys, i64 rows, i64 n, bool doubled, double scale) {
  if (rows == 0 || n == 0) return;
  const Kernels<T>& k = kernels_of<T>();
  const i64 h = n / 2;
  const Ref<Roots<T>> roots = n % 2 ? Ref<Roots<T>>() : roots_of<T>(n, h / 2 + 1);
  detail::row_groups<T>(rows, n, n % 2 ? 4 * n : 0, [&](i64 first, i64 count, T* room) {
    const T* const from = x + first * xs;
    T* const to = y + first * ys;
    if (n % 2) return detail::real_odd(from, xs, to, ys, count, n, doubled, scale, room);
    complex_rows(from, xs, to, ys, count, h, false, scale);
    for (i64 r = 0; r < count; ++r) k.unpack(to + r * ys, h, roots->at.data(), doubled ? T(2) : T(1));
  });
}
template <class T>
void half_rows(const T* x, i64 xs, T* y, i64 ys, i64 rows, i64 n, bool doubled, double scale) {
  if (rows == 0 || n == 0) return;
  const Kernels<T>& k = kernels_of<T>();
  const i64 h = n / 2;
  const Ref<Roots<T>> roots = n % 2 ? Ref<Roots<T>>() : roots_of<T>(n, h / 2 + 1);
  detail::row_groups<T>(rows, n, n % 2 ? 4 * n : n, [&](i64 first, i64 count, T* room) {
    const T* const from = x + first * xs;
    T* const to = y + first * ys;
    if (n % 2) return detail::half_odd(from, xs, to, ys, count, n, doubled, scale, room);
    for (i64 r = 0; r < count; ++r) k.pack(from + r * xs, h, roots->at.data(), doubled ? T(1) : T(0.5), room + r * n);
    complex_rows(room, n, to, ys, count, h, true, scale);
  });
}

namespace detail {

// Source of both: Makhoul, "A fast cosine transform in one and two dimensions", 1980. The even elements, then the odd
// ones in reverse order, have a real transform V with out[k] = a[k] Re(exp(-pi i k / (2 n)) V[k]).
template <class T>
void cosine_rows(const T* from, T* to, i64 rows, i64 n, T first, T rest, const Roots<T>& roots, T* room) {
  T *const v = room, *const transformed = room + rows * n;
  for (i64 r = 0; r < rows; ++r) {
    const T* const x = from + r * n;
    for (i64 j = 0; 2 * j < n; ++j) v[r * n + j] = x[2 * j];
    for (i64 j = 0; 2 * j + 1 < n; ++j) v[r * n + n - 1 - j] = x[2 * j + 1];
  }
  real_rows(v, n, transformed, n + 2, rows, n, false, 1);
  const T *const c = roots.at.data(), *const s = c + n / 2 + 1;
  for (i64 r = 0; r < rows; ++r) {
    const T* const z = transformed + r * (n + 2);
    T* const y = to + r * n;
    y[0] = first * z[0];
    for (i64 k = 1; 2 * k <= n; ++k) {
      const T re = z[2 * k], im = z[2 * k + 1];
      y[n - k] = -rest * (s[k] * re + c[k] * im);
      y[k] = rest * (c[k] * re - s[k] * im);
    }
  }
}
// The transpose of cosine_rows, step by step.
template <class T>
void cosine_rows_back(const T* from, T* to, i64 rows, i64 n, T first, T rest, const Roots<T>& roots, T* room) {
  T *const v = room, *const halves = room + rows * n;
  const T *const c = roots.at.data(), *const s = c + n / 2 + 1;
  for (i64 r = 0; r < rows; ++r) {
    const T* const x = from + r * n;
    T* const z = halves + r * (n + 2);
    z[0] = first * x[0], z[1] = T(0);
    for (i64 k = 1; 2 * k <= n; ++k) {
      const T a = rest * x[k], b = 2 * k == n ? T(0) : rest * x[n - k];
      z[2 * k] = c[k] * a - s[k] * b;
      z[2 * k + 1] = -s[k] * a - c[k] * b;
    }
  }
  half_rows(halves, n + 2, v, n, rows, n, false, 1);
  for (i64 r = 0; r < rows; ++r) {
    T* const y = to + r * n;
    for (i64 j = 0; 2 * j < n; ++j) y[2 * j] = v[r * n + j];
    for (i64 j = 0; 2 * j + 1 < n; ++j) y[2 * j + 1] = v[r * n + n - 1 - j];
  }
}
template <class T>
void dct(const KernelCall& c, int type, double first, double rest) {
  const i64 n = c.in[0].shape().dim(-1);
  if (c.in[0].size() == 0) return;
  const Ref<Roots<T>> roots = roots_of<T>(4 * n, n / 2 + 1);
  const T* const x = c.in[0].as<const T>();
  T* const y = c.out[0].as<T>();
  row_groups<T>(c.in[0].size() / n, n, 2 * n + 2, [&](i64 from, i64 count, T* room) {
    const auto rows = type == 2 ? &cosine_rows<T> : &cosine_rows_back<T>;
    rows(x + from * n, y + from * n, count, n, static_cast<T>(first), static_cast<T>(rest), *roots, room);
  });
}
template <class T>
void rfft(const KernelCall& c, bool doubled, double scale) {
  const i64 n = c.in[0].shape().dim(-1), m = n / 2 + 1;
  if (c.in[0].size() == 0) return;
  real_rows(c.in[0].as<const T>(), n, c.out[0].as<T>(), 2 * m, c.in[0].size() / n, n, doubled, scale);
}
template <class T>
void irfft(const KernelCall& c, bool doubled, double scale) {
  const i64 n = c.out[0].shape().dim(-1), m = n / 2 + 1;
  if (c.out[0].size() == 0) return;
  half_rows(c.in[0].as<const T>(), 2 * m, c.out[0].as<T>(), n, c.out[0].size() / n, n, doubled, scale);
}

}  // namespace detail
}  // namespace TANDEM_NS::cpu::fourier

namespace TANDEM_NS::cpu {

TANDEM_INLINE void rfft(const KernelCall& c, bool doubled, double scale) {
  if (c.in[0].spec->dtype == DType::float64) fourier::detail::rfft<double>(c, doubled, scale);
  else fourier::detail::rfft<float>(c, doubled, scale);
}
TANDEM_INLINE void irfft(const KernelCall& c, bool doubled, double scale) {
  if (c.in[0].spec->dtype == DType::complex128) fourier::detail::irfft<double>(c, doubled, scale);
  else fourier::detail::irfft<float>(c, doubled, scale);
}
TANDEM_INLINE void dct(const KernelCall& c, int type, double first, double rest) {
  if (c.in[0].spec->dtype == DType::float64) fourier::detail::dct<double>(c, type, first, rest);
  else fourier::detail::dct<float>(c, type, first, rest);
}

}  // namespace TANDEM_NS::cpu
