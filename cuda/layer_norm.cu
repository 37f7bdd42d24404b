// The CUDA kernels of layer_norm and rms_norm: a group of threads for each row, whose sums it keeps; the gradients of
// the parameters are folds over the rows. Formulas as in cpu/norm/layer_norm.inc.
#include "cuda/copy.hpp"
#include "cuda/fold.hpp"
#include "cuda/folds.hpp"
#include "cuda/slices.hpp"
#include "tandem/ops/nn/norm_attrs.hpp"

namespace TANDEM_NS::cuda {
namespace {

template <class T>
struct RowMoments {
  T mean, factor;  // factor: 1 / sqrt(variance + epsilon); without centering, of the mean square
};
template <bool Centered, class T>
__device__ RowMoments<T> moments_of(const Slice<T>& s, const T* x, T epsilon) {
  const T n = static_cast<T>(s.n);
  T mean(0);
  if constexpr (Centered) mean = s.sum_of([&](i64 i) { return x[i]; }) / n;
  const T squares = s.sum_of([&](i64 i) { return (x[i] - mean) * (x[i] - mean); });
  return {mean, T(1) / rules::sqrt(squares / n + epsilon)};
}

template <class T>
struct NormOperands {
  const T *x, *scale, *offset;  // scale and offset may be null
  T* y;
  T epsilon;
};
template <bool Centered, class T>
__global__ void __launch_bounds__(block_size) norm_kernel(NormOperands<T> o, Slices s) {
  for_slices<T>(s, [&](const Slice<T>& row, i64, bool live) {
    const RowMoments<T> m = moments_of<Centered>(row, o.x, o.epsilon);
    if (!live) return;
    row.each([&](i64 i) {
      const i64 column = i - row.base;
      T v = (o.x[i] - m.mean) * m.factor;
      if (o.scale) v = v * o.scale[column];
      if (o.offset) v = v + o.offset[column];
      o.y[i] = v;
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
template <bool Centered, class T>
__global__ void __launch_bounds__(block_size) norm_grad_kernel(NormGradOperands<T> o, Slices s) {
  for_slices<T>(s, [&](const Slice<T>& row, i64 number, bool live) {
    const RowMoments<T> m = moments_of<Centered>(row, o.x, o.epsilon);
    const auto scaled = [&](i64 i) { return o.scale ? o.g[i] * o.scale[i - row.base] : o.g[i]; };
    const auto z = [&](i64 i) { return (o.x[i] - m.mean) * m.factor; };
    const T n = static_cast<T>(row.n);
    T average(0);
    if constexpr (Centered) average = row.sum_of(scaled) / n;
    const T slope = row.sum_of([&](i64 i) { return scaled(i) * z(i); }) / n;
    if (!live) return;
    if (row.lane == 0) o.moments[number] = m;
    row.each([&](i64 i) { o.dx[i] = m.factor * ((scaled(i) - average) - z(i) * slope); });
  });
}
// The sum of g z over the rows, for one column.
template <class T>
struct ScaleGradFold : SumFold<T> {
  const T* x;
  const RowMoments<T>* moments;
  i64 n;
  TANDEM_HD T take(T g, std::uint32_t row, std::uint32_t column) const {
    return g * ((x[static_cast<i64>(row) * n + column] - moments[row].mean) * moments[row].factor);
  }
};

Slices rows_of(const Shape& x, i64 axes) {
  Slices s{1, 1, 1, 8};
  for (int d = 0; d < x.rank(); ++d) (d < x.rank() - axes ? s.count : s.n) *= x[d];
  s.choose_lanes();
  return s;
}

template <bool Centered>
void norm(const KernelCall& c) {
  const auto& a = c.attrs.get<LayerNormAttrs>();
  const Operand& x = c.in[0];
  if (x.size() == 0) return;
  const Slices s = rows_of(x.shape(), a.axes);
  with_dtype<dtypes::floating>(c, x.spec->dtype, [&]<class T>() {
    launch(c, &norm_kernel<Centered, T>, blocks_of(s),
           NormOperands<T>{x.as<const T>(), a.scale ? c.in[1].as<const T>() : nullptr,
                           a.offset ? c.in[c.in.size() - 1].as<const T>() : nullptr, c.out[0].as<T>(),
                           static_cast<T>(a.epsilon)},
           s);
  });
}
template <bool Centered>
void norm_grad(const KernelCall& c) {
  const auto& a = c.attrs.get<LayerNormAttrs>();
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
    launch(c, &norm_grad_kernel<Centered, T>, blocks_of(s),
           NormGradOperands<T>{g.as<const T>(), x.as<const T>(), a.scale ? c.in[2].as<const T>() : nullptr,
                               c.out[0].as<T>(), moments.as<RowMoments<T>>(), static_cast<T>(a.epsilon)},
           s);
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
