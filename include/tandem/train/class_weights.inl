// Definitions of train/class_weights.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/tensor.hpp"
#include "tandem/ops/transfer.hpp"
#include "tandem/train/class_weights.hpp"

namespace TANDEM_NS::train::detail {

namespace impl {
[[noreturn]] inline void raise_labels(const Tensor& labels, const char* how) {
  errors::raise<errors::InvalidArgumentError>(
      "fit", "class_weight needs the number of each example's class, or its one-hot row, as labels; these are " +
                 to_string(labels.spec()) + how + ". Put sample weights into the data set");
}
// The classes of `rows` labels of `columns` numbers each: calls use(row, class).
template <class T, class F>
void each_class(const Tensor& labels, i64 rows, i64 columns, const F& use) {
  const Tensor host = labels.cpu();
  const T* label = host.data<T>().data();
  for (i64 i = 0; i < rows; ++i, label += columns) {
    if (columns == 1) {
      if constexpr (std::is_integral_v<T>) {
        if (!std::in_range<i64>(*label)) raise_labels(labels, " with numbers of 2^63 and more");
      } else {
        const auto number = static_cast<double>(*label);
        if (!(std::abs(number) < 0x1p63))
          raise_labels(labels, " with numbers that are not finite, or of 2^63 and more");
        if (number != std::floor(number)) raise_labels(labels, " with fractions");
      }
      use(i, static_cast<i64>(*label));
      continue;
    }
    double sum = 0;
    i64 largest = 0;
    bool is_negative = false;
    for (i64 k = 0; k < columns; ++k) {
      sum += static_cast<double>(label[k]);
      is_negative |= label[k] < T(0);
      if (label[k] > label[largest]) largest = k;
    }
    if (is_negative || !(std::abs(sum - 1) < 1e-3)) raise_labels(labels, "");
    use(i, largest);
  }
}
}  // namespace impl

TANDEM_INLINE ClassWeights::ClassWeights(const std::map<i64, double>& weights) {
  for (const auto& [label, weight] : weights) of_.emplace_back(label, static_cast<float>(weight));
  if (of_.empty() || of_.back().first < 0 || of_.back().first >= 4096) return;
  dense_.assign(static_cast<std::size_t>(of_.back().first) + 1, 1.f);
  for (const auto& [label, weight] : of_)
    if (label >= 0) dense_[static_cast<std::size_t>(label)] = weight;
}
TANDEM_INLINE float ClassWeights::at(i64 label) const {
  if (label >= 0 && static_cast<std::size_t>(label) < dense_.size()) return dense_[static_cast<std::size_t>(label)];
  const auto at = std::lower_bound(of_.begin(), of_.end(), label,
                                   [](const std::pair<i64, float>& entry, i64 wanted) { return entry.first < wanted; });
  return at != of_.end() && at->first == label ? at->second : 1.f;
}
TANDEM_INLINE Tensor ClassWeights::of(const Tensor& labels) const {
  const int rank = labels.rank();
  const bool is_real = (dtypes::real | dtypes::half_floating | dtypes::boolean).has(labels.dtype());
  if (!is_real || (rank != 1 && rank != 2)) impl::raise_labels(labels, "");
  const i64 rows = labels.shape()[0], columns = rank == 2 ? labels.shape()[1] : i64{1};
  std::vector<float> weights(static_cast<std::size_t>(rows));
  const auto use = [&](i64 row, i64 label) { weights[static_cast<std::size_t>(row)] = at(label); };
  switch (labels.dtype()) {
    case DType::int32: impl::each_class<std::int32_t>(labels, rows, columns, use); break;
    case DType::int64: impl::each_class<i64>(labels, rows, columns, use); break;
    case DType::uint64: impl::each_class<u64>(labels, rows, columns, use); break;
    case DType::uint8: impl::each_class<std::uint8_t>(labels, rows, columns, use); break;
    case DType::float32: impl::each_class<float>(labels, rows, columns, use); break;
    default: impl::each_class<double>(cast(labels, DType::float64), rows, columns, use);
  }
  const DeviceScope host(Device{});
  return constant(weights).to(labels.device());
}

}  // namespace TANDEM_NS::train::detail
