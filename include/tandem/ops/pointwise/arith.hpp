// Arithmetic, element by element: add, subtract, multiply, divide, negative, abs, conj, square, maximum, minimum, sign,
// and the operators. Two tensors must have the same dtype; a C++ number is converted to the tensor's dtype.
// Not here: broadcasting, which is neither in this file nor in the loops.
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

/// Adds two tensors element by element. Strings are concatenated.
///   a, b      numbers or strings of one dtype; shapes that broadcast; any device
///   returns   the broadcast shape, same dtype
///   throws    errors::InvalidArgumentError if dtypes differ or shapes do not broadcast
///   gradient  to a: g; to b: g
TANDEM_API Tensor add(const Tensor& a, const Tensor& b, OpOptions = {});
/// Subtracts two tensors element by element: a - b. Numbers; shapes and errors as add. gradient: to a: g; to b: -g
TANDEM_API Tensor subtract(const Tensor& a, const Tensor& b, OpOptions = {});
/// Multiplies two tensors element by element: a * b. Numbers; shapes and errors as add. gradient: to a: g * b; to b:
/// g * a; as in all ops, complex factors of g are conjugated
TANDEM_API Tensor multiply(const Tensor& a, const Tensor& b, OpOptions = {});
/// Divides two tensors element by element (true division): a / b, by IEEE 754. Integers up to 16 bits give float32,
/// wider ones float64.
///   gradient  to a: g / b; to b: -g * y / b
TANDEM_API Tensor divide(const Tensor& a, const Tensor& b, OpOptions = {});
/// Alias of divide.
inline Tensor truediv(const Tensor& a, const Tensor& b, OpOptions o = {}) { return divide(a, b, o); }
/// Negates a tensor: -x. gradient: -g
TANDEM_API Tensor negative(const Tensor& x, OpOptions = {});
/// Absolute value: |x|. The lowest integer stays as it is. For complex numbers the modulus, as float32 or float64,
/// computed without overflow.
///   gradient  g * sign(x); complex: g * x / |x|, 0 at 0
TANDEM_API Tensor abs(const Tensor& x, OpOptions = {});
/// Returns the complex conjugate; x itself if it is real. gradient: the conjugate of g
TANDEM_API Tensor conj(const Tensor& x, OpOptions = {});
/// Sign of each element: -1, 0 or 1; for complex numbers x / |x|. NaN stays NaN. gradient: none (non-differentiable)
TANDEM_API Tensor sign(const Tensor& x, OpOptions = {});
/// Squares a tensor: x * x. gradient: 2 * g * x
TANDEM_API Tensor square(const Tensor& x, OpOptions = {});
/// Maximum of a and b, element by element. NaN propagates. gradient: all of g to the larger operand, to a if they
/// are equal
TANDEM_API Tensor maximum(const Tensor& a, const Tensor& b, OpOptions = {});
/// Minimum of a and b, element by element. NaN propagates. gradient: all of g to the smaller operand, to a if they
/// are equal
TANDEM_API Tensor minimum(const Tensor& a, const Tensor& b, OpOptions = {});

TANDEM_SCALAR_OVERLOADS(add)
TANDEM_SCALAR_OVERLOADS(subtract)
TANDEM_SCALAR_OVERLOADS(multiply)
TANDEM_SCALAR_OVERLOADS(divide)
TANDEM_SCALAR_OVERLOADS(maximum)
TANDEM_SCALAR_OVERLOADS(minimum)

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_ARITH_OPS(unary, binary, other)                                                                   \
  binary(add) binary(subtract) binary(multiply) other(divide) unary(negative) other(abs) other(conj) unary(sign) \
      unary(square) binary(maximum) binary(minimum)
TANDEM_DECLARE_OPS(arith_ops, TANDEM_ARITH_OPS)

namespace detail {
/// Computes a op b for temporaries. If no tape is recording, the result may reuse the buffer of one of them.
TANDEM_API Tensor over(const OpDef& op, const Tensor& a, const Tensor& b, Tensor* first, Tensor* second);
/// The same for a / b: that of integers is float64.
TANDEM_API Tensor quotient_over(const OpDef& op, const Tensor& a, const Tensor& b, Tensor* first, Tensor* second);
/// Returns g times the conjugate of x, the gradient of a holomorphic function with derivative x.
TANDEM_API Tensor times_conjugate(const Tensor& g, const Tensor& x);
}  // namespace detail

namespace detail::operators {

TANDEM_API Tensor operator+(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator-(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator*(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator/(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator-(const Tensor& x);
TANDEM_SCALAR_OPERATORS(+, add)
TANDEM_SCALAR_OPERATORS(-, subtract)
TANDEM_SCALAR_OPERATORS(*, multiply)
TANDEM_SCALAR_OPERATORS(/, divide)

// Operators on temporaries and `x op= y` write into their operand's buffer if nothing else refers to it.
#define TANDEM_TEMPORARY_OPERATORS(op, fn, over)                                                         \
  inline Tensor operator op(Tensor&& a, const Tensor& b) { return detail::over(fn##_op, a, b, &a, {}); } \
  inline Tensor operator op(const Tensor& a, Tensor&& b) { return detail::over(fn##_op, a, b, {}, &b); } \
  inline Tensor operator op(Tensor&& a, Tensor&& b) { return detail::over(fn##_op, a, b, &a, &b); }      \
  inline Tensor operator op(Tensor&& a, Scalar b) {                                                      \
    return std::move(a) op tandem::detail::scalar_operand(#fn, b, a);                                    \
  }                                                                                                      \
  inline Tensor operator op(Scalar a, Tensor&& b) {                                                      \
    return tandem::detail::scalar_operand(#fn, a, b) op std::move(b);                                    \
  }                                                                                                      \
  inline Tensor& operator op##=(Tensor& x, const Tensor& y) { return x = std::move(x) op y; }            \
  inline Tensor& operator op##=(Tensor& x, Scalar y) { return x = std::move(x) op y; }
TANDEM_TEMPORARY_OPERATORS(+, add, over)
TANDEM_TEMPORARY_OPERATORS(-, subtract, over)
TANDEM_TEMPORARY_OPERATORS(*, multiply, over)
TANDEM_TEMPORARY_OPERATORS(/, divide, quotient_over)
#undef TANDEM_TEMPORARY_OPERATORS

}  // namespace detail::operators

}  // namespace TANDEM_NS
