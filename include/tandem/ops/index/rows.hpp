// Row updates: update_row, add_rows, and the ops that track which elements of a TensorArray are written. In traced
// loops they update in place.
// Not here: reading rows by index (gather.hpp), the TensorArray itself (graph/tensor_array).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace detail {
/// Returns x with row i replaced.
///   x         any dtype, rank >= 1
///   i         int32 or int64 scalar in [0, x.shape[0])
///   row       dtype of x, shape x.shape[1:]
///   returns   same shape as x
///   throws    errors::InvalidArgumentError for an index out of range, naming it, or for shapes that do not match
///   gradient  to x: g with row i set to zero; to row: g[i]
TANDEM_API Tensor update_row(const Tensor& x, const Tensor& i, const Tensor& row, OpOptions = {});
/// Adds rows[k] to row indices[k] of x, for each k. Rows with equal indices accumulate.
///   x         numbers, rank >= 1
///   indices   int32 or int64, shape [n], values in [0, x.shape[0])
///   rows      dtype of x, shape [n] + x.shape[1:]
///   returns   same shape as x
///   throws    errors::InvalidArgumentError for an index out of range, naming it, or for shapes that do not match
///   gradient  to x: g; to rows: gather(g, indices)
TANDEM_API Tensor add_rows(const Tensor& x, const Tensor& indices, const Tensor& rows, OpOptions = {});

/// Returns `written` (bool_ [n]) with element i set to true.
///   throws    errors::InvalidArgumentError if it was already true, or i is out of range
///   gradient  none (non-differentiable)
TANDEM_API Tensor mark_written(const Tensor& written, const Tensor& i, OpOptions = {});
/// Returns the indices unchanged.
///   throws    errors::InvalidArgumentError unless written (bool_ [n]) is true at each of them
///   gradient  none (non-differentiable)
TANDEM_API Tensor check_written(const Tensor& i, const Tensor& written, OpOptions = {});
/// Returns x unchanged.
///   throws    errors::InvalidArgumentError unless all elements of written (bool_ [n], one for each row of x) are
///             true
///   gradient  g
TANDEM_API Tensor check_all_written(const Tensor& x, const Tensor& written, OpOptions = {});
}  // namespace detail

TANDEM_OPS(row_ops, update_row, add_rows, mark_written, check_written, check_all_written)

}  // namespace TANDEM_NS
