// Matrix diagonals: linalg::diag, diag_part, set_diag, trace, and tensor_diag for more than two axes.
// Not here: eye (create/fill.hpp).
#pragma once
#include <optional>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace linalg {

struct DiagOptions {
  TANDEM_OP_OPTIONS;
  i64 k = 0;                         ///< index of the diagonal: 0 is the main diagonal, positive ones are above it
  std::optional<i64> num_rows = {};  ///< default: as many as needed; square if neither size is given
  std::optional<i64> num_cols = {};
};
struct DiagPartOptions {
  TANDEM_OP_OPTIONS;
  i64 k = 0;
};

/// Creates matrices with the given values on diagonal k and zeros elsewhere.
///   diagonal  [..., n], any dtype
///   returns   [..., num_rows, num_cols]
///   throws    errors::InvalidArgumentError if diagonal k of a matrix of that size does not have n elements
///   gradient  diag_part(g)
TANDEM_API Tensor diag(const Tensor& diagonal, DiagOptions = {});
/// Extracts diagonal k of matrices.
///   x         [..., m, n], any dtype
///   returns   [..., min(m, n - k)], or [..., min(m + k, n)] for negative k; empty if k is outside the matrix
///   throws    errors::InvalidArgumentError if x has rank below 2
///   gradient  g on diagonal k, zeros elsewhere
TANDEM_API Tensor diag_part(const Tensor& x, DiagPartOptions = {});
/// Returns x with diagonal k replaced.
///   x         [..., m, n], any dtype; diagonal: shape and dtype of diag_part(x)
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match
///   gradient  to x: g with zeros on diagonal k; to diagonal: diag_part(g)
TANDEM_API Tensor set_diag(const Tensor& x, const Tensor& diagonal, DiagPartOptions = {});
/// Returns the sum of the main diagonal: [..., m, n] gives [...]. gradient: g on the diagonal
TANDEM_API Tensor trace(const Tensor& x, OpOptions = {});
/// Creates a tensor of twice the rank, with y[i..., i...] = x[i...] and zeros elsewhere. gradient:
/// tensor_diag_part(g)
TANDEM_API Tensor tensor_diag(const Tensor& x, OpOptions = {});
/// Extracts the diagonal of a tensor, the inverse of tensor_diag: y[i...] = x[i..., i...].
///   throws    errors::InvalidArgumentError if the second half of x's shape differs from the first
///   gradient  tensor_diag(g)
TANDEM_API Tensor tensor_diag_part(const Tensor& x, OpOptions = {});

}  // namespace linalg

TANDEM_OPS(diagonal_ops, diag, diag_part, set_diag)

namespace rules {
struct DiagAttrs {
  i64 k, rows, columns;  // none: not given
  TANDEM_ATTRS(DiagAttrs, k, rows, columns);
};
struct DiagPartAttrs {
  i64 k;
  TANDEM_ATTRS(DiagPartAttrs, k);
};
}  // namespace rules
}  // namespace TANDEM_NS
