// The CUDA kernels that write at indices: scatters and their kin, gradients of gather_nd and take_along_axis, by folds
// of sorted rows (fold_rows.hpp). An index out of range writes nothing and is reported at the next wait.
#include "cuda/index/fold_rows.hpp"
#include "cuda/layout/copy.hpp"
#include "tandem/base/axes.hpp"
#include "tandem/ops/index/gather_nd.hpp"

namespace TANDEM_NS::cuda {
namespace {

template <class I>
__global__ void __launch_bounds__(block_size)
    along_keys_kernel(const I* indices, i64 size, i64 count, i64 inner, i64 none_of, i64* keys, i64* places, i64 n,
                      Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const i64 index = static_cast<i64>(indices[i]), outer = i / (count * inner);
    const bool fits = report.in_range(index, i, size, -size);
    keys[i] = fits ? (outer * size + (index < 0 ? index + size : index)) * inner + i % inner : none_of;
    places[i] = i;
  }
}

void add_into_zeros(const KernelCall& c, const Operand& indices, const Operand& x, const NdIndex& s) {
  fill_zero(c, c.out[0].data, c.out[0].spec->bytes());
  by_vectors(c, indices, s, [&](const SortedRows& rows) { fold_into<Add>(c, x, rows); });
}
// in0, changed by in2 at the indices in1.
template <class F>
void change(const KernelCall& c, const NdIndex& s) {
  const Operand &x = c.in[0], &y = c.out[0];
  if (y.data != x.data && y.size())
    check(cudaMemcpyAsync(y.data, x.data, y.spec->bytes(), cudaMemcpyDeviceToDevice, queue_of(c).stream), c.op, "copy");
  by_vectors(c, c.in[1], s, [&](const SortedRows& rows) { fold_into<F>(c, c.in[2], rows); });
}
template <class F>
void change_nd(const KernelCall& c) {
  change<F>(c, NdIndex(c.out[0].shape(), c.in[1].shape(), 0));
}

}  // namespace

void tensor_scatter_nd_update(const KernelCall& c) { change_nd<Update>(c); }
void tensor_scatter_nd_add(const KernelCall& c) { change_nd<Add>(c); }
void tensor_scatter_nd_max(const KernelCall& c) { change_nd<Max>(c); }
void tensor_scatter_nd_min(const KernelCall& c) { change_nd<Min>(c); }
void update_row(const KernelCall& c) { change<Update>(c, NdIndex(c.out[0].shape(), 1)); }
void add_rows(const KernelCall& c) { change<Add>(c, NdIndex(c.out[0].shape(), c.in[1].size())); }

void scatter_nd(const KernelCall& c) {
  add_into_zeros(c, c.in[0], c.in[1], NdIndex(c.out[0].shape(), c.in[0].shape(), 0));
}
void gather_nd_grad(const KernelCall& c) {
  const auto batch_dims = static_cast<int>(c.attrs.get<rules::GatherNdAttrs>().batch_dims);
  add_into_zeros(c, c.in[1], c.in[0], NdIndex(c.out[0].shape(), c.in[1].shape(), batch_dims));
}
void take_along_axis_grad(const KernelCall& c) {
  const Operand &g = c.in[0], &indices = c.in[1], &y = c.out[0];
  const int axis = resolve_axis(c.op, c.attrs.get<rules::AlongAttrs>().axis, y.shape().rank());
  const i64 n = indices.size(), rows = y.size();
  i64 inner = 1;
  for (int d = axis + 1; d < y.shape().rank(); ++d) inner *= y.shape()[d];
  fill_zero(c, y.data, y.spec->bytes());
  const auto keys = [&](i64* to, i64* places) {
    with_dtype<dtypes::index>(c, indices.spec->dtype, [&]<class I>() {
      launch(c, &along_keys_kernel<I>, blocks_for(n), indices.as<const I>(), y.shape()[axis], indices.shape()[axis],
             inner, rows, to, places, n, Reporter(c));
    });
  };
  sorted_by(c, n, 1, rows, keys, [&](const SortedRows& s) { fold_into<Add>(c, g, s); });
}

}  // namespace TANDEM_NS::cuda
