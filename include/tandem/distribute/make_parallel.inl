// Definitions of distribute/make_parallel.hpp: the division of tensors into slices, sizes unknown in a trace included.
#pragma once
#include <algorithm>
#include <string>

#include "tandem/base/logical_cpus.hpp"
#include "tandem/distribute/make_parallel.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS::distribute {

TANDEM_INLINE i64 Slices::checked(i64 n) {
  if (n < 1)
    errors::raise<errors::InvalidArgumentError>("make_parallel",
                                                "the number of slices must be positive, not " + std::to_string(n));
  return n;
}
TANDEM_INLINE Slices::Slices(std::initializer_list<std::string_view> devices)
    : count_(checked(static_cast<i64>(devices.size()))) {
  for (const std::string_view name : devices) devices_.push_back(device_named(name));
}
TANDEM_INLINE Slices::Slices(std::vector<Device> devices)
    : devices_(std::move(devices)), count_(checked(static_cast<i64>(devices_.size()))) {
  for (const Device d : devices_) tandem::detail::check_logical_cpu(d);
}

namespace detail {

TANDEM_INLINE Partition::Partition(const char* op, const Slices& slices, const std::vector<Tensor>& tensors)
    : op_(op), devices_(slices.devices()), count_(slices.count()) {
  if (tensors.empty())
    errors::raise<errors::InvalidArgumentError>(op, "there is no tensor among the arguments that could be divided");
  const Tensor& first = tensors[0];
  bool is_known = true;
  for (const Tensor& x : tensors) {
    if (x.rank() == 0)
      errors::raise<errors::InvalidArgumentError>(
          op, "an argument is a scalar, which has no rows: " + to_string(x.spec()) + " (let f capture it)");
    is_known = is_known && x.shape()[0].is_known();
  }
  for (const Tensor& x : tensors)
    if (is_known && x.shape()[0] != first.shape()[0])
      errors::raise<errors::InvalidArgumentError>(
          op, "arguments differ in their numbers of rows: " + to_string(first.spec()) + " and " + to_string(x.spec()));
  home_ = first.device();
  if (is_known) count_ = std::max<i64>(1, std::min<i64>(count_, first.shape()[0]));
  parts_.resize(static_cast<std::size_t>(count_));
  for (const Tensor& x : tensors) is_known ? divide(x) : divide_unknown(x);
}
TANDEM_INLINE void Partition::add(i64 i, const Tensor& rows) {
  parts_[static_cast<std::size_t>(i)].push_back(devices_.empty() ? rows : rows.to(device(i)));
}
TANDEM_INLINE void Partition::divide(const Tensor& x) {
  rows_ = x.shape()[0];
  sizes_.clear();
  for (i64 i = 0; i < count_; ++i) sizes_.push_back(rows_ / count_ + (i < rows_ % count_));
  const std::vector<Tensor> parts = count_ == 1 ? std::vector<Tensor>{x} : tandem::split(x, sizes_, 0);
  for (i64 i = 0; i < count_; ++i) add(i, parts[static_cast<std::size_t>(i)]);
}
// Each tensor by its own number of rows: if they differ at run time, f raises.
TANDEM_INLINE void Partition::divide_unknown(const Tensor& x) {
  total_ = tandem::shape(x, {.out_type = DType::int64})[0];
  const Tensor least = floordiv(total_, count_), more = total_ - least * count_;  // so many slices have one row more
  counts_.clear();
  Tensor begin = zeros_like(total_);
  for (i64 i = 0; i < count_; ++i) {
    const Tensor end = least * (i + 1) + minimum(more, i + 1);
    add(i, x(Slice(begin, end)));
    counts_.push_back(end - begin);
    begin = end;
  }
}

TANDEM_INLINE void Partition::check_equal(const Parts& results) const {
  for (const std::vector<Tensor>& r : results)
    if (r.size() != results[0].size())
      errors::raise<errors::InvalidArgumentError>(
          op_, "the results of slices have different numbers of tensors: " + std::to_string(results[0].size()) +
                   " and " + std::to_string(r.size()));
}
TANDEM_INLINE std::vector<Tensor> Partition::concat(const Parts& results) const {
  check_equal(results);
  std::vector<Tensor> joined;
  for (std::size_t which = 0; which < results[0].size(); ++which) {
    std::vector<Tensor> parts;
    for (const std::vector<Tensor>& r : results) parts.push_back(r[which].to(home_));
    if (parts[0].rank() == 0)
      errors::raise<errors::InvalidArgumentError>(
          op_, "f returns a scalar for each slice, which cannot be concatenated: " + to_string(parts[0].spec()) +
                   " (make_parallel_mean averages)");
    joined.push_back(parts.size() == 1 ? parts[0] : tandem::concat(parts, 0));
  }
  return joined;
}

TANDEM_INLINE Tensor Partition::mean_of(const Parts& results, std::size_t which) const {
  Tensor sum;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Tensor y = results[i][which].to(home_);
    const Tensor part = counts_.empty() ? y * (static_cast<double>(sizes_[i]) / static_cast<double>(rows_))
                                        : multiply_no_nan(y, cast(counts_[i] / total_, y.dtype()));
    sum = sum.is_set() ? sum + part : part;
  }
  return sum;
}
TANDEM_INLINE std::vector<Tensor> Partition::mean(const Parts& results) const {
  check_equal(results);
  std::vector<Tensor> means;
  for (std::size_t which = 0; which < results[0].size(); ++which) {
    const Spec& first = results[0][which].spec();
    if (!is_floating(first.dtype))
      errors::raise<errors::InvalidArgumentError>(op_, "f returns what has no mean: " + to_string(first));
    for (const std::vector<Tensor>& r : results)
      if (r[which].shape() != first.shape)
        errors::raise<errors::InvalidArgumentError>(
            op_, "the results of slices differ in shape: " + to_string(first) + " and " + to_string(r[which].spec()));
    means.push_back(results.size() == 1 ? results[0][which].to(home_) : mean_of(results, which));
  }
  return means;
}

}  // namespace detail
}  // namespace TANDEM_NS::distribute
