// A plain walk over the elements of a broadcast, for kernels without loops of their own: strings, checks of values.
#pragma once
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/pointwise/broadcast.hpp"

namespace TANDEM_NS::cpu {

/// Calls visit(i, index) for each element i of `output`; index[k] is the corresponding element of operand k.
template <class Visit>
void for_each_element(Span<const Operand> in, const Shape& output, Visit visit) {
  if (output.size() == 0) return;
  const Shape* shapes[max_broadcast_inputs];
  for (std::size_t k = 0; k < in.size(); ++k) shapes[k] = &in[k].spec->shape;
  const BroadcastAxes axes = broadcast_axes({shapes, in.size()}, output);
  BroadcastRows rows(axes, 0);
  i64 index[max_broadcast_inputs] = {};
  for (i64 i = 0; i < output.size(); rows.next()) {
    for (i64 j = 0; j < axes.inner(); ++j, ++i) {
      for (int k = 0; k < axes.inputs; ++k) index[k] = rows.offset(k) + (axes.repeats_inner(k) ? 0 : j);
      visit(i, index);
    }
  }
}

}  // namespace TANDEM_NS::cpu
