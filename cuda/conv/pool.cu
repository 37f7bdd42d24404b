// The CUDA kernels of pooling and its gradients: one thread per element of the result. A gradient gathers from the
// windows that read its element, in their order, so sums are reproducible. The winner of a window is its first maximum,
// or its first NaN, as in cpu/conv/pool.inc.
#include "cuda/conv/window.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/reduce/folds.hpp"

namespace TANDEM_NS::cuda {
namespace {

struct PoolSizes {
  i64 batch, channels;
  WindowAxis axis[3];

  PoolSizes(const KernelCall& c, const Shape& x) : batch(x.dim(0)), channels(x.dim(-1)) {
    const auto& a = c.attrs.get<rules::PoolAttrs>();
    const WindowAxes axes(a, x, a.ksize.begin());
    for (int i = 0; i < 3; ++i) axis[i] = axes.axis[i];
  }
  TANDEM_HD i64 image_in() const { return axis[0].in * axis[1].in * axis[2].in * channels; }
  TANDEM_HD i64 image_out() const { return axis[0].out * axis[1].out * axis[2].out * channels; }
};

// Calls f(element of the result, its pixel, its channel) for this thread's share of the results.
template <class F>
__device__ void each_result(const PoolSizes& s, const F& f) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, total = s.batch * s.image_out();
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step)
    f(i, result_pixel(s.axis, i / s.channels), i % s.channels);
}
// The same for the elements of the image.
template <class F>
__device__ void each_input(const PoolSizes& s, const F& f) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, total = s.batch * s.image_in();
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step)
    f(i, input_pixel(s.axis, i / s.channels), i % s.channels);
}
__device__ inline i64 elements_of(const PoolSizes& s, i64 z, i64 y, i64 x) {
  return count_inside(s.axis[0], z) * count_inside(s.axis[1], y) * count_inside(s.axis[2], x);
}

template <class T>
__global__ void __launch_bounds__(block_size) max_kernel(const T* x, T* y, PoolSizes s) {
  each_result(s, [&](i64 i, const Pixel& p, i64 channel) {
    const T* const image = x + p.image * s.image_in() + channel;
    T best = lowest_of<T>();
    each_read(s.axis, p, [&](i64 pixel, i64) { best = rules::max(best, image[pixel * s.channels]); });
    y[i] = best;
  });
}
template <class T>
__global__ void __launch_bounds__(block_size) mean_kernel(const T* x, T* y, PoolSizes s) {
  each_result(s, [&](i64 i, const Pixel& p, i64 channel) {
    const T* const image = x + p.image * s.image_in() + channel;
    T sum(0);
    i64 n = 0;
    each_read(s.axis, p, [&](i64 pixel, i64) { sum += image[pixel * s.channels], ++n; });
    y[i] = n > 0 ? sum / static_cast<T>(n) : sum;
  });
}
// The elements of the image, or of the batch, that win; -1 for windows in the padding.
template <class T>
__global__ void __launch_bounds__(block_size) winner_kernel(const T* x, i64* winners, PoolSizes s, bool of_batch) {
  each_result(s, [&](i64 i, const Pixel& p, i64 channel) {
    const i64 origin = p.image * s.image_in();
    i64 at = -1;
    T best{};
    each_read(s.axis, p, [&](i64 pixel, i64) {
      const i64 own = pixel * s.channels + channel;
      const T v = x[origin + own];
      if (at < 0 || v > best || (v != v && best == best)) best = v, at = own;
    });
    winners[i] = of_batch && at >= 0 ? origin + at : at;
  });
}
template <class T>
__global__ void __launch_bounds__(block_size) pick_kernel(const T* v, const i64* winners, T* y, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    y[i] = winners[i] < 0 ? T(0) : v[winners[i]];
}
template <class T>
__global__ void __launch_bounds__(block_size) max_grad_kernel(const T* g, const i64* winners, T* dx, PoolSizes s) {
  each_input(s, [&](i64 i, const Pixel& p, i64 channel) {
    const i64 origin = p.image * s.image_out() + channel;
    T sum(0);
    each_reader(s.axis, p, [&](i64 pixel, i64) {
      const i64 result = origin + pixel * s.channels;
      if (winners[result] == i) sum += g[result];
    });
    dx[i] = sum;
  });
}
template <class T>
__global__ void __launch_bounds__(block_size) mean_grad_kernel(const T* g, T* dx, PoolSizes s) {
  each_input(s, [&](i64 i, const Pixel& p, i64 channel) {
    const i64 origin = p.image * s.image_out() + channel;
    T sum(0);
    each_reader(s.axis, p, [&](i64 pixel, i64) {
      const Pixel t = result_pixel(s.axis, pixel);
      sum += g[origin + pixel * s.channels] / static_cast<T>(elements_of(s, t.at[0], t.at[1], t.at[2]));
    });
    dx[i] = sum;
  });
}

