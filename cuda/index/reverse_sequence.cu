// The CUDA kernel of reverse_sequence. Elements are moved as unsigned integers of the same width.
#include <cstdint>

#include "cuda/number.hpp"
#include "cuda/report.hpp"
#include "tandem/base/axes.hpp"
#include "tandem/ops/index/reverse_sequence.hpp"

namespace TANDEM_NS::cuda {
namespace {

struct alignas(16) Wide {
  u64 half[2];
};
// The two axes, and the strides along them.
struct SequenceShape {
  i64 sequences, batch_step, length, seq_step;
};

template <class T, class I>
__global__ void __launch_bounds__(block_size)
    reverse_kernel(const T* x, const I* lengths, T* y, SequenceShape s, i64 total, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 b = i / s.batch_step % s.sequences, t = i / s.seq_step % s.length;
    const i64 length = static_cast<i64>(lengths[b]);
    if (!report.in_range(length, b, s.length + 1)) {
      y[i] = T{};
      continue;
    }
    y[i] = t < length ? x[i + (length - 1 - 2 * t) * s.seq_step] : x[i];
  }
}
template <class T>
void reverse_as(const KernelCall& c, const SequenceShape& s) {
  const auto run = [&]<class I>(I*) {
    const i64 total = c.out[0].size();
    launch(c, &reverse_kernel<T, I>, blocks_for(total), c.in[0].as<const T>(), c.in[1].as<const I>(), c.out[0].as<T>(),
           s, total, Reporter(c));
  };
  if (c.in[1].spec->dtype == DType::int64) run(static_cast<i64*>(nullptr));
  else run(static_cast<std::int32_t*>(nullptr));
}

}  // namespace

void reverse_sequence(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::ReverseSequenceAttrs>();
  const Shape& x = c.in[0].shape();
  if (x.size() == 0) return;
  const int seq = resolve_axis(c.op, a.seq_axis, x.rank()), batch = resolve_axis(c.op, a.batch_axis, x.rank());
  SequenceShape s{x[batch], 1, x[seq], 1};
  for (int d = batch + 1; d < x.rank(); ++d) s.batch_step *= x[d];
  for (int d = seq + 1; d < x.rank(); ++d) s.seq_step *= x[d];
  switch (size_of(c.out[0].spec->dtype)) {
    case 1: return reverse_as<std::uint8_t>(c, s);
    case 2: return reverse_as<std::uint16_t>(c, s);
    case 4: return reverse_as<std::uint32_t>(c, s);
    case 8: return reverse_as<u64>(c, s);
    default: return reverse_as<Wide>(c, s);
  }
}

}  // namespace TANDEM_NS::cuda
