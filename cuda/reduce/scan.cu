// The CUDA kernels of cumsum, cumprod, cumulative_max, linear_scan and shift. A block scans a row along the axis, or a
// part of a long one whose parts before it are joined first; where many short or interleaved rows lie side by side, a
// thread scans a row. linear_scan, whose steps are not joined pairwise, always has a thread for each row.
#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "cuda/reduce/folds.hpp"
#include "tandem/attrs/reduce.hpp"

namespace TANDEM_NS::cuda {
namespace {

// A tensor as [outer, n, inner] around the axis.
struct Rows {
  i64 outer = 1, n, inner = 1;
  bool exclusive, reverse;

  explicit Rows(const KernelCall& c) {
    const auto& a = c.attrs.get<rules::ScanAttrs>();
    const Shape& s = c.in[0].shape();
    const int axis = resolve_axis(c.op, a.axis, s.rank());
    for (int d = 0; d < axis; ++d) outer *= s[d];
    for (int d = axis + 1; d < s.rank(); ++d) inner *= s[d];
    n = s[axis];
    exclusive = a.exclusive;
    reverse = a.reverse;
  }
  /// `rows` contiguous rows of n elements.
  Rows(i64 rows, i64 elements) : outer(rows), n(elements), exclusive(true), reverse(false) {}

  TANDEM_HD i64 count() const { return outer * inner; }
  /// The element at a position of a row, counted in the direction of the scan.
  TANDEM_HD i64 at(i64 row, i64 position) const {
    const i64 k = reverse ? n - 1 - position : position;
    return (row / inner * n + k) * inner + row % inner;
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

constexpr i64 own = 4;  // consecutive positions of a thread
constexpr i64 block_width = own * block_size;
#ifdef TANDEM_CUDA_EMULATED
constexpr i64 part_width = block_width;  // so that tests reach several parts
#else
constexpr i64 part_width = 32 * block_width;
#endif

// Joins the values of the threads before this one, and those of all threads.
template <class F, class A = typename F::Acc>
__device__ A before_this(const F& f, A* room, A mine, A& all) {
  room[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned distance = 1; distance < block_size; distance *= 2) {
    const A left = threadIdx.x >= distance ? room[threadIdx.x - distance] : f.start();
    __syncthreads();
    room[threadIdx.x] = f.join(left, room[threadIdx.x]);
    __syncthreads();
  }
  const A before = threadIdx.x ? room[threadIdx.x - 1] : f.start();
  all = room[block_size - 1];
  __syncthreads();
  return before;
}
// Scans `width` positions of a row per block, from the carry of the parts before them on. Without y: joins them only,
// into the carry.
template <class F, class T>
__global__ void __launch_bounds__(block_size)
    scan_blocks_kernel(F f, const T* x, T* y, Rows s, typename F::Acc* carries, i64 parts, i64 width) {
  using A = typename F::Acc;
  __shared__ A room[block_size];
  for (i64 block = blockIdx.x; block < s.count() * parts; block += gridDim.x) {
    const i64 row = block / parts, first = block % parts * width, end = first + width < s.n ? first + width : s.n;
    A carry = carries && y ? carries[block] : f.start();
    for (i64 tile = first; tile < end; tile += block_width) {
      const i64 begin = tile + static_cast<i64>(threadIdx.x) * own;
      A value[own], sum = f.start();
      for (i64 k = 0; k < own; ++k) {
        value[k] = begin + k < end ? static_cast<A>(x[s.at(row, begin + k)]) : f.start();
        sum = f.join(sum, value[k]);
      }
      A all;
      A running = f.join(carry, before_this(f, room, sum, all));
      carry = f.join(carry, all);
      for (i64 k = 0; k < own && y && begin + k < end; ++k) {
        const A next = f.join(running, value[k]);
        y[s.at(row, begin + k)] = static_cast<T>(s.exclusive ? running : next);
        running = next;
      }
    }
    if (!y && threadIdx.x == 0) carries[block] = carry;
  }
}
template <class F, class T>
void scan(const KernelCall& c, const F& f) {
  using A = typename F::Acc;
  const Rows s(c);
  const T* const x = c.in[0].as<const T>();
  T* const y = c.out[0].as<T>();
  const i64 rows = s.count();
  if (s.inner == 1 ? s.n < 64 : rows > 8192 || s.n < 1024)
    return launch(c, &scan_kernel<F, T>, blocks_for(rows), f, x, y, s);
  // By the length alone: a row gives the same bits beside few others and beside many.
  const i64 parts = (s.n + part_width - 1) / part_width, width = (s.n + parts - 1) / parts;
  const unsigned blocks = blocks_for(rows * parts, 1);
  const Scratch carries(c, parts > 1 ? static_cast<std::size_t>(rows * parts) * sizeof(A) : 0);
  A* const carry = carries.as<A>();
  if (parts > 1) {
    launch(c, &scan_blocks_kernel<F, T>, blocks, f, x, nullptr, s, carry, parts, width);
    launch(c, &scan_blocks_kernel<F, A>, blocks_for(rows, 1), f, carry, carry, Rows(rows, parts), nullptr, 1, parts);
  }
  launch(c, &scan_blocks_kernel<F, T>, blocks, f, x, y, s, carry, parts, width);
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
__global__ void __launch_bounds__(block_size) shift_kernel(const T* x, T* y, Rows s, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, from = s.reverse ? s.inner : -s.inner;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 position = i / s.inner % s.n;
    y[i] = position == (s.reverse ? s.n - 1 : 0) ? T(0) : x[i + from];
  }
}

template <DTypes Set, class F>
void run(const KernelCall& c, const F& f) {
  if (c.out[0].size()) with_dtype<Set>(c, c.in[0].spec->dtype, f);
}
unsigned blocks_of(const Rows& s) { return blocks_for(s.outer * s.inner); }

}  // namespace

void cumsum(const KernelCall& c) {
  run<numbers>(c, [&]<class T>() { scan<RunningSum<T>, T>(c, {}); });
}
void cumprod(const KernelCall& c) {
  run<numbers>(c, [&]<class T>() { scan<ProdFold<T>, T>(c, {}); });
}
void cumulative_max(const KernelCall& c) {
  run<dtypes::floating>(c, [&]<class T>() { scan<ExtremeFold<T, true>, T>(c, {}); });
}
void linear_scan(const KernelCall& c) {
  const Rows s(c);
  run<dtypes::floating | dtypes::complex | DType::complex128>(c, [&]<class T>() {
    launch(c, &linear_kernel<T>, blocks_of(s), c.in[0].as<const T>(), c.in[1].as<const T>(), c.out[0].as<T>(), s);
  });
}
void shift(const KernelCall& c) {
  const Rows s(c);
  run<numbers>(c, [&]<class T>() {
    launch(c, &shift_kernel<T>, blocks_for(c.out[0].size()), c.in[0].as<const T>(), c.out[0].as<T>(), s,
           c.out[0].size());
  });
}

}  // namespace TANDEM_NS::cuda
