// Definitions of autodiff/gradient_sum.hpp.
#pragma once
#include <algorithm>

#include "tandem/autodiff/gradient_sum.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"

namespace TANDEM_NS::detail {

TANDEM_INLINE Tensor concat_rows(std::vector<Tensor> parts) {
  return parts.size() == 1 ? std::move(parts[0]) : concat(parts, 0);
}

TANDEM_INLINE void RowSum::add(Gradient&& g) {
  const i64 first = g.first_row();
  if (first >= 0) {
    const i64 count = g.values().shape().dim(0);
    const auto [at, fresh] = by_range_.try_emplace({first, count}, parts_.size());
    if (!fresh) {
      Gradient& sum = parts_[at->second];
      sum = Gradient::of_rows(std::move(sum).values() + g.values(), first, g.like());
      return;
    }
    rows_ += count;
  }
  parts_.push_back(std::move(g));
}
TANDEM_INLINE bool RowSum::exceeds_dense() const {
  const i64 rows = parts_[0].like().is_set() ? parts_[0].like().shape().dim(0) : none;
  return rows != none && rows_ > rows;
}
TANDEM_INLINE Gradient RowSum::put_together() {
  if (parts_.size() == 1) return std::move(parts_[0]);
  const auto order = [](const Gradient& g) { return static_cast<u64>(g.first_row()); };  // indices after ranges
  std::stable_sort(parts_.begin(), parts_.end(),
                   [&](const Gradient& a, const Gradient& b) { return order(a) < order(b); });
  const i64 first = parts_[0].first_row();
  bool overlap = false, adjoin = first >= 0;
  i64 next = first;
  for (const Gradient& g : parts_) {
    adjoin &= g.first_row() == next;
    if (g.first_row() < 0) break;
    overlap |= g.first_row() < next;
    next = g.first_row() + g.values().shape().dim(0);
  }
  const Tensor like = parts_[0].like();
  if (!adjoin) {
    IndexedSlices s{joined_values(), joined_indices(), like};
    return overlap ? Gradient(convert_to_tensor(s)) : Gradient(std::move(s));
  }
  if (first == 0 && next == like.shape().dim(0)) return joined_values();
  return Gradient::of_rows(joined_values(), first, like);
}
TANDEM_INLINE Tensor RowSum::joined_values() const {
  std::vector<Tensor> parts;
  for (const Gradient& g : parts_) parts.push_back(g.values());
  return concat_rows(std::move(parts));
}
// Concatenates the rows of all ranges into one index list; int64 if dtypes differ.
TANDEM_INLINE Tensor RowSum::joined_indices() const {
  std::vector<Tensor> parts;
  std::vector<i64> rows;
  for (const Gradient& g : parts_) {
    if (g.first_row() < 0) parts.push_back(g.slices().indices);
    else
      for (i64 i = 0; i < g.values().shape().dim(0); ++i) rows.push_back(g.first_row() + i);
  }
  if (!rows.empty()) {
    const DeviceScope there(parts_[0].values().device());
    parts.insert(parts.begin(), constant(rows));
  }
  const DType dtype = parts[0].dtype();
  if (!std::all_of(parts.begin(), parts.end(), [&](const Tensor& t) { return t.dtype() == dtype; }))
    for (Tensor& t : parts) t = cast(t, DType::int64);
  return concat_rows(std::move(parts));
}

TANDEM_INLINE RowSum& GradientSum::rows() {
  if (!rows_) {
    rows_ = std::make_unique<RowSum>();
    if (sum_.is_sparse()) rows_->add(std::exchange(sum_, Gradient()));
  }
  return *rows_;
}
[[gnu::noinline]] TANDEM_INLINE void GradientSum::add_further(Gradient&& g) {
  if (g.is_sparse()) {
    rows().add(std::move(g));
    if (!rows_->exceeds_dense()) return;
    g = Gradient(rows_->put_together().tensor());
    rows_.reset();
  } else if (sum_.is_sparse()) {
    rows();
  }
  sum_ = sum_.is_set() ? Gradient(std::move(sum_).dense() + std::move(g).dense()) : std::move(g);
}
[[gnu::noinline]] TANDEM_INLINE Tensor GradientSum::take_rows() {
  const Tensor dense = value().tensor();
  sum_ = Gradient();
  return dense;
}
[[gnu::noinline]] TANDEM_INLINE void GradientSum::put_together() {
  Gradient all = rows_->put_together();
  rows_.reset();
  sum_ = sum_.is_set() ? Gradient(std::move(sum_).dense() + all.tensor()) : std::move(all);
}

}  // namespace TANDEM_NS::detail
