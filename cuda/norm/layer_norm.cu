// The CUDA kernels of layer_norm and rms_norm: a group of threads for each row, whose sums it keeps; the gradients of
// the parameters are folds over the rows. Formulas as in cpu/norm/layer_norm.inc.
#include "cuda/layout/copy.hpp"
#include "cuda/reduce/fold.hpp"
#include "cuda/reduce/folds.hpp"
#include "cuda/slices.hpp"
#include "tandem/attrs/norm.hpp"

namespace TANDEM_NS::cuda {
namespace {

/// Of a row times `scale`, a power of two, which is 1 unless squares of the row would overflow or underflow.
template <class T>
struct RowMoments {
  T scale, mean, factor;  // factor: 1 / sqrt(variance + epsilon); without centering, of the mean square

  TANDEM_HD T z(T x) const { return (x * scale - mean) * factor; }
};
/// Whether a variance plus epsilon has neither overflowed nor become too small for its digits.
template <class T>
__device__ bool in_range(T x) {
  return x >= std::numeric_limits<T>::min() * T(1 << 24) && x <= std::numeric_limits<T>::max();
}
template <bool Centered, class T, class S, class X>
__device__ RowMoments<T> scaled_moments(const Slice<T, S>& s, const X& x, T scale, T epsilon, bool& ok) {
  const T n = static_cast<T>(s.n);
  T mean(0);
  if constexpr (Centered) mean = s.sum_of([&](Element e) { return x(e) * scale; }) / n;
  const T squares = s.sum_of([&](Element e) { return (x(e) * scale - mean) * (x(e) * scale - mean); });
  const T spread = squares / n + epsilon * scale * scale;
  ok = in_range(spread);
  return {scale, mean, T(1) / rules::sqrt(spread)};
}
// Of the values x(e). All rows of a block are measured again where one of them needs it.
template <bool Centered, class T, class S, class X>
__device__ RowMoments<T> moments_of(const Slice<T, S>& s, const X& x, T epsilon) {
  bool ok;
  const RowMoments<T> m = scaled_moments<Centered>(s, x, T(1), epsilon, ok);
  if (!__syncthreads_or(!ok)) return m;
  T largest(0);
  s.each([&](Element e) { largest = rules::max(largest, rules::abs(x(e))); });
  largest = s.join(largest, [](T a, T b) { return rules::max(a, b); });
  return scaled_moments<Centered>(s, x, ok ? T(1) : ScaleFold<T>{}.finish(largest, 0), epsilon, ok);
}

template <class T>
struct NormOperands {
  const T *x, *scale, *offset;  // scale and offset may be null
  T* y;
  T epsilon;
};
template <bool Centered, class T, class S>
__global__ void __launch_bounds__(block_size) norm_kernel(NormOperands<T> o, Slices s) {
  for_slices<T, S>(s, [&](const Slice<T, S>& row, i64, bool live) {
    const auto x = row.read(o.x);
    const RowMoments<T> m = moments_of<Centered>(row, x, o.epsilon);
    if (!live) return;
    row.each([&](Element e) {
      const i64 column = e.at - row.base;
      T v = m.z(x(e));
      if (o.scale) v = v * o.scale[column];
      if (o.offset) v = v + o.offset[column];
      o.y[e.at] = v;
    });
  });
}

template <class T>
struct NormGradOperands {
  const T *g, *x, *scale;  // scale may be null
  T* dx;
  RowMoments<T>* moments;
  T epsilon;
};
template <bool Centered, class T, class S>
__global__ void __launch_bounds__(block_size) norm_grad_kernel(NormGradOperands<T> o, Slices s) {
  for_slices<T, S>(s, [&](const Slice<T, S>& row, i64 number, bool live) {
    const auto x = row.read(o.x);
    const auto scaled = row.read([&](Element e) { return o.scale ? o.g[e.at] * o.scale[e.at - row.base] : o.g[e.at]; });
    const RowMoments<T> m = moments_of<Centered>(row, x, o.epsilon);
    const auto z = [&](Element e) { return m.z(x(e)); };
    const T n = static_cast<T>(row.n);
    T average(0);
    if constexpr (Centered) average = row.sum_of(scaled) / n;
    const T slope = row.sum_of([&](Element e) { return scaled(e) * z(e); }) / n;
    if (!live) return;
    if (row.lane == 0) o.moments[number] = m;
    row.each([&](Element e) { o.dx[e.at] = m.factor * ((scaled(e) - average) - z(e) * slope) * m.scale; });
  });
}
// The sum of g z over the rows, for one column.
template <class T>
struct ScaleGradFold : SumFold<T> {
  const T* x;
  const RowMoments<T>* moments;
  i64 n;
  TANDEM_HD T take(T g, i64 row, i64 column) const { return g * moments[row].z(x[static_cast<i64>(row) * n + column]); }
};

Slices rows_of(const Shape& x, i64 axes) {
  Slices s{1, 1, 1, 8};
  for (int d = 0; d < x.rank(); ++d) (d < x.rank() - axes ? s.count : s.n) *= x[d];
  s.choose_lanes();
  return s;
}

template <bool Centered>
void norm(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::LayerNormAttrs>();
  const Operand& x = c.in[0];
  if (x.size() == 0) return;
  const Slices s = rows_of(x.shape(), a.axes);
  with_dtype<dtypes::floating>(c, x.spec->dtype, [&]<class T>() {
    const NormOperands<T> o{x.as<const T>(), a.scale ? c.in[1].as<const T>() : nullptr,
                            a.offset ? c.in[c.in.size() - 1].as<const T>() : nullptr, c.out[0].as<T>(),
                            static_cast<T>(a.epsilon)};
    with_share(s, [&]<class S>() { launch(c, &norm_kernel<Centered, T, S>, blocks_of(s), o, s); });
  });
}
template <bool Centered>
void norm_grad(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::LayerNormAttrs>();
  const Operand &g = c.in[0], &x = c.in[1];
  if (x.size() == 0) {
    for (std::size_t i = 1; i < c.out.size(); ++i) fill_zero(c, c.out[i].data, c.out[i].spec->bytes());
    return;
  }
  const Slices s = rows_of(x.shape(), a.axes);
  FoldShape over_rows;
  over_rows.add(s.count, s.n, true);
  over_rows.add(s.n, 1, false);
  with_dtype<dtypes::floating>(c, x.spec->dtype, [&]<class T>() {
    const Scratch moments(c, static_cast<std::size_t>(s.count) * sizeof(RowMoments<T>));
    const NormGradOperands<T> o{g.as<const T>(),
                                x.as<const T>(),
                                a.scale ? c.in[2].as<const T>() : nullptr,
                                c.out[0].as<T>(),
                                moments.as<RowMoments<T>>(),
                                static_cast<T>(a.epsilon)};
    with_share(s, [&]<class S>() { launch(c, &norm_grad_kernel<Centered, T, S>, blocks_of(s), o, s); });
    if (a.scale)
      fold(c, ScaleGradFold<T>{{}, x.as<const T>(), moments.as<RowMoments<T>>(), s.n}, g.as<const T>(), over_rows,
           c.out[1].as<T>());
    if (a.offset) fold(c, SumFold<T>{}, g.as<const T>(), over_rows, c.out[c.out.size() - 1].as<T>());
  });
}

}  // namespace

void layer_norm(const KernelCall& c) { norm<true>(c); }
void layer_norm_grad(const KernelCall& c) { norm_grad<true>(c); }
void rms_norm(const KernelCall& c) { norm<false>(c); }
void rms_norm_grad(const KernelCall& c) { norm_grad<false>(c); }

}  // namespace TANDEM_NS::cuda
