// The CUDA kernels of pooling and its gradients: one thread per element of the result. A gradient gathers from the
// windows that read its element, in their order, so sums are reproducible. The winner of a window is its first maximum,
// or its first NaN, as in cpu/conv/pool.inc.
#include "cuda/conv/window.hpp"
#include "cuda/index_type.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/reduce/folds.hpp"

namespace TANDEM_NS::cuda {
namespace {

// I: the type of the numbers of elements; their differences and positions are of its signed type.
template <class I>
struct PoolSizes {
  using Number = std::make_signed_t<I>;
  using Axis = std::conditional_t<sizeof(I) == 4, NarrowAxis, WindowAxis>;
  Number batch, channels;
  Axis axis[3];

  PoolSizes(const Shape& x, const WindowAxes& axes)
      : batch(static_cast<Number>(x.dim(0))), channels(static_cast<Number>(x.dim(-1))) {
    for (int i = 0; i < 3; ++i) axis[i] = Axis(axes.axis[i]);
  }
  TANDEM_HD Number image_in() const { return axis[0].in * axis[1].in * axis[2].in * channels; }
  TANDEM_HD Number image_out() const { return axis[0].out * axis[1].out * axis[2].out * channels; }
};
// Calls f(the sizes of an image and its windows), with the narrowest type for all numbers.
template <class F>
void with_sizes(const KernelCall& c, const Shape& x, const F& f) {
  const auto& a = c.attrs.get<rules::PoolAttrs>();
  const WindowAxes axes(a, x, a.ksize.begin());
  i64 result = x.dim(0) * x.dim(-1), window = 1, largest = x.size();
  for (const WindowAxis& w : axes.axis) {
    result *= w.out, window = std::min(window * w.window, i64(1) << 31);
    largest = std::max(largest, largest_number(w));
  }
  with_index(std::max({largest, result, window}), [&]<class I>() { f(PoolSizes<I>(x, axes)); });
}

// Calls f(element, number of its pixel, its channel) for this thread's share of all elements.
template <class I, class F>
__device__ void each_element(const PoolSizes<I>& s, std::make_signed_t<I> total, const F& f) {
  using N = std::make_signed_t<I>;
  const I step = static_cast<I>(gridDim.x) * blockDim.x;
  for (I i = static_cast<I>(blockIdx.x) * blockDim.x + threadIdx.x; i < static_cast<I>(total); i += step) {
    const auto at = static_cast<N>(i), pixel = at / s.channels;
    f(at, pixel, at - pixel * s.channels);
  }
}
// Calls f(element of the result, its pixel, its channel) for this thread's share of the results.
template <class I, class F>
__device__ void each_result(const PoolSizes<I>& s, const F& f) {
  each_element(s, s.batch * s.image_out(),
               [&](auto i, auto pixel, auto channel) { f(i, result_pixel(s.axis, pixel), channel); });
}
// The same for the elements of the image.
template <class I, class F>
__device__ void each_input(const PoolSizes<I>& s, const F& f) {
  each_element(s, s.batch * s.image_in(),
               [&](auto i, auto pixel, auto channel) { f(i, input_pixel(s.axis, pixel), channel); });
}
template <class I, class N>
__device__ N elements_of(const PoolSizes<I>& s, N z, N y, N x) {
  return count_inside(s.axis[0], z) * count_inside(s.axis[1], y) * count_inside(s.axis[2], x);
}

template <class T, class I>
__global__ void __launch_bounds__(block_size) max_kernel(const T* x, T* y, PoolSizes<I> s) {
  each_result(s, [&](auto i, const auto& p, auto channel) {
    const T* const image = x + p.image * s.image_in() + channel;
    T best = lowest_of<T>();
    each_read(s.axis, p, [&](auto pixel, auto) { best = rules::max(best, image[pixel * s.channels]); });
    y[i] = best;
  });
}
template <class T, class I>
__global__ void __launch_bounds__(block_size) mean_kernel(const T* x, T* y, PoolSizes<I> s) {
  each_result(s, [&](auto i, const auto& p, auto channel) {
    const T* const image = x + p.image * s.image_in() + channel;
    T sum(0);
    std::make_signed_t<I> n = 0;
    each_read(s.axis, p, [&](auto pixel, auto) { sum += image[pixel * s.channels], ++n; });
    y[i] = n > 0 ? sum / static_cast<T>(n) : sum;
  });
}
// The elements of the image, or of the batch, that win; -1 for windows in the padding.
template <class T, class I>
__global__ void __launch_bounds__(block_size) winner_kernel(const T* x, i64* winners, PoolSizes<I> s, bool of_batch) {
  each_result(s, [&](auto i, const auto& p, auto channel) {
    const auto origin = p.image * s.image_in();
    std::make_signed_t<I> at = -1;
    T best{};
    each_read(s.axis, p, [&](auto pixel, auto) {
      const auto own = pixel * s.channels + channel;
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
template <class T, class I>
__global__ void __launch_bounds__(block_size) max_grad_kernel(const T* g, const i64* winners, T* dx, PoolSizes<I> s) {
  each_input(s, [&](auto i, const auto& p, auto channel) {
    const auto origin = p.image * s.image_out() + channel;
    T sum(0);
    each_reader(s.axis, p, [&](auto pixel, auto) {
      const auto result = origin + pixel * s.channels;
      if (winners[result] == i) sum += g[result];
    });
    dx[i] = sum;
  });
}
template <class T, class I>
__global__ void __launch_bounds__(block_size) mean_grad_kernel(const T* g, T* dx, PoolSizes<I> s) {
  each_input(s, [&](auto i, const auto& p, auto channel) {
    const auto origin = p.image * s.image_out() + channel;
    T sum(0);
    each_reader(s.axis, p, [&](auto pixel, auto) {
      const auto t = result_pixel(s.axis, pixel);
      sum += g[origin + pixel * s.channels] / static_cast<T>(elements_of(s, t.at[0], t.at[1], t.at[2]));
    });
    dx[i] = sum;
  });
}

template <class T>
void find_winners(const KernelCall& c, const Operand& x, i64 results, i64* winners, bool of_batch) {
  with_sizes(c, x.shape(), [&]<class I>(const PoolSizes<I>& s) {
    launch(c, &winner_kernel<T, I>, blocks_for(results), x.as<const T>(), winners, s, of_batch);
  });
}
template <class F>
void with_floating(const KernelCall& c, const F& f) {
  if (c.out[0].size()) with_dtype<dtypes::floating>(c, c.out[0].spec->dtype, f);
}

}  // namespace

void max_pool(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  if (y.size() == 0) return;
  with_dtype<dtypes::real>(c, x.spec->dtype, [&]<class T>() {
    with_sizes(c, x.shape(), [&]<class I>(const PoolSizes<I>& s) {
      launch(c, &max_kernel<T, I>, blocks_for(y.size()), x.as<const T>(), y.as<T>(), s);
    });
  });
}
void max_pool_argmax(const KernelCall& c) {
  const Operand& y = c.out[0];
  if (y.size() == 0) return;
  const bool of_batch = c.attrs.get<rules::PoolAttrs>().include_batch;
  with_dtype<dtypes::real>(c, c.in[0].spec->dtype,
                           [&]<class T>() { find_winners<T>(c, c.in[0], y.size(), y.as<i64>(), of_batch); });
}
void max_pool_pick(const KernelCall& c) {
  const i64 n = c.out[0].size();
  with_floating(c, [&]<class T>() {
    const Scratch winners(c, static_cast<std::size_t>(n) * sizeof(i64));
    find_winners<T>(c, c.in[1], n, winners.as<i64>(), true);
    launch(c, &pick_kernel<T>, blocks_for(n), c.in[0].as<const T>(), winners.as<const i64>(), c.out[0].as<T>(), n);
  });
}
void max_pool_grad(const KernelCall& c) {
  const Operand &g = c.in[0], &x = c.in[1], &dx = c.out[0];
  if (g.size() == 0) return fill_zero(c, dx.data, dx.spec->bytes());
  with_floating(c, [&]<class T>() {
    const Scratch winners(c, static_cast<std::size_t>(g.size()) * sizeof(i64));
    find_winners<T>(c, x, g.size(), winners.as<i64>(), true);
    with_sizes(c, x.shape(), [&]<class I>(const PoolSizes<I>& s) {
      launch(c, &max_grad_kernel<T, I>, blocks_for(dx.size()), g.as<const T>(), winners.as<const i64>(), dx.as<T>(), s);
    });
  });
}
void avg_pool(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  if (y.size() == 0) return;
  with_floating(c, [&]<class T>() {
    with_sizes(c, x.shape(), [&]<class I>(const PoolSizes<I>& s) {
      launch(c, &mean_kernel<T, I>, blocks_for(y.size()), x.as<const T>(), y.as<T>(), s);
    });
  });
}
void avg_pool_grad(const KernelCall& c) {
  const Operand &g = c.in[0], &dx = c.out[0];
  if (g.size() == 0) return fill_zero(c, dx.data, dx.spec->bytes());
  with_floating(c, [&]<class T>() {
    with_sizes(c, c.in[1].shape(), [&]<class I>(const PoolSizes<I>& s) {
      launch(c, &mean_grad_kernel<T, I>, blocks_for(dx.size()), g.as<const T>(), dx.as<T>(), s);
    });
  });
}

}  // namespace TANDEM_NS::cuda
