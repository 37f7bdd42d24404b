// Definition of RowCode (core/indexed_slices.hpp): row-sparse gradients in dense form, and their sums.
#pragma once
#include "tandem/autodiff/gradient_sum.hpp"
#include "tandem/core/indexed_slices.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/util/sort.hpp"

namespace TANDEM_NS::detail {

TANDEM_INLINE Tensor concat_rows(std::vector<Tensor> parts) {
  return parts.size() == 1 ? std::move(parts[0]) : concat(parts, 0);
}
TANDEM_INLINE Tensor joined_values(const LeanVector<Gradient>& parts) {
  std::vector<Tensor> values;
  for (const Gradient& g : parts) values.push_back(g.values());
  return concat_rows(std::move(values));
}
// The rows of all ranges, then the other indices; int64 if dtypes differ.
TANDEM_INLINE Tensor joined_indices(const LeanVector<Gradient>& gradients) {
  std::vector<Tensor> parts;
  std::vector<i64> rows;
  for (const Gradient& g : gradients) {
    if (g.first_row() < 0) parts.push_back(g.indices());
    else
      for (i64 i = 0; i < g.values().shape().dim(0); ++i) rows.push_back(g.first_row() + i);
  }
  if (!rows.empty()) {
    const DeviceScope there(gradients[0].values().device());
    parts.insert(parts.begin(), constant(rows));
  }
  bool is_mixed = false;
  for (const Tensor& t : parts) is_mixed |= t.dtype() != parts[0].dtype();
  if (is_mixed)
    for (Tensor& t : parts) t = cast(t, DType::int64);
  return concat_rows(std::move(parts));
}

// Row-sparse, or dense where the sum covers all rows or ranges overlap.
TANDEM_INLINE Gradient join_rows(LeanVector<Gradient>& unsorted) {
  const auto row = [&](std::size_t i) { return static_cast<u64>(unsorted[i].first_row()); };  // indices after ranges
  LeanVector<Gradient> parts;
  parts.reserve(unsorted.size());
  for (const std::size_t i :
       stable_order(unsorted.size(), [&](std::size_t a, std::size_t b) { return row(a) < row(b); }))
    parts.push_back(std::move(unsorted[i]));
  const i64 first = parts[0].first_row();
  bool overlap = false, adjoin = first >= 0;
  i64 next = first;
  for (const Gradient& g : parts) {
    adjoin &= g.first_row() == next;
    if (g.first_row() < 0) break;
    overlap |= g.first_row() < next;
    next = g.first_row() + g.values().shape().dim(0);
  }
  const Tensor like = parts[0].like();
  if (!adjoin) {
    IndexedSlices s{joined_values(parts), joined_indices(parts), like};
    return overlap ? Gradient(convert_to_tensor(s)) : Gradient(std::move(s));
  }
  if (first == 0 && next == like.shape().dim(0)) return joined_values(parts);
  return Gradient::of_rows(joined_values(parts), first, like);
}
TANDEM_INLINE Tensor indices_of_range(const Gradient& g) {
  std::vector<i64> rows(static_cast<std::size_t>(g.values().shape().dim(0)));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = g.first_row() + static_cast<i64>(i);
  const DeviceScope there(g.values().device());
  return constant(rows);
}
TANDEM_INLINE Tensor dense_form(const Gradient& g) {
  return g.first_row() < 0 ? convert_to_tensor(g.slices()) : set_rows_into_zeros(g.values(), g.first_row(), g.like());
}

TANDEM_INLINE constexpr RowCode row_code{&indices_of_range, &dense_form, &join_rows};

}  // namespace TANDEM_NS::detail
