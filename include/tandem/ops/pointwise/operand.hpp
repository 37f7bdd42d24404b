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
}  // namespace detail

// Overloads f(tensor, number) and f(number, tensor) of a binary op f.
#define TANDEM_SCALAR_OVERLOADS(fn)                               \
  inline Tensor fn(const Tensor& a, Scalar b, OpOptions o = {}) { \
    return fn(a, ::tandem::detail::scalar_like(b, a), o);         \
  }                                                               \
  inline Tensor fn(Scalar a, const Tensor& b, OpOptions o = {}) { \
    return fn(::tandem::detail::scalar_like(a, b), b, o);         \
  }
#define TANDEM_SCALAR_OPERATORS(op)                                                                         \
  inline Tensor operator op(const Tensor& a, Scalar b) { return a op ::tandem::detail::scalar_like(b, a); } \
  inline Tensor operator op(Scalar a, const Tensor& b) { return ::tandem::detail::scalar_like(a, b) op b; }

}  // namespace TANDEM_NS
