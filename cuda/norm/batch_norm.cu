// The CUDA kernels of fused_batch_norm in training and of its gradient: folds over all axes but the channels', then one
// pass over the elements. Formulas as in cpu/norm/batch_norm.inl.
#include "cuda/layout/copy.hpp"
#include "cuda/reduce/fold.hpp"
#include "cuda/reduce/folds.hpp"
#include "tandem/attrs/norm.hpp"
#include "tandem/base/axes.hpp"

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

// The sum of g (x - mean) over a channel, whose folded elements are numbered [outer, inner].
template <class T>
struct DotFold : SumFold<T> {
  const T *x, *mean;
  i64 channels, inner;
  TANDEM_HD T take(T g, i64 place, i64 channel) const {
    const i64 outer = place / inner, at = place - outer * inner;
    return g * (x[(outer * channels + channel) * inner + at] - mean[channel]);
  }
};

// y = (x - mean) scale / sqrt(variance + epsilon) + offset
template <class T>
struct Normalize {
  const T *x, *scale, *offset, *mean, *variance;
  double epsilon;
  __device__ T operator()(i64 i, i64 c) const {
    const T factor = static_cast<T>(1 / ::sqrt(static_cast<double>(variance[c]) + epsilon));
    return (x[i] - mean[c]) * (scale[c] * factor) + offset[c];
  }
};
// dx = a (g - sum / n - (x - mean) factor^2 dot / n), where a = scale factor
template <class T>
struct NormalizeGrad {
  const T *g, *x, *scale, *mean, *variance, *sum, *dot;
  double epsilon, n;
  __device__ T operator()(i64 i, i64 c) const {
    const double factor = 1 / ::sqrt(static_cast<double>(variance[c]) + epsilon);
    const double a = static_cast<double>(scale[c]) * factor;
    const T slope = static_cast<T>(-a * factor * factor * static_cast<double>(dot[c]) / n);
    const T level = static_cast<T>(-a * static_cast<double>(sum[c]) / n);
    return (x[i] - mean[c]) * slope + level + g[i] * static_cast<T>(a);
  }
};
template <class F, class T>
__global__ void __launch_bounds__(block_size) channels_kernel(F f, T* y, i64 channels, i64 inner, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step)
    y[i] = f(i, i / inner % channels);
}
// dscale = dot / sqrt(variance + epsilon)
template <class T>
__global__ void __launch_bounds__(block_size)
    scale_grad_kernel(const T* dot, const T* variance, double epsilon, T* dscale, i64 channels) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 c = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; c < channels; c += step)
    dscale[c] = static_cast<T>(static_cast<double>(dot[c]) / ::sqrt(static_cast<double>(variance[c]) + epsilon));
}

template <class T>
void forward(const KernelCall& c) {
  const Operand& x = c.in[0];
  const Channels s(c, x.shape());
  const T *from = x.as<const T>(), n = static_cast<T>(s.each());
  T *mean = c.out[1].as<T>(), *variance = c.out[2].as<T>();
  fold(c, MeanFold<T>{{}, n}, from, s.others, mean);  // of no elements: NaN
  fold(c, VarianceFold<T, T>{{static_cast<typename WideNumber<T>::type>(n)}, mean, false}, from, s.others, variance);
  if (x.size())
    launch(c, &channels_kernel<Normalize<T>, T>, blocks_for(x.size()),
           Normalize<T>{from, c.in[1].as<const T>(), c.in[2].as<const T>(), mean, variance, s.epsilon},
           c.out[0].as<T>(), s.count, s.inner, x.size());
}
template <class T>
void backward(const KernelCall& c) {
  const Operand &g = c.in[0], &x = c.in[1];
  T *dscale = c.out[1].as<T>(), *doffset = c.out[2].as<T>();
  const Channels s(c, x.shape());
  const T *from = x.as<const T>(), *mean = c.in[3].as<const T>(), *variance = c.in[4].as<const T>();
  const Scratch room(c, static_cast<std::size_t>(s.count) * sizeof(T));
  T* const dot = room.as<T>();
  fold(c, SumFold<T>{}, g.as<const T>(), s.others, doffset);
  fold(c, DotFold<T>{{}, from, mean, s.count, s.inner}, g.as<const T>(), s.others, dot);
  launch(c, &scale_grad_kernel<T>, blocks_for(s.count), dot, variance, s.epsilon, dscale, s.count);
  launch(c, &channels_kernel<NormalizeGrad<T>, T>, blocks_for(x.size()),
         NormalizeGrad<T>{g.as<const T>(), from, c.in[2].as<const T>(), mean, variance, doffset, dot, s.epsilon,
                          static_cast<double>(s.each())},
         c.out[0].as<T>(), s.count, s.inner, x.size());
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
