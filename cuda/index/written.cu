// The CUDA kernels with which a TensorArray notes which elements have been written, and checks what is read. What is
// wrong is reported at the next wait.
#include "cuda/number.hpp"
#include "cuda/report.hpp"

namespace TANDEM_NS::cuda {
namespace {

template <class I>
__global__ void __launch_bounds__(block_size)
    mark_kernel(const I* index, bool* marks, i64 n, Reporter report, const char* unit, const char* what) {
  const i64 at = static_cast<i64>(*index);
  if (threadIdx.x != 0 || !report.in_range(at, 0, n)) return;
  if (marks[at]) report.complain(unit, what, at);
  marks[at] = true;
}
template <class I>
__global__ void __launch_bounds__(block_size) check_marks_kernel(const I* indices, const bool* marks, i64 marked, i64 n,
                                                                 Reporter report, const char* unit, const char* what) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const i64 at = static_cast<i64>(indices[i]);
    if (report.in_range(at, i, marked) && !marks[at]) report.complain(unit, what, at);
  }
}
__global__ void __launch_bounds__(block_size)
    check_all_marks_kernel(const bool* marks, i64 n, Reporter report, const char* unit, const char* what) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    if (!marks[i]) report.complain(unit, what, i);
}

// The result is input 0.
void copy_input(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  if (y.data != x.data && y.size())
    check(cudaMemcpyAsync(y.data, x.data, y.spec->bytes(), cudaMemcpyDeviceToDevice, queue_of(c).stream), c.op, "copy");
}
constexpr const char* missing = "has not been written";

}  // namespace

void mark_row(const KernelCall& c) {
  copy_input(c);
  with_dtype<dtypes::index>(c, c.in[1].spec->dtype, [&]<class I>() {
    launch(c, &mark_kernel<I>, 1, c.in[1].as<const I>(), c.out[0].as<bool>(), c.out[0].size(), Reporter(c), "element",
           "has been written before; an element is written once");
  });
}
void check_row(const KernelCall& c) {
  const Operand &indices = c.in[0], &marks = c.in[1];
  const i64 n = indices.size();
  copy_input(c);
  if (n == 0) return;
  with_dtype<dtypes::index>(c, indices.spec->dtype, [&]<class I>() {
    launch(c, &check_marks_kernel<I>, blocks_for(n), indices.as<const I>(), marks.as<const bool>(), marks.size(), n,
           Reporter(c), "element", missing);
  });
}
void check_rows(const KernelCall& c) {
  const Operand& marks = c.in[1];
  copy_input(c);
  if (const i64 n = marks.size())
    launch(c, &check_all_marks_kernel, blocks_for(n), marks.as<const bool>(), n, Reporter(c), "element", missing);
}

}  // namespace TANDEM_NS::cuda
