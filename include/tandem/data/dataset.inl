// Definitions of data/dataset.hpp and dataset_sources.hpp, and of the stages that do not depend on the type of the
// elements.
#pragma once
#include <cmath>
#include <limits>
#include <thread>

#include "tandem/data/dataset.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::data {

namespace detail {

TANDEM_INLINE i64 common_rows(const char* op, Span<const Tensor> tensors) {
  for (const Tensor& t : tensors) {
    tandem::detail::check_value(op, t);
    if (t.rank() == 0) errors::raise<errors::InvalidArgumentError>(op, "a tensor has no rows: " + to_string(t.spec()));
    if (t.shape().dim(0) != tensors[0].shape().dim(0))
      errors::raise<errors::InvalidArgumentError>(op, "the tensors have different numbers of rows: " +
                                                          to_string(tensors[0].spec()) + " and " + to_string(t.spec()));
  }
  return tensors.empty() ? 0 : tensors[0].shape().dim(0);
}

TANDEM_INLINE Tensor rows_of(const Tensor& x, const Rows& rows) {
  if (!rows.list) return x(Slice(rows.first, rows.first + rows.count));
  const Tensor list = Tensor::allocate({Shape{rows.count}, DType::int64, {}});
  std::copy_n(rows.list, rows.count, static_cast<i64*>(list.raw()));
  return gather(x, list);
}

TANDEM_INLINE int threads_of(const char* op, i64 option) {
  constexpr i64 most = 1024;
  if (option == autotune) return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (option < 0 || option > most)
    errors::raise<errors::InvalidArgumentError>(op, "num_parallel_calls must be 0 to " + std::to_string(most) +
                                                        ", or data::autotune, but is " + std::to_string(option));
  return static_cast<int>(option);
}

TANDEM_INLINE void check_ahead(const char* op, i64 size) {
  constexpr i64 most = i64{1} << 20;
  if ((size < 1 || size > most) && size != autotune)
    errors::raise<errors::InvalidArgumentError>(
        op, "buffer_size must be 1 to " + std::to_string(most) + ", or data::autotune, but is " + std::to_string(size));
}

TANDEM_INLINE void check_at_least(const char* op, const char* what, i64 value, i64 least) {
  if (value < least)
    errors::raise<errors::InvalidArgumentError>(
        op, std::string(what) + " must be at least " + std::to_string(least) + ", but is " + std::to_string(value));
}
namespace impl {

[[noreturn]] inline void raise_count(const char* op, i64 m, const char* joined, i64 n) {
  errors::raise<errors::InvalidArgumentError>(
      op, std::to_string(m) + joined + std::to_string(n) + " elements are more than 2^63 - 1");
}

}  // namespace impl

TANDEM_INLINE i64 repeated_count(const char* op, i64 count, i64 n) {
  i64 r = 0;
  if (__builtin_mul_overflow(count, n, &r)) impl::raise_count(op, count, " times ", n);
  return r;
}
TANDEM_INLINE i64 added_count(const char* op, i64 m, i64 n) {
  i64 r = 0;
  if (__builtin_add_overflow(m, n, &r)) impl::raise_count(op, m, " and ", n);
  return r;
}
TANDEM_INLINE void raise_stream_shuffle() {
  errors::raise<errors::InvalidArgumentError>(
      "shuffle",
      "this data set is a stream, or has no end, so that its elements have no order to choose: give a buffer_size");
}

TANDEM_INLINE void check_batches(const char* op, i64 batch_size, i64 cardinality) {
  if (cardinality > 0 && cardinality < batch_size)
    errors::raise<errors::InvalidArgumentError>(op, "drop_remainder leaves no batch: there are " +
                                                        std::to_string(cardinality) + " elements, and batch_size is " +
                                                        std::to_string(batch_size));
}
TANDEM_INLINE void check_padding(const char* op, std::size_t tensors, const std::vector<std::vector<i64>>& shapes,
                                 const std::vector<double>& values) {
  const auto check = [&](const char* what, std::size_t n) {
    if (n != 0 && n != tensors)
      errors::raise<errors::InvalidArgumentError>(op, std::string(what) + " has " + std::to_string(n) +
                                                          " entries, but an element has " + std::to_string(tensors) +
                                                          " tensors");
  };
  check("padded_shapes", shapes.size());
  check("padding_values", values.size());
}
TANDEM_INLINE Tensor Padding::stack(const Stacking& self, Span<const Tensor* const> rows) {
  const Padding& p = static_cast<const Padding&>(self);
  const std::size_t i = p.tensor++;
  std::vector<i64> sizes = p.shapes.empty() ? std::vector<i64>() : p.shapes[i];
  if (p.unknown >= 0 && !p.shapes.empty())
    for (i64& size : sizes) size = size < 0 ? p.unknown : size;
  if (p.unknown >= 0 && p.shapes.empty() && rows[0]->rank() > 0) {
    bool is_length = true;
    for (std::size_t k = 0; k < rows.size(); ++k)
      is_length = is_length && rows[k]->rank() > 0 && rows[k]->shape().dim(0) == p.lengths[k];
    sizes.assign(static_cast<std::size_t>(rows[0]->rank()), -1);
    if (is_length) sizes[0] = p.unknown;
  }
  return stack_padded(p.op, rows, sizes, p.values.empty() ? 0.0 : p.values[i]);
}

TANDEM_INLINE void raise_bucket(i64 length, i64 last_boundary) {
  errors::raise<errors::InvalidArgumentError>("bucket_by_sequence_length",
                                              "an element has length " + std::to_string(length) +
                                                  ", not below the last boundary, " + std::to_string(last_boundary) +
                                                  ", which pad_to_bucket_boundary pads to");
}
TANDEM_INLINE void check_buckets(const std::vector<i64>& boundaries, const std::vector<i64>& batch_sizes,
                                 bool pads_to_boundary) {
  const char* const op = "bucket_by_sequence_length";
  if (batch_sizes.size() != boundaries.size() + 1)
    errors::raise<errors::InvalidArgumentError>(
        op, "there must be one batch size more than boundaries, but there are " + std::to_string(batch_sizes.size()) +
                " and " + std::to_string(boundaries.size()));
  if (!std::is_sorted(boundaries.begin(), boundaries.end(), std::less_equal<>()) && boundaries.size() > 1)
    errors::raise<errors::InvalidArgumentError>(op, "the boundaries must ascend");
  if (pads_to_boundary && boundaries.empty())
    errors::raise<errors::InvalidArgumentError>(
        op, "pad_to_bucket_boundary needs a boundary to pad to; padded_batch pads all elements alike");
  for (const i64 size : batch_sizes) check_at_least(op, "a batch size", size, 1);
}

TANDEM_INLINE double Draw::operator()() {
  const random::Words w = numbers_.block(next_++, static_cast<std::uint32_t>(blocks_));
  return random::unit(random::join(w.w[0], w.w[1]));
}
TANDEM_INLINE std::size_t chosen(const std::vector<double>& weights, double uniform) {
  double sum = 0;
  for (const double w : weights) sum += w;
  std::size_t last = weights.size();
  double at = uniform * sum;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    if (at < weights[i]) return i;
    at -= weights[i];
  }
  return last;  // rounding; or no weight is left
}
TANDEM_INLINE void check_datasets(const char* op, std::size_t datasets) {
  if (datasets == 0) errors::raise<errors::InvalidArgumentError>(op, "there is no data set");
}
TANDEM_INLINE void check_weights(const char* op, std::size_t datasets, const std::vector<double>& weights) {
  check_datasets(op, datasets);
  if (weights.size() != datasets)
    errors::raise<errors::InvalidArgumentError>(
        op, "there are " + std::to_string(datasets) + " data sets, but " + std::to_string(weights.size()) + " weights");
  double sum = 0;
  for (const double w : weights) {
    if (!(w >= 0) || std::isinf(w))
      errors::raise<errors::InvalidArgumentError>(
          op, "a weight is " + tandem::detail::shortest_text(w) + ": weights must be at least 0 and finite");
    sum += w;
  }
  if (sum <= 0) errors::raise<errors::InvalidArgumentError>(op, "all weights are 0");
}
TANDEM_INLINE void raise_choice(i64 choice, std::size_t datasets) {
  errors::raise<errors::InvalidArgumentError>(
      "choose_from_datasets",
      "the choice is " + std::to_string(choice) + ", but there are " + std::to_string(datasets) + " data sets");
}
TANDEM_INLINE std::vector<double> acceptance(const std::vector<double>& target, const std::vector<double>& initial) {
  const char* const op = "rejection_resample";
  check_weights(op, initial.size(), target);
  check_weights(op, target.size(), initial);
  std::vector<double> r(target.size());
  double largest = 0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    if (target[i] > 0 && initial[i] <= 0)
      errors::raise<errors::InvalidArgumentError>(
          op, "class " + std::to_string(i) + " is wanted, but has probability 0 in initial_dist");
    r[i] = target[i] > 0 ? target[i] / initial[i] : 0;
    largest = std::max(largest, r[i]);
  }
  for (double& p : r) p /= largest;
  return r;
}
TANDEM_INLINE void raise_class(i64 number, std::size_t classes) {
  errors::raise<errors::InvalidArgumentError>(
      "rejection_resample",
      "an element has class " + std::to_string(number) + ", but there are " + std::to_string(classes) + " classes");
}

