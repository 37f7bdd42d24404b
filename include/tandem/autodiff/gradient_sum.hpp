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

/// Dense gradients are added in blocks of `block`, whose sums are added in blocks again, so that the rounding error
/// grows with the logarithm of their number.
class GradientSum {
 public:
  bool is_set() const { return sum_.is_set() || rows_; }
  void add(Gradient&& g) {
    if (is_set()) add_further(std::move(g));
    else sum_ = std::move(g);
  }
  void add(const GradientSum& other) {
    if (other.blocks_)
      for (const Tensor& t : *other.blocks_)
        if (t.is_set()) add(Gradient(t));
    if (other.sum_.is_set()) add(Gradient(other.sum_));
    if (other.rows_)
      for (const Gradient& g : other.rows_->parts()) add(Gradient(g));
  }
  /// The sum of everything added so far, as one gradient; unset if nothing was added.
  Gradient& value() {
    if (rows_ || blocks_) [[unlikely]]
      put_together();
    return sum_;
  }
  /// Returns the sum in dense form and clears it.
  Tensor take_dense() {
    if (rows_ || sum_.is_sparse() || blocks_) [[unlikely]]
      return take_value();
    return std::move(sum_).dense();
  }

 private:
  static constexpr i64 block = 64;

  void add_further(Gradient&& g);
  void finish_block();
  void put_together();
  Tensor take_value();
  RowSum& rows();

  Gradient sum_;                  // of the last block; or the only gradient, where rows_ is null
  std::unique_ptr<RowSum> rows_;  // the row-sparse gradients
  // [i]: the sum of fewer than `block` blocks of block^(i + 1) gradients each, or unset; null before the first block
  // ends.
  std::unique_ptr<LeanVector<Tensor>> blocks_;
  i64 count_ = 0;  // of the dense additions to a first gradient
};

}  // namespace TANDEM_NS::detail
