// C++ numbers as operands of pointwise ops: scalar_like, and the overloads that take numbers.
#pragma once
#include "tandem/base/scalar.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace detail {
/// Creates a rank-0 tensor of `like`'s dtype and device with the value of a C++ number.
///  throws  errors::InvalidArgumentError if `like` is an integer or bool_ tensor and its dtype cannot represent the
///  number: it has a fraction, is out of range, or is NaN
TANDEM_API Tensor scalar_like(Scalar value, const Tensor& like);
/// The same for an operand of the public function `op`: errors have its name and the place of the call.
TANDEM_API Tensor scalar_operand(const char* op, Scalar value, const Tensor& like, const OpOptions& o = no_options);
}  // namespace detail

// Overloads f(tensor, number) and f(number, tensor) of a binary op f.
#define TANDEM_SCALAR_OVERLOADS(fn)                                  \
  inline Tensor fn(const Tensor& a, Scalar b, OpOptions o = {}) {    \
    return fn(a, ::tandem::detail::scalar_operand(#fn, b, a, o), o); \
  }                                                                  \
  inline Tensor fn(Scalar a, const Tensor& b, OpOptions o = {}) {    \
    return fn(::tandem::detail::scalar_operand(#fn, a, b, o), b, o); \
  }
// The same for an operator that is the function fn.
#define TANDEM_SCALAR_OPERATORS(op, fn)                                                                             \
  inline Tensor operator op(const Tensor& a, Scalar b) { return a op ::tandem::detail::scalar_operand(#fn, b, a); } \
  inline Tensor operator op(Scalar a, const Tensor& b) { return ::tandem::detail::scalar_operand(#fn, a, b) op b; }

}  // namespace TANDEM_NS
