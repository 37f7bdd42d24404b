// The CUDA kernels of cumsum, cumprod, cumulative_max, linear_scan and shift: one thread per row along the axis, so
// that each row is added in order. Fast for many rows; a single long row runs at the speed of one thread.
#include "cuda/folds.hpp"
#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "tandem/ops/reduce/attrs.hpp"

namespace TANDEM_NS::cuda {
namespace {

// A tensor as [outer, n, inner] around the axis.
struct Rows {
  i64 outer = 1, n, inner = 1;
  bool exclusive, reverse;

  explicit Rows(const KernelCall& c) {
    const auto& a = c.attrs.get<ScanAttrs>();
    const Shape& s = c.in[0].shape();
    const int axis = resolve_axis(c.op, a.axis, s.rank());
    for (int d = 0; d < axis; ++d) outer *= s[d];
    for (int d = axis + 1; d < s.rank(); ++d) inner *= s[d];
    n = s[axis];
    exclusive = a.exclusive;
    reverse = a.reverse;
  }
};

// Calls f(position, first of its row?, the carried value) along each row; f returns the next carry.
template <class T, class F>
__device__ void each_row(const Rows& s, T start, const F& f) {
  const i64 stride = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 r = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; r < s.outer * s.inner; r += stride) {
    const i64 begin = r / s.inner * s.n * s.inner + r % s.inner;
    const i64 first = s.reverse ? begin + (s.n - 1) * s.inner : begin, step = s.reverse ? -s.inner : s.inner;
    T value = start;
    for (i64 k = 0; k < s.n; ++k) value = f(first + k * step, k == 0, value);
  }
}
template <class F, class T>
__global__ void __launch_bounds__(block_size) scan_kernel(F join, const T* x, T* y, Rows s) {
  using A = typename F::Acc;
  each_row(s, join.start(), [&](i64 i, bool, A value) {
    const A next = join.join(value, static_cast<A>(x[i]));
    y[i] = static_cast<T>(s.exclusive ? value : next);
    return next;
  });
}
// Sums, of floats in double precision.
template <class T>
struct RunningSum {
  using Acc = typename WrapOf<typename WideNumber<T>::type>::type;
  TANDEM_HD Acc start() const { return Acc(0); }
  TANDEM_HD Acc join(Acc a, Acc b) const { return static_cast<Acc>(a + b); }
};
template <class T>
__global__ void __launch_bounds__(block_size) linear_kernel(const T* a, const T* b, T* y, Rows s) {
  using W = typename WideNumber<T>::type;
  each_row(s, W(0), [&](i64 i, bool first, W value) {
    // Neither a * 0 nor 0 * value: the other factor may be infinite.
    const W next = first || a[i] == T(0) ? W(b[i]) : W(b[i]) + W(a[i]) * value;
    y[i] = static_cast<T>(next);
    return next;
  });
}
template <class T>
__global__ void __launch_bounds__(block_size) shift_kernel(const T* x, T* y, Rows s) {
  each_row(s, T(0), [&](i64 i, bool, T value) {
    y[i] = value;
    return x[i];
  });
}

template <DTypes Set, class F>
void run(const KernelCall& c, const F& f) {
  if (c.out[0].size()) with_dtype<Set>(c, c.in[0].spec->dtype, f);
}
unsigned blocks_of(const Rows& s) { return blocks_for(s.outer * s.inner); }

}  // namespace

void cumsum(const KernelCall& c) {
  const Rows s(c);
  run<numbers>(c, [&]<class T>() {
    launch(c, &scan_kernel<RunningSum<T>, T>, blocks_of(s), RunningSum<T>{}, c.in[0].as<const T>(), c.out[0].as<T>(),
           s);
  });
}
void cumprod(const KernelCall& c) {
  const Rows s(c);
  run<numbers>(c, [&]<class T>() {
    launch(c, &scan_kernel<ProdFold<T>, T>, blocks_of(s), ProdFold<T>{}, c.in[0].as<const T>(), c.out[0].as<T>(), s);
  });
}
void cumulative_max(const KernelCall& c) {
  Rows s(c);
  s.exclusive = false;  // as on the CPU
  run<dtypes::floating>(c, [&]<class T>() {
    launch(c, &scan_kernel<ExtremeFold<T, true>, T>, blocks_of(s), ExtremeFold<T, true>{}, c.in[0].as<const T>(),
           c.out[0].as<T>(), s);
  });
}
void linear_scan(const KernelCall& c) {
  const Rows s(c);
  run<dtypes::floating | dtypes::complex | DType::complex128>(c, [&]<class T>() {
    launch(c, &linear_kernel<T>, blocks_of(s), c.in[0].as<const T>(), c.in[1].as<const T>(), c.out[0].as<T>(), s);
  });
}
void shift(const KernelCall& c) {
  const Rows s(c);
  run<numbers>(
      c, [&]<class T>() { launch(c, &shift_kernel<T>, blocks_of(s), c.in[0].as<const T>(), c.out[0].as<T>(), s); });
}

}  // namespace TANDEM_NS::cuda
