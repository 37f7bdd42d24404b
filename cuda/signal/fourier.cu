// The CUDA kernels of Fourier and cosine transforms: cuFFT's rows, with their scales and weights. An axis in the middle
// is transformed with a stride where there are few parts before it or large ones, otherwise as rows of a transposed
// copy.
#include <cmath>
#include <cstdint>
#include <numbers>

#include "cuda/index_type.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/number.hpp"
#include "cuda/signal/cufft.hpp"
#include "tandem/attrs/signal.hpp"
#include "tandem/base/axes.hpp"
#include "tandem/ops/cuda_kernels.hpp"

namespace TANDEM_NS::cuda {
namespace {

template <class T>
__global__ void __launch_bounds__(block_size) scale_kernel(Complex<T>* y, T scale, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    y[i] = {y[i].re * scale, y[i].im * scale};
}

// Weights of the first half of a spectrum: `edge` at 0 and, for an even n, at n / 2; `middle` elsewhere.
template <class T>
struct Weights {
  T edge, middle;
};
// y = x, weighted; x may be y. `real_edges`: without the imaginary parts at the edges.
template <class T, class I>
__global__ void __launch_bounds__(block_size)
    weigh_kernel(Complex<T>* y, const Complex<T>* x, Weights<T> w, bool real_edges, I n, I total) {
  const I m = n / 2 + 1, step = static_cast<I>(gridDim.x) * blockDim.x;
  for (I i = static_cast<I>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const I k = i % m;
    const bool edge = k == 0 || 2 * k == n;
    const T by = edge ? w.edge : w.middle;
    const Complex<T> z = x[i];
    y[i] = {z.re * by, edge && real_edges ? T(0) : z.im * by};
  }
}
template <class T>
void weigh(const KernelCall& c, T* y, const T* x, Weights<T> w, bool real_edges, i64 rows, i64 n) {
  const i64 total = rows * (n / 2 + 1);
  with_index(total, [&]<class I>() {
    launch(c, &weigh_kernel<T, I>, blocks_for(total), reinterpret_cast<Complex<T>*>(y),
           reinterpret_cast<const Complex<T>*>(x), w, real_edges, static_cast<I>(n), static_cast<I>(total));
  });
}

// The cosine transform of type 2 is made of the real transform z of v: the even elements of x, then the odd ones in
// reverse order (Makhoul, "A fast cosine transform in one and two dimensions", 1980). Type 3 is its transpose.
template <class T, class I>
__global__ void __launch_bounds__(block_size) fold_kernel(T* v, const T* x, I n, I total, bool back) {
  const I step = static_cast<I>(gridDim.x) * blockDim.x;
  for (I i = static_cast<I>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const I j = i % n, row = i - j, other = row + (j % 2 ? n - 1 - j / 2 : j / 2);
    if (back) v[i] = x[other];
    else v[other] = x[i];
  }
}
// The factors of the result's first element and of the others, and the angle pi / (2 n).
template <class T>
struct Cosines {
  T first, rest;
  double angle;
};
template <class T, class I>
__global__ void __launch_bounds__(block_size) cosine_kernel(T* y, const Complex<T>* z, Cosines<T> f, I n, I total) {
  const I m = n / 2 + 1, step = static_cast<I>(gridDim.x) * blockDim.x;
  for (I i = static_cast<I>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const I j = i % n, k = 2 * j <= n ? j : n - j;
    const Complex<T> v = z[i / n * m + k];
    const T at = static_cast<T>(static_cast<double>(k) * f.angle), c = std::cos(at), s = std::sin(at);
    y[i] = j == 0 ? f.first * v.re : f.rest * (k == j ? c * v.re + s * v.im : s * v.re - c * v.im);
  }
}
// Half of the spectrum z of the real numbers v; as these are computed, numbers in the middle count twice.
template <class T, class I>
__global__ void __launch_bounds__(block_size)
    cosine_back_kernel(Complex<T>* z, const T* x, Cosines<T> f, I n, I total) {
  const I m = n / 2 + 1, step = static_cast<I>(gridDim.x) * blockDim.x;
  for (I i = static_cast<I>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const I k = i % m;
    const T* const row = x + i / m * n;
    const bool last = 2 * k == n;
    const T at = static_cast<T>(static_cast<double>(k) * f.angle), c = std::cos(at), s = std::sin(at);
    const T a = f.rest * row[k], b = k == 0 || last ? T(0) : f.rest * row[n - k];
    if (k == 0) z[i] = {f.first * row[0], T(0)};
    else if (last) z[i] = {c * a, T(0)};
    else z[i] = {(c * a + s * b) * T(0.5), (s * a - c * b) * T(0.5)};
  }
}

template <class T>
constexpr bool is_wide = sizeof(T) == sizeof(double);
// Calls f.operator()<T>() with the type of the parts.
template <class F>
void with_parts(const Operand& x, const F& f) {
  if (x.spec->dtype == DType::float64 || x.spec->dtype == DType::complex128) f.template operator()<double>();
  else f.template operator()<float>();
}
template <class T>
bool is_aligned(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % sizeof(Complex<T>) == 0;
}
void copy_dense(const KernelCall& c, void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, queue_of(c).stream), c.op, "copy");
}
std::size_t bytes_of(i64 n, std::size_t width) { return static_cast<std::size_t>(n) * width; }

