// Definitions of autodiff/gradient_sum.hpp.
#pragma once
#include "tandem/autodiff/gradient_sum.hpp"
#include "tandem/ops/pointwise/arith.hpp"

namespace TANDEM_NS::detail {

TANDEM_INLINE void BlockSums::put_away(Tensor sum) {
  if (!levels_) levels_ = std::make_unique<LeanVector<Tensor>>();
  std::size_t level = 0;
  for (i64 n = count_ / block;; n /= block, ++level) {
    if (level == levels_->size()) levels_->push_back(Tensor());
    Tensor& to = (*levels_)[level];
    to = to.is_set() ? std::move(to) + std::move(sum) : std::move(sum);
    if (n % block) return;
    sum = std::exchange(to, Tensor());
  }
}
TANDEM_INLINE void RowSum::add(Gradient&& g) {
  const i64 first = g.first_row();
  if (first >= 0) {
    const i64 count = g.values().shape().dim(0);
    const u64 row = static_cast<u64>(first) + 1;
    const int latest = from_.find(row);
    for (int i = latest; i >= 0; i = earlier_[static_cast<std::size_t>(i)]) {
      Gradient& sum = parts_[static_cast<std::size_t>(i)];
      if (sum.values().shape().dim(0) != count) continue;
      if (blocks_[static_cast<std::size_t>(i)].ends_block([&] { return sum.values(); })) sum = std::move(g);
      else sum = sum.with_values(std::move(sum).values() + g.values());
      return;
    }
    from_.set(row, static_cast<int>(parts_.size()));
    earlier_.push_back(latest);
    rows_ += count;
  } else {
    earlier_.push_back(-1);
  }
  parts_.push_back(std::move(g));
  blocks_.emplace_back();
}
TANDEM_INLINE Gradient RowSum::put_together() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Gradient& sum = parts_[i];
    blocks_[i].each([&](const Tensor& t) { sum = sum.with_values(std::move(sum).values() + t); });
    blocks_[i].clear();
  }
  return parts_.size() == 1 ? std::move(parts_[0]) : parts_[0].join(parts_);
}
TANDEM_INLINE bool RowSum::exceeds_dense() const {
  const i64 rows = parts_[0].like().is_set() ? parts_[0].like().shape().dim(0) : none;
  return rows != none && rows_ > rows;
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
  if (!sum_.is_set()) return void(sum_ = std::move(g));
  if (blocks_.ends_block([this] { return std::move(sum_).dense(); })) sum_ = std::move(g);
  else sum_ = Gradient(std::move(sum_).dense() + std::move(g).dense());
}
[[gnu::noinline]] TANDEM_INLINE Tensor GradientSum::take_value() {
  const Tensor dense = value().tensor();
  sum_ = Gradient();
  return dense;
}
[[gnu::noinline]] TANDEM_INLINE void GradientSum::put_together() {
  blocks_.each([this](const Tensor& t) { sum_ = Gradient(std::move(sum_).dense() + t); });
  blocks_.clear();
  if (!rows_) return;
  Gradient all = rows_->put_together();
  rows_.reset();
  sum_ = sum_.is_set() ? Gradient(std::move(sum_).dense() + all.tensor()) : std::move(all);
}

}  // namespace TANDEM_NS::detail
