// Permutation, reversal and rotation of axes: transpose, linalg::matrix_transpose, linalg::adjoint, reverse, roll.
// matmul needs none of the transposed forms: it has flags.
#pragma once
#include <initializer_list>

#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct TransposeOptions {
  TANDEM_OP_OPTIONS;
  Axes perm = {};          ///< axis i of the result is axis perm[i] of x; default: reverse the axes
  bool conjugate = false;  ///< also conjugate complex numbers
};
/// Permutes the axes of a tensor. Copies.
///   throws    errors::InvalidArgumentError if perm is not a permutation of x's axes
///   gradient  g with the inverse permutation
TANDEM_API Tensor transpose(const Tensor& x, TransposeOptions = {});
TANDEM_AXES_OVERLOADS(transpose, TransposeOptions, perm)

namespace linalg {
/// Swaps the last two axes. gradient: g with its last two axes swapped
TANDEM_API Tensor matrix_transpose(const Tensor& x, OpOptions = {});
/// Swaps the last two axes and conjugates the elements. gradient: the adjoint of g
TANDEM_API Tensor adjoint(const Tensor& x, OpOptions = {});
}  // namespace linalg

/// Reverses the order of elements along the given axes. An empty list reverses none.
///   throws    errors::InvalidArgumentError for axes out of range or listed twice
///   gradient  reverse(g)
TANDEM_API Tensor reverse(const Tensor& x, const Axes& axes, OpOptions = {});

/// Rotates the elements along an axis: element i moves to i + shift, and what passes the end comes back at the front.
///   x         any dtype
///   shift     any integer; negative numbers rotate towards the front
///   throws    errors::InvalidArgumentError for an axis out of range
///   gradient  roll(g, -shift, axis)
TANDEM_API Tensor roll(const Tensor& x, i64 shift, i64 axis, OpOptions = {});
/// Rotates along several axes, by shifts[k] along axes[k]: roll(x, {1, -2}, {0, 1}). Otherwise as roll along one axis.
///   throws    errors::InvalidArgumentError unless there are as many shifts as axes
TANDEM_API Tensor roll(const Tensor& x, std::initializer_list<i64> shifts, std::initializer_list<i64> axes,
                       OpOptions = {});

TANDEM_OPS(transpose_ops, transpose, reverse, roll)

namespace rules {
struct TransposeAttrs {
  Axes perm;
  bool conjugate;
  TANDEM_ATTRS(TransposeAttrs, perm, conjugate);
};
struct ReverseAttrs {
  Axes axes;
  TANDEM_ATTRS(ReverseAttrs, axes);
};
struct RollAttrs {
  i64 shift, axis;
  TANDEM_ATTRS(RollAttrs, shift, axis);
};
}  // namespace rules
}  // namespace TANDEM_NS
