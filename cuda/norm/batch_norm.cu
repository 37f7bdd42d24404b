// The CUDA kernels of fused_batch_norm in training and of its gradient: a fold over all axes but the channels', then
// one pass over the elements, so that each operand is read twice. Formulas as in cpu/norm/batch_norm.inl.
#include "cuda/index_type.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/reduce/fold.hpp"
#include "tandem/attrs/norm.hpp"
#include "tandem/base/axes.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cuda {
namespace {

// x as [outer, channels, inner].
struct Channels {
  i64 outer = 1, count, inner = 1;
  FoldShape others;
  double epsilon;

  Channels(const KernelCall& c, const Shape& x) : epsilon(c.attrs.get<rules::BatchNormAttrs>().epsilon) {
    const int axis = resolve_axis(c.op, c.attrs.get<rules::BatchNormAttrs>().axis, x.rank());
    for (int d = 0; d < axis; ++d) outer *= x[d];
    for (int d = axis + 1; d < x.rank(); ++d) inner *= x[d];
    count = x[axis];
    others.add(outer, count * inner, true);
    others.add(count, inner, false);
    others.add(inner, 1, true);
  }
  i64 each() const { return outer * inner; }
};

// A channel's numbers in the pass over the elements: y = (x - mean) slope + level.
template <class T>
struct Line {
  T mean, slope, level;
};
// dx = (x - mean) slope + level + g up
template <class T>
struct BackLine {
  T mean, slope, level, up;
};

// The mean and the sum of squared differences from it, of `count` elements.
template <class T>
struct Moments {
  typename WideNumber<T>::type mean, squares;
  T count;
};
// Both in one pass, joined as by Chan, Golub and LeVeque (1979): no difference of large sums, so a large mean costs no
// digits. Groups of elements are measured from their first one, so that few of these joins are left.
template <class T>
struct MomentFold {
  using In = T;
  using Acc = Moments<T>;
  using Out = T;
  using Wide = typename WideNumber<T>::type;
  const T *scale, *offset;
  T* variance;
  Line<T>* lines;
  double epsilon;
  Wide n;

  TANDEM_HD Acc start() const { return {Wide(0), Wide(0), T(0)}; }
  TANDEM_HD Acc take(T x, i64, i64) const { return {Wide(x), Wide(x - x), T(1)}; }  // of an infinity: NaN
  template <std::uint32_t N>
  TANDEM_HD Acc take_group(const T (&x)[N]) const {
    Wide sum(0), squares(0);
#pragma unroll
    for (std::uint32_t k = 0; k < N; ++k) {
      const Wide d = Wide(x[k]) - Wide(x[0]);
      sum += d, squares += d * d;
    }
    const Wide shift = sum / Wide(N);
    const Wide mean = sum - sum == Wide(0) ? Wide(x[0]) + shift : sum_of(x) / Wide(N);  // with infinities: one, or NaN
    return {mean, squares - sum * shift, T(N)};
  }
  TANDEM_HD Acc join(const Acc& a, const Acc& b) const {
    if (a.count == T(0)) return b;
    if (b.count == T(0)) return a;
    const T count = a.count + b.count;
    const Wide step = b.mean - a.mean, part = Wide(b.count / count);
    return {step - step == Wide(0) ? a.mean + step * part : a.mean + b.mean,
            a.squares + b.squares + step * step * (Wide(a.count) * part), count};
  }
  TANDEM_HD T finish(const Acc& a, i64 c) const {
    const T mean = static_cast<T>(n > Wide(0) ? a.mean : a.mean / n);  // of no elements: NaN
    variance[c] = static_cast<T>(a.squares / n);
    const T factor = static_cast<T>(1 / rules::sqrt(static_cast<double>(variance[c]) + epsilon));
    lines[c] = {mean, scale[c] * factor, offset[c]};
    return mean;
  }

 private:
  template <std::uint32_t N>
  static TANDEM_HD Wide sum_of(const T (&x)[N]) {
    Wide sum(0);
#pragma unroll
    for (std::uint32_t k = 0; k < N; ++k) sum += Wide(x[k]);
    return sum;
  }
};

// The sums of g and of g (x - mean) over a channel, whose folded elements are numbered [outer, inner].
template <class T>
struct GradSums {
  T sum, dot;
};
// dscale = dot / sqrt(variance + epsilon), doffset = sum; and what the pass over the elements needs.
template <class T, class I>
struct GradFold {
  using In = T;
  using Acc = GradSums<T>;
  using Out = T;
  const T *x, *mean, *variance, *scale;
  T* doffset;
  BackLine<T>* lines;
  double epsilon, n;
  I channels, inner;

