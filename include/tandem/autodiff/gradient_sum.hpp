// GradientSum: accumulates the gradients of one value. Row-sparse gradients are collected and combined once, so a
// sum of n of them costs as much as their contents, not n times the full tensor.
#pragma once
#include <memory>
#include <utility>

#include "tandem/core/indexed_slices.hpp"
#include "tandem/util/id_map.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::detail {

/// Row-sparse gradients of one value. Gradients of the same range of rows are added immediately, so the memory held
/// is bounded by the number of distinct ranges.
class RowSum {
 public:
  void add(Gradient&& g);
  /// Whether the ranges hold more rows than the value has: they overlap, and a dense sum is smaller.
  bool exceeds_dense() const;
  const LeanVector<Gradient>& parts() const { return parts_; }
  /// Returns the sum: row-sparse, or dense where it covers all rows or ranges overlap.
  Gradient put_together() { return parts_.size() == 1 ? std::move(parts_[0]) : parts_[0].join(parts_); }

 private:
  LeanVector<Gradient> parts_;
  LeanVector<int> earlier_;  // by part: the part before it that begins at the same row, or -1
  IdMap from_;               // first row + 1 -> the latest part that begins there
  i64 rows_ = 0;             // total over all ranges
};

class GradientSum {
 public:
  bool is_set() const { return sum_.is_set() || rows_; }
  void add(Gradient&& g) {
    if (is_set()) add_further(std::move(g));
    else sum_ = std::move(g);
  }
  void add(const GradientSum& other) {
    if (other.sum_.is_set()) add(Gradient(other.sum_));
    if (other.rows_)
      for (const Gradient& g : other.rows_->parts()) add(Gradient(g));
  }
  /// The sum of everything added so far, as one gradient; unset if nothing was added.
  Gradient& value() {
    if (rows_) [[unlikely]]
      put_together();
    return sum_;
  }
  /// Returns the sum in dense form and clears it.
  Tensor take_dense() {
    if (rows_ || sum_.is_sparse()) [[unlikely]]
      return take_rows();
    return std::move(sum_).dense();
  }

 private:
  void add_further(Gradient&& g);
  void put_together();
  Tensor take_rows();
  RowSum& rows();

  Gradient sum_;                  // the dense sum; or the only gradient, where rows_ is null
  std::unique_ptr<RowSum> rows_;  // the row-sparse gradients
};

}  // namespace TANDEM_NS::detail
