// The CUDA kernel of band_part.
#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "tandem/ops/linalg/band_part.hpp"

namespace TANDEM_NS::cuda {
namespace {

struct Band {
  i64 rows, columns, lower, upper;  // negative: all diagonals on that side
  TANDEM_HD bool has(i64 row, i64 column) const {
    return (lower < 0 || row - column <= lower) && (upper < 0 || column - row <= upper);
  }
};
template <class T>
__global__ void __launch_bounds__(block_size) band_kernel(const T* x, T* y, Band b, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    y[i] = b.has(i / b.columns % b.rows, i % b.columns) ? x[i] : T{};
}
struct alignas(16) Wide {
  u64 half[2];
};
template <class T>
void band_of(const KernelCall& c, const Band& b) {
  const i64 n = c.out[0].size();
  launch(c, &band_kernel<T>, blocks_for(n), c.in[0].as<const T>(), c.out[0].as<T>(), b, n);
}

}  // namespace

void band_part(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::BandPartAttrs>();
  const Operand& y = c.out[0];
  if (y.size() == 0) return;
  const Band b{y.shape().dim(-2), y.shape().dim(-1), a.num_lower, a.num_upper};
  switch (size_of(y.spec->dtype)) {
    case 1: return band_of<std::uint8_t>(c, b);
    case 2: return band_of<std::uint16_t>(c, b);
    case 4: return band_of<std::uint32_t>(c, b);
    case 8: return band_of<u64>(c, b);
    default: return band_of<Wide>(c, b);
  }
}

}  // namespace TANDEM_NS::cuda
