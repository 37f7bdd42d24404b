// Axes in another order or direction: transpose, linalg::matrix_transpose, linalg::adjoint, reverse.
// matmul needs none of them: it takes flags.
#pragma once
#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct TransposeOptions {
  TANDEM_OP_OPTIONS;
  Axes perm = {};          ///< axis i of the result is axis perm[i] of x; not given: the axes backward
  bool conjugate = false;  ///< complex numbers are conjugated as well
};
/// The axes in another order; a copy.
///   throws    errors::InvalidArgumentError if perm is no permutation of x's axes
///   gradient  the inverse permutation of g
TANDEM_API Tensor transpose(const Tensor& x, TransposeOptions = {});
TANDEM_AXES_OVERLOADS(transpose, TransposeOptions, perm)

namespace linalg {
/// The last two axes exchanged. gradient: those of g exchanged
TANDEM_API Tensor matrix_transpose(const Tensor& x, OpOptions = {});
/// The last two axes exchanged, the elements conjugated. gradient: the adjoint of g
TANDEM_API Tensor adjoint(const Tensor& x, OpOptions = {});
}  // namespace linalg

/// The elements backward along some axes (none if the list is empty).
///   throws    errors::InvalidArgumentError for axes out of range or named twice
///   gradient  reverse(g)
TANDEM_API Tensor reverse(const Tensor& x, const Axes& axes, OpOptions = {});

namespace detail {
/// The complex conjugate, element by element; real numbers stay, and x is returned. gradient: the conjugate of g
TANDEM_API Tensor conjugate(const Tensor& x, OpOptions = {});
}  // namespace detail

extern TANDEM_API const OpDef transpose_op, reverse_op;
inline constexpr const OpDef* transpose_ops[] = {&transpose_op, &reverse_op};

namespace rules {
struct TransposeAttrs {
  Axes perm;
  bool conjugate;
  static constexpr auto fields =
      field_list(field("perm", &TransposeAttrs::perm), field("conjugate", &TransposeAttrs::conjugate));
};
struct ReverseAttrs {
  Axes axes;
  static constexpr auto fields = field_list(field("axes", &ReverseAttrs::axes));
};
}  // namespace rules
}  // namespace TANDEM_NS
