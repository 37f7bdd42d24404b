// Rows that change: update_row, add_rows, and the ops that keep account of a TensorArray's written elements. In traced
// loops they write in place. Not here: rows by index read (gather.hpp), the TensorArray itself (graph/tensor_array).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace detail {
/// x, but with another row i.
///   x         any dtype, rank >= 1
///   i         int32 or int64 scalar in [0, x.shape[0])
///   row       x's dtype, x.shape[1:]
///   returns   x's shape
///   throws    errors::InvalidArgumentError naming an index out of range, or for shapes that do not fit
///   gradient  to x: g with row i zero; to row: g[i]
TANDEM_API Tensor update_row(const Tensor& x, const Tensor& i, const Tensor& row, OpOptions = {});
/// x with rows[k] added to its row indices[k], for each k; what meets adds up.
///   x         numbers, rank >= 1
///   indices   int32 or int64 [n], in [0, x.shape[0])
///   rows      x's dtype, [n] + x.shape[1:]
///   returns   x's shape
///   throws    errors::InvalidArgumentError naming an index out of range, or for shapes that do not fit
///   gradient  to x: g; to rows: gather(g, indices)
TANDEM_API Tensor add_rows(const Tensor& x, const Tensor& indices, const Tensor& rows, OpOptions = {});

/// written (bool [n]) with i true.
///   throws    errors::InvalidArgumentError if it was true before, or i is out of range
///   gradient  none (blocked)
TANDEM_API Tensor mark_written(const Tensor& written, const Tensor& i, OpOptions = {});
/// The indices themselves.
///   throws    errors::InvalidArgumentError unless written (bool [n]) is true at each of them
///   gradient  none (blocked)
TANDEM_API Tensor check_written(const Tensor& i, const Tensor& written, OpOptions = {});
/// x itself.
///   throws    errors::InvalidArgumentError unless written (bool [n], a mark for each row of x) is true everywhere
///   gradient  g
TANDEM_API Tensor check_all_written(const Tensor& x, const Tensor& written, OpOptions = {});
}  // namespace detail

extern TANDEM_API const OpDef update_row_op, add_rows_op, mark_written_op, check_written_op, check_all_written_op;
inline constexpr const OpDef* row_ops[] = {&update_row_op, &add_rows_op, &mark_written_op, &check_written_op,
                                           &check_all_written_op};

}  // namespace TANDEM_NS
