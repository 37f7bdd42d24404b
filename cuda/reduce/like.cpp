// The CUDA kernels of broadcast_like (a strided copy with repetition; its gradient, sum_to_like, is in reduce.cu)
// and of reshapes that cannot be views.
#include "cuda/layout/copy.hpp"
#include "tandem/attrs/reduce.hpp"
#include "tandem/cpu/reduce/plan.hpp"

namespace TANDEM_NS::cuda {

void broadcast_like(const KernelCall& c) {
  const Shape &x = c.in[0].shape(), &y = c.out[0].shape();
  if (y.size() == 0) return;
  const std::uint32_t lacks = c.attrs.get<rules::LikeAttrs>().axis.mask(c.op, y.rank());
  const std::uint32_t repeated = cpu::broadcast_mask(y, x, lacks);
  i64 to[max_rank];
  cpu::dense_strides(y, to);
  // From the innermost axis outwards: kept axes are x's, in order.
  i64 from[max_rank], step = 1;
  for (int d = y.rank() - 1; d >= 0; --d) {
    const bool kept = !(repeated >> d & 1u);
    from[d] = kept ? step : 0;
    if (kept) step *= y[d];
  }
  cpu::StridedCopy n;
  for (int d = 0; d < y.rank(); ++d) n.add(y[d], to[d], from[d]);
  copy_strided(c, n, tandem::size_of(c.out[0].spec->dtype), c.out[0].data, c.in[0].data);
}

void copy_whole(const KernelCall& c) {
  cpu::StridedCopy n;
  n.add(c.out[0].size(), 1, 1);
  copy_strided(c, n, tandem::size_of(c.out[0].spec->dtype), c.out[0].data, c.in[0].data);
}

}  // namespace TANDEM_NS::cuda
