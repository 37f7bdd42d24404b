// Ragged: rows of different lengths without padding, as tf.RaggedTensor with one ragged axis. Part of the component
// tandem::data. Not here: batches of them (Dataset::ragged_batch).
#pragma once
#include <optional>
#include <vector>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::data {

struct RaggedToTensorOptions {
  Tensor default_value = {};       ///< a scalar of the values' dtype; default: 0, false, an empty text
  std::optional<i64> maxlen = {};  ///< the number of columns, longer rows are cut; default: the longest row's
};
/// Rows of different lengths, one after another: row i is values[row_splits[i] : row_splits[i + 1]]. A struct of
/// tensors, so traced functions take and return it. What works on every value alone (a Dense layer, an Embedding) is
/// applied to `values`; segment_sum(values, value_rowids()) and its like reduce rows.
struct Ragged {
  Tensor values;      ///< [n, ...]
  Tensor row_splits;  ///< int64 [rows + 1]: 0, ascending, n

  /// Rows from where they begin, and the end of the last.
  ///   splits  int32 or int64 [rows + 1]
  ///   throws  errors::InvalidArgumentError for values of rank 0, splits that do not begin with 0, descend, or end
  ///           elsewhere than values (not checked while a function is traced)
  TANDEM_API static Ragged from_row_splits(const Tensor& values, const Tensor& splits);
  /// Rows from their lengths, int32 or int64 [rows].
  TANDEM_API static Ragged from_row_lengths(const Tensor& values, const Tensor& lengths);
  /// The first lengths[i] columns of each row of a padded batch.
  ///   padded    [rows, columns, ...]
  ///   lengths   int32 or int64 [rows]
  ///   throws    errors::InvalidArgumentError for another rank or size, or a length out of range
  ///   gradient  to padded
  TANDEM_API static Ragged from_tensor(const Tensor& padded, const Tensor& lengths);

  /// The padded batch [rows, columns, ...]. gradient: to values, and to default_value
  TANDEM_API Tensor to_tensor(const RaggedToTensorOptions& options = {}) const;
  i64 nrows() const { return row_splits.size() - 1; }
  /// int64 [rows]
  TANDEM_API Tensor row_lengths() const;
  /// int64 [n]: the number of the row of each value.
  TANDEM_API Tensor value_rowids() const;
  /// Row i, a view. A negative i counts from the end.
  ///   throws  errors::InvalidArgumentError for an index out of range
  TANDEM_API Tensor operator[](i64 i) const;
};

namespace detail {
/// Puts tensors of one dtype together that differ in axis 0 alone. Scalars are rows of one value.
///   throws  errors::InvalidArgumentError in the name of `op` for an element that does not fit, saying which
TANDEM_API Ragged ragged_rows(const char* op, Span<const Tensor* const> rows);
}  // namespace detail

}  // namespace TANDEM_NS::data
