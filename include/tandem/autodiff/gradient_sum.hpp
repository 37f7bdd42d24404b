// GradientSum: accumulates the gradients of one value. Row-sparse gradients are collected and combined once, so a
// sum of n of them costs as much as their contents, not n times the full tensor.
#pragma once
#include <memory>
#include <utility>

#include "tandem/core/indexed_slices.hpp"
#include "tandem/util/id_map.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::detail {

/// Sums of blocks of tensors: a sum is added in blocks of `block`, whose sums are added in blocks again, so that the
/// rounding error grows with the logarithm of the number of tensors.
class BlockSums {
 public:
  static constexpr i64 block = 64;

  /// Counts an addition to the sum of the present block. If that makes another block begin, `sum` is put away, and true
  /// returned.
  template <class Take>
  bool ends_block(const Take& take_sum) {
    if (++count_ % block) [[likely]]
      return false;
    put_away(take_sum());
    return true;
  }
  /// Calls f with the sums that have been put away.
  template <class F>
  void each(const F& f) const {
    if (!levels_) return;
    for (const Tensor& t : *levels_)
      if (t.is_set()) f(t);
  }
  bool any() const { return levels_ != nullptr; }
  void clear() { levels_.reset(), count_ = 0; }

 private:
  void put_away(Tensor sum);

  // [i]: the sum of fewer than `block` blocks of block^(i + 1) tensors each, or unset; null before the first block
  // ends.
  std::unique_ptr<LeanVector<Tensor>> levels_;
  i64 count_ = 0;
};

/// Row-sparse gradients of one value. Gradients of the same range of rows are added immediately, in blocks, so the
/// memory held is bounded by the number of distinct ranges.
class RowSum {
 public:
  void add(Gradient&& g);
  /// Whether the ranges hold more rows than the value has: they overlap, and a dense sum is smaller.
  bool exceeds_dense() const;
  /// Calls f with gradients that have the same sum.
  template <class F>
  void each(const F& f) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      blocks_[i].each([&](const Tensor& t) { f(parts_[i].with_values(t)); });
      f(Gradient(parts_[i]));
    }
  }
  /// Returns the sum: row-sparse, or dense where it covers all rows or ranges overlap.
  Gradient put_together();

 private:
  LeanVector<Gradient> parts_;
  LeanVector<BlockSums> blocks_;  // by part, which has the sum of its last block
  LeanVector<int> earlier_;       // by part: the part before it that begins at the same row, or -1
  IdMap from_;                    // first row + 1 -> the latest part that begins there
  i64 rows_ = 0;                  // total over all ranges
};

/// The sum of gradients, dense or row-sparse.
class GradientSum {
 public:
  bool is_set() const { return sum_.is_set() || rows_; }
  void add(Gradient&& g) {
    if (is_set()) add_further(std::move(g));
    else sum_ = std::move(g);
  }
  void add(const GradientSum& other) {
    other.blocks_.each([this](const Tensor& t) { add(Gradient(t)); });
    if (other.sum_.is_set()) add(Gradient(other.sum_));
    if (other.rows_) other.rows_->each([this](Gradient&& g) { add(std::move(g)); });
  }
  /// The sum of everything added so far, as one gradient; unset if nothing was added.
  Gradient& value() {
    if (rows_ || blocks_.any()) [[unlikely]]
      put_together();
    return sum_;
  }
  /// Returns the sum in dense form and clears it.
  Tensor take_dense() {
    if (rows_ || sum_.is_sparse() || blocks_.any()) [[unlikely]]
      return take_value();
    return std::move(sum_).dense();
  }

 private:
  void add_further(Gradient&& g);
  void put_together();
  Tensor take_value();
  RowSum& rows();

  Gradient sum_;                  // of the last block; or the only gradient, where rows_ is null
  std::unique_ptr<RowSum> rows_;  // the row-sparse gradients
  BlockSums blocks_;              // of the dense additions to a first gradient
};

}  // namespace TANDEM_NS::detail
