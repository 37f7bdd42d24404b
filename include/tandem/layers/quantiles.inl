// Definitions of layers/quantiles.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tandem/layers/quantiles.hpp"
#include "tandem/ops/cast.hpp"

namespace TANDEM_NS::layers::detail {

// Some values of sorted data, each with the number of values that it stands for. As in Keras.
struct Summary {
  std::vector<double> values, weights;

  // Linear interpolation of y over ascending x; constant outside.
  static double interpolated(double at, const std::vector<double>& x, const std::vector<double>& y) {
    if (at <= x.front()) return y.front();
    if (at >= x.back()) return y.back();
    const auto i = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), at) - x.begin());
    return y[i - 1] + (at - x[i - 1]) * (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
  }
  // About 1 / epsilon values, at equal distances in the sum of the weights.
  void compress(double epsilon) {
    if (static_cast<double>(values.size()) * epsilon < 1) return;
    std::vector<double> sums(weights.size()), parts, new_values, new_sums;
    std::partial_sum(weights.begin(), weights.end(), sums.begin());
    for (const double s : sums) parts.push_back(s / sums.back());
    const auto n = static_cast<std::size_t>(std::ceil(1 / epsilon - 1e-9));
    for (std::size_t i = 0; i < n; ++i) {
      const double part = epsilon + static_cast<double>(i) * epsilon;
      new_values.push_back(static_cast<float>(interpolated(part, parts, values)));
      new_sums.push_back(interpolated(part, parts, sums));
    }
    values = std::move(new_values);
    std::adjacent_difference(new_sums.begin(), new_sums.end(), new_sums.begin());
    weights = std::move(new_sums);
  }
};

TANDEM_INLINE void QuantileSketch::add(const char* layer, const Tensor& numbers) {
  for (const double x : cast(numbers, DType::float64).to_vector<double>()) {
    if (std::isnan(x)) errors::raise<errors::InvalidArgumentError>(layer, "cannot adapt to data with a NaN");
    buffer_.push_back(x);
    if (buffer_.size() == capacity_) carry(std::exchange(buffer_, {}));
  }
}
TANDEM_INLINE void QuantileSketch::carry(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  for (std::size_t level = 0;; ++level) {
    if (level == levels_.size()) levels_.emplace_back();
    std::vector<double>& other = levels_[level];
    if (other.empty()) {
      other = std::move(values);
      return;
    }
    std::vector<double> both(values.size() + other.size());
    std::merge(values.begin(), values.end(), other.begin(), other.end(), both.begin());
    other.clear();
    // In turns the first and the second of each two, so that errors cancel.
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = both[2 * i + (keeps_odd_ ? 1 : 0)];
    keeps_odd_ = !keeps_odd_;
  }
}
TANDEM_INLINE i64 QuantileSketch::size() const {
  std::size_t n = buffer_.size();
  for (std::size_t level = 0; level < levels_.size(); ++level) n += levels_[level].size() << level;
  return static_cast<i64>(n);
}
// The values at the ranks first, first + step ... of all that were added.
TANDEM_INLINE std::vector<double> QuantileSketch::at_ranks(std::size_t first, std::size_t step) const {
  std::vector<std::pair<double, std::size_t>> kept;  // and for how many they stand
  for (const double x : buffer_) kept.emplace_back(x, 1);
  for (std::size_t level = 0; level < levels_.size(); ++level)
    for (const double x : levels_[level]) kept.emplace_back(x, std::size_t{1} << level);
  std::sort(kept.begin(), kept.end());
  std::vector<double> r;
  std::size_t end = 0, rank = first;
  for (const auto& [x, count] : kept)
    for (end += count; rank < end; rank += step) r.push_back(x);
  return r;
}
TANDEM_INLINE std::vector<double> QuantileSketch::boundaries(i64 bins, double epsilon) const {
  const double step = std::max(static_cast<double>(size()) / (1 / epsilon), 1.);  // as in Keras, to the rounding
  Summary summary;
  summary.values = at_ranks(static_cast<std::size_t>(step - 1), static_cast<std::size_t>(step));
  summary.weights.assign(summary.values.size(), step);
  summary.compress(epsilon);
  summary.compress(1 / static_cast<double>(bins));
  summary.values.pop_back();
  return summary.values;
}

}  // namespace TANDEM_NS::layers::detail
