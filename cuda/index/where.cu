// The CUDA kernels of where(cond), repeat by a tensor, sequence_mask, unravel_index and invert_permutation.
#include <cstring>

#include "cuda/index/prefix.hpp"
#include "cuda/index/width.hpp"
#include "cuda/number.hpp"
#include "cuda/report.hpp"
#include "tandem/cpu/create/fill.hpp"

namespace TANDEM_NS::cuda {
namespace {

// Integers and bool_ are zero if all bits are clear, so only their width matters.
template <class F>
void with_truth(const Operand& x, const F& f) {
  switch (x.spec->dtype) {
    case DType::float32: return f.template operator()<float>();
    case DType::float64: return f.template operator()<double>();
    case DType::complex64: return f.template operator()<Complex<float>>();
    case DType::complex128: return f.template operator()<Complex<double>>();
    case DType::int64:
    case DType::uint64: return f.template operator()<u64>();
    case DType::int32:
    case DType::uint32: return f.template operator()<std::uint32_t>();
    default: break;
  }
  if (size_of(x.spec->dtype) == 2) f.template operator()<std::uint16_t>();
  else f.template operator()<std::uint8_t>();
}
template <class T>
struct IsTrue {
  const T* x;
  __device__ i64 operator()(i64 i) const { return x[i] != T(0); }
};
// Writes the position of element i, if it is true, into row `at` of those there are.
struct WritePosition {
  i64* to;
  i64 rows;
  int rank;
  i64 size[max_rank];
  __device__ void operator()(i64 i, i64 is_true, i64 at) const {
    if (!is_true || at >= rows) return;
    for (int d = rank; d-- > 0; i /= size[d]) to[at * rank + d] = i % size[d];
  }
};

template <class I>
struct Repeats {
  const I* x;
  Reporter report;
  const char *unit, *what;
  __device__ i64 operator()(i64 i) const {
    if (x[i] < 0) report.complain(unit, what, i);
    return x[i] < 0 ? 0 : static_cast<i64>(x[i]);
  }
};
struct WriteStart {
  i64* starts;
  __device__ void operator()(i64 i, i64, i64 at) const { starts[i] = at; }
};
// y[k] = the last position that starts at k or before.
__global__ void __launch_bounds__(block_size) repeated_kernel(const i64* starts, i64 n, i64* y, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < total; k += step) {
    i64 low = 0;
    for (i64 high = n; high - low > 1;) {
      const i64 middle = (low + high) / 2;
      if (starts[middle] <= k) low = middle;
      else high = middle;
    }
    y[k] = low;
  }
}

template <class T, class I>
__global__ void __launch_bounds__(block_size) sequence_mask_kernel(const I* lengths, T* y, T one, i64 row, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step)
    y[i] = i % row < static_cast<i64>(lengths[i / row]) ? one : T{};
}

struct Sizes {
  int rank;
  i64 size[max_rank];
};
template <class I>
__global__ void __launch_bounds__(block_size)
    unravel_kernel(const I* indices, I* y, Sizes s, i64 all, i64 n, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const i64 index = static_cast<i64>(indices[i]);
    const bool fits = report.in_range(index, i, all);
    i64 rest = fits ? index : 0;
    for (int d = s.rank; d-- > 0; rest /= fits ? s.size[d] : 1)
      y[d * n + i] = static_cast<I>(fits ? rest % s.size[d] : 0);
  }
}

template <class I>
__global__ void __launch_bounds__(block_size) invert_kernel(const I* x, I* y, i64 n, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    if (report.in_range(static_cast<i64>(x[i]), i, n)) y[x[i]] = static_cast<I>(i);
}
// Of numbers that occur twice, only one position was written.
template <class I>
__global__ void __launch_bounds__(block_size)
    check_inverse_kernel(const I* x, const I* y, i64 n, Reporter report, const char* unit, const char* what) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const i64 at = static_cast<i64>(x[i]);
    if (at >= 0 && at < n && y[at] != static_cast<I>(i)) report.complain(unit, what, i);
  }
}

}  // namespace

void where_true(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  WritePosition write{y.as<i64>(), y.shape()[0], x.shape().rank(), {}};
  for (int d = 0; d < write.rank; ++d) write.size[d] = x.shape()[d];
  if (y.size() == 0) return;
  with_truth(x, [&]<class T>() { each_prefix(c, x.size(), IsTrue<T>{x.as<const T>()}, write); });
}
void repeat_indices(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 n = x.size(), total = y.size();
  if (n == 0) return;
  const Scratch starts(c, static_cast<std::size_t>(n) * sizeof(i64));
  with_dtype<dtypes::index>(c, x.spec->dtype, [&]<class I>() {
    each_prefix(c, n, Repeats<I>{x.as<const I>(), Reporter(c), "the number of repeats at position", "is negative"},
                WriteStart{starts.as<i64>()});
  });
  if (total) launch(c, &repeated_kernel, blocks_for(total), starts.as<const i64>(), n, y.as<i64>(), total);
}
void sequence_mask(const KernelCall& c) {
  const Operand &lengths = c.in[0], &y = c.out[0];
  const i64 total = y.size(), row = y.shape().dim(-1);
  if (total == 0) return;
  alignas(16) char element[16] = {};
  cpu::write_number(element, y.spec->dtype, 1, 1);
  with_dtype<dtypes::index>(c, lengths.spec->dtype, [&]<class I>() {
    with_width(y.spec->dtype, [&]<class T>() {
      T one;
      std::memcpy(&one, element, sizeof one);
      launch(c, &sequence_mask_kernel<T, I>, blocks_for(total), lengths.as<const I>(), y.as<T>(), one, row, total);
    });
  });
}
void unravel(const KernelCall& c) {
  const Operand &indices = c.in[0], &dims = c.in[1];
  const i64 n = indices.size();
  Sizes s{static_cast<int>(dims.size()), {}};
  i64 all = 1;
  for (int d = 0; d < s.rank; ++d) {
    const i64 size = s.size[d] = dims.as<const i64>()[d];
    if (size < 0)
      errors::raise<errors::InvalidArgumentError>(c.op, "the size " + std::to_string(size) + " is negative");
    if (__builtin_mul_overflow(all, size, &all))
      errors::raise<errors::InvalidArgumentError>(c.op, "the product of the sizes is too large");
  }
  if (n == 0) return;
  with_dtype<dtypes::index>(c, indices.spec->dtype, [&]<class I>() {
    launch(c, &unravel_kernel<I>, blocks_for(n), indices.as<const I>(), c.out[0].as<I>(), s, all, n, Reporter(c));
  });
}
void invert_permutation(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 n = x.size();
  if (n == 0) return;
  check(cudaMemsetAsync(y.data, 0xff, y.spec->bytes(), queue_of(c).stream), c.op, "memset");
  with_dtype<dtypes::index>(c, x.spec->dtype, [&]<class I>() {
    launch(c, &invert_kernel<I>, blocks_for(n), x.as<const I>(), y.as<I>(), n, Reporter(c));
    launch(c, &check_inverse_kernel<I>, blocks_for(n), x.as<const I>(), y.as<const I>(), n, Reporter(c),
           "the number at position", "occurs more than once; the input must be a permutation of 0, 1, ...");
  });
}

}  // namespace TANDEM_NS::cuda
