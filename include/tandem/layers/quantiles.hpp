// Quantiles of numbers that come one after another, in bounded memory: what Discretization adapts with.
#pragma once
#include <vector>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::layers::detail {

/// Sorted buffers of equal length, of which two that stand for equally many values are merged by keeping every second
/// value. Source: Munro and Paterson, "Selection and Sorting with Limited Storage", 1980. Fewer than 2 * capacity
/// values are kept as they are. Of n values the ranks of those that are kept are within log2(n / capacity) /
/// (2 * capacity) * n: 0.02 % up to 10^12 values for the default capacity, which takes 0.5 MB for each doubling of n.
class TANDEM_API QuantileSketch {
 public:
  explicit QuantileSketch(std::size_t capacity = std::size_t{1} << 16) : capacity_(capacity) {}
  /// Adds the elements of a tensor of real numbers. What is kept depends on their order alone, not on how they are
  /// divided among calls.
  ///   throws  errors::InvalidArgumentError, in the layer's name, for a NaN
  void add(const char* layer, const Tensor& numbers);
  /// How many have been added.
  i64 size() const;
  /// The values that divide all into bins of equal size, one less than bins, as Keras's Discretization finds them: of
  /// the sorted values about 1 / epsilon are taken, and the boundaries interpolated between them.
  std::vector<double> boundaries(i64 bins, double epsilon) const;

 private:
  void carry(std::vector<double> values);
  std::vector<double> at_ranks(std::size_t first, std::size_t step) const;
  std::size_t capacity_;
  std::vector<double> buffer_;
  std::vector<std::vector<double>> levels_;  // [i]: empty, or sorted values of which each stands for 2^i
  bool keeps_odd_ = false;
};

}  // namespace TANDEM_NS::layers::detail
