// The CUDA kernels that cut a signal into frames and add frames up: each element of the result gathers what it is made
// of.
#include "cuda/index/width.hpp"
#include "cuda/index_type.hpp"
#include "cuda/layout/copy.hpp"
#include "tandem/attrs/signal.hpp"
#include "tandem/base/axes.hpp"
#include "tandem/ops/cuda_kernels.hpp"

namespace TANDEM_NS::cuda {
namespace {

// Sizes and steps in elements; those behind the axis count.
template <class I>
struct Frames {
  I count, length, step;  // of a signal's frames
  I signal, total;        // of one signal, and of the result
};
// Frames of a signal of frames[outer, count, length], zeros behind its end.
template <class T, class I>
__global__ void __launch_bounds__(block_size) frame_kernel(T* y, const T* x, Frames<I> s) {
  const I grid = static_cast<I>(gridDim.x) * blockDim.x;
  for (I i = static_cast<I>(blockIdx.x) * blockDim.x + threadIdx.x; i < s.total; i += grid) {
    const I row = i / s.length, e = i - row * s.length, o = row / s.count, f = row - o * s.count;
    const u64 at = static_cast<u64>(f) * s.step + e;
    y[i] = at < s.signal ? x[static_cast<u64>(o) * s.signal + at] : T{};
  }
}
// The sums of the frames, in their order.
template <class T, class I>
__global__ void __launch_bounds__(block_size) overlap_kernel(T* y, const T* x, Frames<I> s) {
  const I grid = static_cast<I>(gridDim.x) * blockDim.x;
  for (I i = static_cast<I>(blockIdx.x) * blockDim.x + threadIdx.x; i < s.total; i += grid) {
    const I o = i / s.signal, at = i - o * s.signal;
    const I last = at / s.step, end = last < s.count ? last + 1 : s.count;
    T sum(0);
    for (I f = at < s.length ? 0 : (at - s.length) / s.step + 1; f < end; ++f)
      sum += x[(static_cast<u64>(o) * s.count + f) * s.length + (at - f * s.step)];
    y[i] = sum;
  }
}

i64 sizes_after(const Shape& s, int axis) {
  i64 n = 1;
  for (int d = axis + 1; d < s.rank(); ++d) n *= s.dim(d);
  return n;
}

// Frames of in0 along an axis, which in the result has their number.
void cut(const KernelCall& c, int axis) {
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 total = y.size(), n = x.shape().dim(axis), inner = sizes_after(x.shape(), axis);
  if (total == 0) return;
  const i64 step = std::min(c.attrs.get<rules::FrameAttrs>().step, n + 1);  // the second frame is behind the signal
  const i64 count = y.shape().dim(axis), length = y.shape().dim(axis + 1);
  with_index(std::max(total, (n + 1) * inner), [&]<class I>() {
    const auto as = [](i64 k) { return static_cast<I>(k); };
    const Frames<I> s{as(count), as(length * inner), as(step * inner), as(n * inner), as(total)};
    with_width(y.spec->dtype,
               [&]<class T>() { launch(c, &frame_kernel<T, I>, blocks_for(total), y.as<T>(), x.as<const T>(), s); });
  });
}
template <class T>
void add_up(const KernelCall& c, int axis, i64 parts) {
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 total = y.size() * parts, inner = sizes_after(y.shape(), axis) * parts, n = y.shape().dim(axis);
  const i64 step = std::min(c.attrs.get<rules::FrameAttrs>().step, n + 1);  // larger ones are of single frames
  const i64 count = x.shape().dim(axis), length = x.shape().dim(axis + 1);
  with_index(std::max(total, (n + 1) * inner), [&]<class I>() {
    const auto as = [](i64 k) { return static_cast<I>(k); };
    const Frames<I> s{as(count), as(length * inner), as(step * inner), as(n * inner), as(total)};
    launch(c, &overlap_kernel<T, I>, blocks_for(total), y.as<T>(), x.as<const T>(), s);
  });
}

}  // namespace

void frame(const KernelCall& c) {
  cut(c, resolve_axis(c.op, c.attrs.get<rules::FrameAttrs>().axis, c.in[0].shape().rank()));
}
void frames_like(const KernelCall& c) {
  cut(c, resolve_axis(c.op, c.attrs.get<rules::FrameAttrs>().axis, c.out[0].shape().rank()));
}
void overlap_and_add(const KernelCall& c) {
  const int axis = resolve_axis(c.op, c.attrs.get<rules::FrameAttrs>().axis, c.in[0].shape().rank());
  const Operand& y = c.out[0];
  if (y.size() == 0) return;
  if (c.in[0].size() == 0) return fill_zero(c, y.data, y.spec->bytes());
  switch (y.spec->dtype) {
    case DType::float64: return add_up<double>(c, axis, 1);
    case DType::complex64: return add_up<float>(c, axis, 2);
    case DType::complex128: return add_up<double>(c, axis, 2);
    default: return add_up<float>(c, axis, 1);
  }
}

}  // namespace TANDEM_NS::cuda