TANDEM_INLINE void check_iteration() {
  if (context.stager)
    errors::raise<errors::TraceError>("Dataset",
                                      "a traced function would keep this element for all calls: iterate outside of "
                                      "it, and pass elements as arguments");
}
TANDEM_INLINE void check_position(i64 epoch, i64 first, i64 cardinality) {
  if (epoch < 0)
    errors::raise<errors::OutOfRangeError>("Dataset", "epoch must not be negative, but is " + std::to_string(epoch));
  if (first < 0 || (is_finite(cardinality) && first > cardinality))
    errors::raise<errors::OutOfRangeError>(
        "Dataset", "there is no element " + std::to_string(first) + " in an epoch of " + std::to_string(cardinality));
}
TANDEM_INLINE void check_at(bool indexed, i64 epoch, i64 index, i64 cardinality) {
  check_iteration();
  if (!indexed)
    errors::raise<errors::FailedPreconditionError>(
        "Dataset", "elements of a stream cannot be asked for by their number: iterate over it");
  check_position(epoch, index, cardinality);
  if (index == cardinality)
    errors::raise<errors::OutOfRangeError>(
        "Dataset", "there is no element " + std::to_string(index) + " in an epoch of " + std::to_string(cardinality));
}
TANDEM_INLINE i64 check_size(i64 cardinality) {
  if (!is_finite(cardinality))
    errors::raise<errors::FailedPreconditionError>("Dataset", cardinality == infinite_cardinality
                                                                  ? "the data set has no end, and so no size"
                                                                  : "the size of a stream is not known before its end");
  return cardinality;
}
TANDEM_INLINE i64 range_count(i64 start, i64 stop, i64 step) {
  if (step == 0) errors::raise<errors::InvalidArgumentError>("range", "step must not be 0");
  if ((step > 0 && start >= stop) || (step < 0 && start <= stop)) return 0;
  const u64 span =
      step > 0 ? static_cast<u64>(stop) - static_cast<u64>(start) : static_cast<u64>(start) - static_cast<u64>(stop);
  const u64 stride = step > 0 ? static_cast<u64>(step) : 0 - static_cast<u64>(step);
  const u64 count = (span - 1) / stride + 1;
  if (count > static_cast<u64>(std::numeric_limits<i64>::max()))
    errors::raise<errors::InvalidArgumentError>(
        "range", "there are more than 2^63 - 1 numbers from " + std::to_string(start) + " to " + std::to_string(stop));
  return static_cast<i64>(count);
}
TANDEM_INLINE i64 checked_index(const char* op, i64 index, i64 input) {
  if (input == end_index)
    errors::raise<errors::OutOfRangeError>(
        op, "element " + std::to_string(index) + " is out of range: it reads the input beyond element 2^63 - 2");
  return input;
}
TANDEM_INLINE void check_shard(i64 num_shards, i64 index) {
  check_at_least("shard", "num_shards", num_shards, 1);
  if (index < 0 || index >= num_shards)
    errors::raise<errors::InvalidArgumentError>(
        "shard", "index must be in [0, " + std::to_string(num_shards) + "), but is " + std::to_string(index));
}

}  // namespace detail
}  // namespace TANDEM_NS::data
