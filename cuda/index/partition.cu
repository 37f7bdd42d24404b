// The CUDA kernels of dynamic_partition and dynamic_stitch. A number out of range is reported at the next wait.
#include <bit>

#include "cuda/index/sort.hpp"
#include "cuda/index/width.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/number.hpp"
#include "cuda/report.hpp"

namespace TANDEM_NS::cuda {
namespace {

// Row k of y is row rows[k] of x; zeros where that is negative.
template <class T>
__global__ void __launch_bounds__(block_size) rows_kernel(const T* x, const i64* rows, T* y, i64 inner, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 k = i / inner, row = rows[k];
    y[i] = row < 0 ? T{} : x[row * inner + i - k * inner];
  }
}
void copy_rows(const KernelCall& c, const Operand& x, const i64* rows, const Operand& y) {
  const i64 total = y.size();
  if (total == 0) return;
  with_width(y.spec->dtype, [&]<class T>() {
    launch(c, &rows_kernel<T>, blocks_for(total), x.as<const T>(), rows, y.as<T>(), total / y.shape()[0], total);
  });
}

// The last of the rows that go to one place owns it.
template <class I>
__global__ void __launch_bounds__(block_size)
    owner_kernel(const I* indices, i64 rows, long long* owner, i64 n, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    if (const i64 at = static_cast<i64>(indices[i]); report.in_range(at, i, rows))
      atomicMax(&owner[at], static_cast<long long>(i));
}

}  // namespace

void partition(const KernelCall& c) {
  const Operand &x = c.in[0], &numbers = c.in[1];
  const i64 n = numbers.size();
  if (n == 0) return;
  const Scratch room(c, 2 * static_cast<std::size_t>(n) * sizeof(i64));
  i64* const rows = room.as<i64>();
  sort_rows(c, numbers, 1, static_cast<i64>(c.out.size()), rows + n, rows);
  i64 first = 0;
  for (const Operand& y : c.out) {
    copy_rows(c, x, rows + first, y);
    first += y.shape()[0];
  }
}
void stitch(const KernelCall& c) {
  const Operand &indices = c.in[0], &x = c.in[1], &y = c.out[0], &owner = c.out[1];
  const i64 n = indices.size();
  if (owner.size()) check(cudaMemsetAsync(owner.data, 0xff, owner.spec->bytes(), queue_of(c).stream), c.op, "memset");
  if (n)
    with_dtype<dtypes::index>(c, indices.spec->dtype, [&]<class I>() {
      launch(c, &owner_kernel<I>, blocks_for(n), indices.as<const I>(), owner.size(), owner.as<long long>(), n,
             Reporter(c));
    });
  copy_rows(c, x, owner.as<const i64>(), y);
}

}  // namespace TANDEM_NS::cuda