  TANDEM_HD Acc start() const { return {T(0), T(0)}; }
  TANDEM_HD Acc take(T g, i64 place, i64 channel) const {
    const I outer = static_cast<I>(place) / inner, at = static_cast<I>(place) - outer * inner;
    return {g, g * (x[(outer * channels + static_cast<I>(channel)) * inner + at] - mean[channel])};
  }
  TANDEM_HD Acc join(const Acc& a, const Acc& b) const { return {a.sum + b.sum, a.dot + b.dot}; }
  TANDEM_HD T finish(const Acc& a, i64 c) const {
    const double root = rules::sqrt(static_cast<double>(variance[c]) + epsilon), factor = 1 / root;
    const double up = static_cast<double>(scale[c]) * factor;
    lines[c] = {mean[c], static_cast<T>(-up * factor * factor * static_cast<double>(a.dot) / n),
                static_cast<T>(-up * static_cast<double>(a.sum) / n), static_cast<T>(up)};
    doffset[c] = a.sum;
    return static_cast<T>(static_cast<double>(a.dot) / root);
  }
};

// y = (x - mean) scale / sqrt(variance + epsilon) + offset
template <class T>
struct Normalize {
  const T* x;
  const Line<T>* lines;
  template <class I>
  __device__ T operator()(I i, I c) const {
    const Line<T> l = lines[c];
    return (x[i] - l.mean) * l.slope + l.level;
  }
};
// dx = a (g - sum / n - (x - mean) factor^2 dot / n), where a = scale factor
template <class T>
struct NormalizeGrad {
  const T *g, *x;
  const BackLine<T>* lines;
  template <class I>
  __device__ T operator()(I i, I c) const {
    const BackLine<T> l = lines[c];
    return (x[i] - l.mean) * l.slope + l.level + g[i] * l.up;
  }
};
template <class F, class T, class I>
__global__ void __launch_bounds__(block_size) channels_kernel(F f, T* y, I channels, I inner, I total) {
  const I step = static_cast<I>(gridDim.x) * blockDim.x;
  for (I i = static_cast<I>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step)
    y[i] = f(i, static_cast<I>(i / inner % channels));
}
template <class F, class T>
void each_element(const KernelCall& c, const F& f, T* y, const Channels& s, i64 total) {
  with_index(total, [&]<class I>() {
    launch(c, &channels_kernel<F, T, I>, blocks_for(total), f, y, static_cast<I>(s.count), static_cast<I>(s.inner),
           static_cast<I>(total));
  });
}

template <class T>
void forward(const KernelCall& c) {
  const Operand& x = c.in[0];
  const Channels s(c, x.shape());
  const Scratch room(c, static_cast<std::size_t>(s.count) * sizeof(Line<T>));
  const T* const from = x.as<const T>();
  fold(c,
       MomentFold<T>{c.in[1].as<const T>(), c.in[2].as<const T>(), c.out[2].as<T>(), room.as<Line<T>>(), s.epsilon,
                     static_cast<typename WideNumber<T>::type>(s.each())},
       from, s.others, c.out[1].as<T>());
  if (x.size()) each_element(c, Normalize<T>{from, room.as<const Line<T>>()}, c.out[0].as<T>(), s, x.size());
}
template <class T>
void backward(const KernelCall& c) {
  const Operand &g = c.in[0], &x = c.in[1];
  const Channels s(c, x.shape());
  const Scratch room(c, static_cast<std::size_t>(s.count) * sizeof(BackLine<T>));
  const T *up = g.as<const T>(), *from = x.as<const T>();
  with_index(x.size(), [&]<class I>() {
    const GradFold<T, I> sums{from,
                              c.in[3].as<const T>(),
                              c.in[4].as<const T>(),
                              c.in[2].as<const T>(),
                              c.out[2].as<T>(),
                              room.as<BackLine<T>>(),
                              s.epsilon,
                              static_cast<double>(s.each()),
                              static_cast<I>(s.count),
                              static_cast<I>(s.inner)};
    fold(c, sums, up, s.others, c.out[1].as<T>());
  });
  each_element(c, NormalizeGrad<T>{up, from, room.as<const BackLine<T>>()}, c.out[0].as<T>(), s, x.size());
}

}  // namespace

void batch_norm(const KernelCall& c) {
  with_dtype<dtypes::floating>(c, c.in[0].spec->dtype, [&]<class T>() { forward<T>(c); });
}
void batch_norm_grad(const KernelCall& c) {
  if (c.in[1].size() == 0)
    for (std::size_t i = 1; i < 3; ++i) fill_zero(c, c.out[i].data, c.out[i].spec->bytes());
  else with_dtype<dtypes::floating>(c, c.in[1].spec->dtype, [&]<class T>() { backward<T>(c); });
}

}  // namespace TANDEM_NS::cuda
