// Definitions of graph/control/scan.hpp.
#pragma once
#include "tandem/graph/control/loop_rows.hpp"
#include "tandem/graph/control/scan.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS::control {

TANDEM_LAZY_INLINE Tensor stack_rows(const std::vector<Tensor>& rows) { return stack(rows); }
TANDEM_LAZY_INLINE std::vector<Tensor> no_rows(const std::vector<Spec>& specs) {
  std::vector<Tensor> r;
  for (const Spec& s : specs) r.push_back(detail::Stack(s, 0).finish());
  return r;
}
TANDEM_LAZY_INLINE Tensor other_rows(const Tensor& x, bool reverse) {
  return reverse ? x(Slice(none, -1)) : x(Slice(1, none));
}
TANDEM_LAZY_INLINE Tensor with_row(const Tensor& row, const Tensor& rows, bool behind) {
  const Tensor one = expand_dims(row, 0);
  return behind ? concat({rows, one}, 0) : concat({one, rows}, 0);
}

}  // namespace TANDEM_NS::control
