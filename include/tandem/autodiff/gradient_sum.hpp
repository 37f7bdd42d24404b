// GradientSum: what flows back to one value. Row-sparse gradients are collected and put together once, so that a sum of
// n of them costs what they hold, not n times the tensor that they are rows of.
#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tandem/core/indexed_slices.hpp"

namespace TANDEM_NS::detail {

/// Row-sparse gradients to one value. Those to the same range of rows are added at once, so what is held is bounded by
/// the different ranges.
class RowSum {
 public:
  void add(Gradient&& g);
  /// Whether the ranges hold more rows than the value has: they overlap, and a dense sum is smaller.
  bool exceeds_dense() const;
  const std::vector<Gradient>& parts() const { return parts_; }
  /// The sum: row-sparse, or dense where all rows are there or ranges overlap.
  Gradient put_together();

 private:
  Tensor joined_values() const;
  Tensor joined_indices() const;

  std::vector<Gradient> parts_;
  std::map<std::pair<i64, i64>, std::size_t> by_range_;  // first row and number of rows: which part
  i64 rows_ = 0;                                         // of all ranges
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
  /// All that was added, as one gradient; unset if that is nothing.
  Gradient& value() {
    if (rows_) [[unlikely]]
      put_together();
    return sum_;
  }
  /// The same in its dense form; the sum is empty then.
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

  Gradient sum_;                  // the dense ones; or the only one, where rows_ is null
  std::unique_ptr<RowSum> rows_;  // the row-sparse ones
};

}  // namespace TANDEM_NS::detail