// y[rows, n / 2 + 1] of x[rows, n].
template <class T>
void to_half(const KernelCall& c, T* x, T* y, i64 rows, i64 n) {
  const i64 m = n / 2 + 1;
  if (n == 1) {
    fill_zero(c, y, bytes_of(rows, sizeof(Complex<T>)));
    cpu::StridedCopy nest;
    nest.add(rows, 2, 1);
    return copy_strided(c, nest, sizeof(T), y, x);
  }
  const bool copies = !is_aligned(x);
  const Scratch room(c, copies ? bytes_of(rows * n, sizeof(T)) : 0);
  if (copies) copy_dense(c, room.as<T>(), x, bytes_of(rows * n, sizeof(T)));
  transform_rows(c, {FourierKind::to_half, is_wide<T>, n, 1, n, m, rows}, false, copies ? room.as<T>() : x, y);
}
// y[rows, n] of z[rows, n / 2 + 1], which is overwritten.
template <class T>
void from_half(const KernelCall& c, T* z, T* y, i64 rows, i64 n) {
  const i64 m = n / 2 + 1;
  if (n == 1) {
    cpu::StridedCopy nest;
    nest.add(rows, 1, 2);
    return copy_strided(c, nest, sizeof(T), y, z);
  }
  const bool copies = !is_aligned(y);
  const Scratch room(c, copies ? bytes_of(rows * n, sizeof(T)) : 0);
  T* const to = copies ? room.as<T>() : y;
  transform_rows(c, {FourierKind::from_half, is_wide<T>, n, 1, m, n, rows}, true, z, to);
  if (copies) copy_dense(c, y, to, bytes_of(rows * n, sizeof(T)));
}

// The axis in the middle of [outer, n, inner].
template <class T>
void columns(const KernelCall& c, Complex<T>* x, Complex<T>* y, i64 outer, i64 n, i64 inner, bool inverse) {
  constexpr i64 few = 4, large = i64(16) << 20;  // parts, and bytes of one: their launches take less than two copies
  const i64 part = n * inner;
  if (outer <= few || part * static_cast<i64>(sizeof(Complex<T>)) >= large) {
    for (i64 o = 0; o < outer; ++o)
      transform_rows(c, {FourierKind::complex, is_wide<T>, n, inner, 1, 1, inner}, inverse, x + o * part, y + o * part);
    return;
  }
  const Scratch room(c, bytes_of(outer * part, sizeof(Complex<T>)));
  cpu::StridedCopy there, back;
  there.add(outer, part, part), back.add(outer, part, part);
  there.add(inner, n, 1), back.add(n, inner, 1);
  there.add(n, 1, inner), back.add(inner, 1, n);
  copy_strided(c, there, sizeof(Complex<T>), room.as<void>(), x);
  transform_rows(c, {FourierKind::complex, is_wide<T>, n, 1, n, n, outer * inner}, inverse, room.as<void>(),
                 room.as<void>());
  copy_strided(c, back, sizeof(Complex<T>), y, room.as<void>());
}

}  // namespace