template <class T>
void find_winners(const KernelCall& c, const Operand& x, const PoolSizes& s, i64* winners, bool of_batch) {
  launch(c, &winner_kernel<T>, blocks_for(s.batch * s.image_out()), x.as<const T>(), winners, s, of_batch);
}
template <class F>
void with_floating(const KernelCall& c, const F& f) {
  if (c.out[0].size()) with_dtype<dtypes::floating>(c, c.out[0].spec->dtype, f);
}

}  // namespace

void max_pool(const KernelCall& c) {
  if (c.out[0].size() == 0) return;
  const PoolSizes s(c, c.in[0].shape());
  with_dtype<dtypes::real>(c, c.in[0].spec->dtype, [&]<class T>() {
    launch(c, &max_kernel<T>, blocks_for(c.out[0].size()), c.in[0].as<const T>(), c.out[0].as<T>(), s);
  });
}
void max_pool_argmax(const KernelCall& c) {
  if (c.out[0].size() == 0) return;
  const PoolSizes s(c, c.in[0].shape());
  const bool of_batch = c.attrs.get<rules::PoolAttrs>().include_batch;
  with_dtype<dtypes::real>(c, c.in[0].spec->dtype,
                           [&]<class T>() { find_winners<T>(c, c.in[0], s, c.out[0].as<i64>(), of_batch); });
}
void max_pool_pick(const KernelCall& c) {
  const i64 n = c.out[0].size();
  const PoolSizes s(c, c.in[1].shape());
  with_floating(c, [&]<class T>() {
    const Scratch winners(c, static_cast<std::size_t>(n) * sizeof(i64));
    find_winners<T>(c, c.in[1], s, winners.as<i64>(), true);
    launch(c, &pick_kernel<T>, blocks_for(n), c.in[0].as<const T>(), winners.as<const i64>(), c.out[0].as<T>(), n);
  });
}
void max_pool_grad(const KernelCall& c) {
  const Operand &g = c.in[0], &x = c.in[1], &dx = c.out[0];
  if (g.size() == 0) return fill_zero(c, dx.data, dx.spec->bytes());
  const PoolSizes s(c, x.shape());
  with_floating(c, [&]<class T>() {
    const Scratch winners(c, static_cast<std::size_t>(g.size()) * sizeof(i64));
    find_winners<T>(c, x, s, winners.as<i64>(), true);
    launch(c, &max_grad_kernel<T>, blocks_for(dx.size()), g.as<const T>(), winners.as<const i64>(), dx.as<T>(), s);
  });
}
void avg_pool(const KernelCall& c) {
  const PoolSizes s(c, c.in[0].shape());
  with_floating(c, [&]<class T>() {
    launch(c, &mean_kernel<T>, blocks_for(c.out[0].size()), c.in[0].as<const T>(), c.out[0].as<T>(), s);
  });
}
void avg_pool_grad(const KernelCall& c) {
  const Operand &g = c.in[0], &dx = c.out[0];
  if (g.size() == 0) return fill_zero(c, dx.data, dx.spec->bytes());
  const PoolSizes s(c, c.in[1].shape());
  with_floating(
      c, [&]<class T>() { launch(c, &mean_grad_kernel<T>, blocks_for(dx.size()), g.as<const T>(), dx.as<T>(), s); });
}

}  // namespace TANDEM_NS::cuda
