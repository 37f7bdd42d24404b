// Definitions of data/batches.hpp.
#pragma once
#include <algorithm>

#include "tandem/data/batches.hpp"
#include "tandem/data/split.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS::data::detail {

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

TANDEM_INLINE BatchPlan::BatchPlan(Span<const Tensor> tensors, BatchesOptions options)
    : options_(options), rows_(common_rows("Batches", tensors)) {
  const i64 size = options.batch_size;
  if (size < 1)
    errors::raise<errors::InvalidArgumentError>("Batches",
                                                "batch_size must be at least 1, but is " + std::to_string(size));
  batches_ = rows_ / size + (!options.drop_remainder && rows_ % size != 0);
  if (batches_ == 0 && rows_ > 0)
    errors::raise<errors::InvalidArgumentError>("Batches", "drop_remainder leaves no batch: there are " +
                                                               std::to_string(rows_) + " rows, and batch_size is " +
                                                               std::to_string(size));
}
TANDEM_INLINE void BatchPlan::read(Span<const Tensor> tensors, i64 epoch, i64 index, Span<Tensor> out) const {
  if (context.stager)
    errors::raise<errors::TraceError>("Batches",
                                      "a traced function would keep this batch for all calls: read batches outside of "
                                      "it, and pass them as arguments");
  check_range(epoch, index);
  if (index == batches_)
    errors::raise<errors::OutOfRangeError>(
        "Batches", "there is no batch " + std::to_string(index) + " in an epoch of " + std::to_string(batches_));
  const i64 begin = index * options_.batch_size, end = std::min(begin + options_.batch_size, rows_);
  if (!options_.shuffle) {
    for (std::size_t i = 0; i < tensors.size(); ++i) out[i] = tensors[i](Slice(begin, end));
    return;
  }
  const Permutation order(rows_, options_.seed, epoch);
  const Tensor rows = Tensor::allocate({Shape{end - begin}, DType::int64, {}});
  for (i64 i = begin; i < end; ++i) static_cast<i64*>(rows.raw())[i - begin] = order(i);
  for (std::size_t i = 0; i < tensors.size(); ++i) out[i] = gather(tensors[i], rows);
}
TANDEM_INLINE BatchPlan::Position BatchPlan::position(i64 step) const {
  if (step < 0 || batches_ == 0)
    errors::raise<errors::OutOfRangeError>("Batches", "there is no step " + std::to_string(step) + ", with " +
                                                          std::to_string(batches_) + " batches in an epoch");
  return {step / batches_, step % batches_};
}
TANDEM_INLINE void BatchPlan::check_range(i64 epoch, i64 first) const {
  if (epoch < 0)
    errors::raise<errors::OutOfRangeError>("Batches", "epoch must not be negative, but is " + std::to_string(epoch));
  if (first < 0 || first > batches_)
    errors::raise<errors::OutOfRangeError>(
        "Batches", "there is no batch " + std::to_string(first) + " in an epoch of " + std::to_string(batches_));
}

}  // namespace TANDEM_NS::data::detail