void fft(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::FftAttrs>();
  const Operand &x = c.in[0], &y = c.out[0];
  const Shape& s = x.shape();
  const int axis = resolve_axis(c.op, a.axis, s.rank());
  const i64 n = s.dim(axis), total = x.size();
  if (total == 0) return;
  if (n == 1) return copy_dense(c, y.data, x.data, x.spec->bytes());
  i64 outer = 1;
  for (int d = 0; d < axis; ++d) outer *= s.dim(d);
  const i64 inner = total / (outer * n);
  with_parts(x, [&]<class T>() {
    if (inner == 1) transform_rows(c, {FourierKind::complex, is_wide<T>, n, 1, n, n, outer}, a.inverse, x.data, y.data);
    else columns(c, x.as<Complex<T>>(), y.as<Complex<T>>(), outer, n, inner, a.inverse);
    if (a.divided)
      launch(c, &scale_kernel<T>, blocks_for(total), y.as<Complex<T>>(), static_cast<T>(1 / static_cast<double>(n)),
             total);
  });
}
void rfft(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::RealFftAttrs>();
  const Operand &x = c.in[0], &y = c.out[0];
  if (x.size() == 0) return;
  const i64 n = x.shape().dim(-1), rows = x.size() / n;
  with_parts(x, [&]<class T>() {
    to_half(c, x.as<T>(), y.as<T>(), rows, n);
    const T scale = a.divided ? static_cast<T>(1 / static_cast<double>(n)) : T(1);
    if (a.divided || a.doubled)
      weigh<T>(c, y.as<T>(), y.as<T>(), {scale, a.doubled ? 2 * scale : scale}, false, rows, n);
  });
}
void irfft(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::RealFftAttrs>();
  const Operand &x = c.in[0], &y = c.out[0];
  if (y.size() == 0) return;
  const i64 n = y.shape().dim(-1), rows = y.size() / n;
  const Scratch z(c, x.spec->bytes());
  with_parts(x, [&]<class T>() {
    const T scale = a.divided ? static_cast<T>(1 / static_cast<double>(n)) : T(1);
    weigh<T>(c, z.as<T>(), x.as<T>(), {scale, a.doubled ? scale : scale / 2}, true, rows, n);
    from_half(c, z.as<T>(), y.as<T>(), rows, n);
  });
}
void dct(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::DctAttrs>();
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 total = x.size();
  if (total == 0) return;
  const i64 n = x.shape().dim(-1), rows = total / n, halves = rows * (n / 2 + 1);
  const double length = static_cast<double>(n), angle = std::numbers::pi / (2 * length);
  const double first = a.ortho ? std::sqrt(1 / length) : a.halved ? 1 : 2, rest = a.ortho ? std::sqrt(2 / length) : 2;
  with_parts(x, [&]<class T>() {
    const Scratch v(c, x.spec->bytes()), z(c, bytes_of(halves, sizeof(Complex<T>)));
    const Cosines<T> f{static_cast<T>(first), static_cast<T>(rest), angle};
    with_index(total, [&]<class I>() {
      const I size = static_cast<I>(n), all = static_cast<I>(total), all_halves = static_cast<I>(halves);
      if (a.type == 2) {
        launch(c, &fold_kernel<T, I>, blocks_for(total), v.as<T>(), x.as<const T>(), size, all, false);
        to_half(c, v.as<T>(), z.as<T>(), rows, n);
        launch(c, &cosine_kernel<T, I>, blocks_for(total), y.as<T>(), z.as<const Complex<T>>(), f, size, all);
      } else {
        launch(c, &cosine_back_kernel<T, I>, blocks_for(halves), z.as<Complex<T>>(), x.as<const T>(), f, size,
               all_halves);
        from_half(c, z.as<T>(), v.as<T>(), rows, n);
        launch(c, &fold_kernel<T, I>, blocks_for(total), y.as<T>(), v.as<const T>(), size, all, true);
      }
    });
  });
}

}  // namespace TANDEM_NS::cuda
