// Definitions of cpu/pointwise/broadcast.hpp.
#pragma once
#include "tandem/cpu/pointwise/broadcast.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

// Adds an axis inside the others, or extends the innermost one where that is equivalent for every input.
TANDEM_INLINE void add_axis(BroadcastAxes& a, i64 size, const i64 (&stride)[max_broadcast_inputs]) {
  bool joins = a.rank > 0;
  for (int k = 0; k < a.inputs && joins; ++k) joins = a.stride[k][a.rank - 1] == stride[k] * size;
  if (!joins) a.size[a.rank++] = 1;
  a.size[a.rank - 1] *= size;
  for (int k = 0; k < a.inputs; ++k) a.stride[k][a.rank - 1] = stride[k];
}

}  // namespace detail

TANDEM_INLINE BroadcastAxes broadcast_axes(Span<const Shape* const> inputs, const Shape& output) {
  BroadcastAxes a;
  a.inputs = static_cast<int>(inputs.size());
  i64 full[max_rank][max_broadcast_inputs] = {};
  for (int k = 0; k < a.inputs; ++k) {
    const Shape& x = *inputs[static_cast<std::size_t>(k)];
    i64 step = 1;
    for (int d = 1; d <= x.rank(); ++d) {
      const i64 n = x.dim(x.rank() - d);
      full[output.rank() - d][k] = n == 1 ? 0 : step;
      step *= n;
    }
  }
  for (int d = 0; d < output.rank(); ++d)
    if (output.dim(d) != 1) detail::add_axis(a, output.dim(d), full[d]);
  if (a.rank == 0) detail::add_axis(a, 1, {});
  return a;
}

}  // namespace TANDEM_NS::cpu
