// Comparison, selection and logic, element by element: equal ... greater_equal, where, logical_*, is_nan, is_inf,
// is_finite, approximate_equal, and the operators == != < <= > >= & | ^ ~.
// Not here: bitwise operations (pointwise/bitwise.hpp).
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

/// Compares for equality element by element: a == b. NaN equals nothing; strings compare byte by byte.
///   a, b      one dtype (numbers, bool_, string); shapes that broadcast
///   returns   bool_ of the broadcast shape
///   throws    errors::InvalidArgumentError if dtypes differ or shapes do not broadcast
///   gradient  none (non-differentiable)
TANDEM_API Tensor equal(const Tensor& a, const Tensor& b, OpOptions = {});
/// Compares for inequality element by element: a != b. NaN differs from everything. Dtypes, errors and gradient as
/// equal.
TANDEM_API Tensor not_equal(const Tensor& a, const Tensor& b, OpOptions = {});
/// Compares element by element: a < b. False if either is NaN. Real numbers, errors::UnimplementedError for other
/// dtypes; other errors and gradient as equal.
TANDEM_API Tensor less(const Tensor& a, const Tensor& b, OpOptions = {});
/// Compares element by element: a <= b. Otherwise as less.
TANDEM_API Tensor less_equal(const Tensor& a, const Tensor& b, OpOptions = {});
/// Compares element by element: a > b. Otherwise as less.
TANDEM_API Tensor greater(const Tensor& a, const Tensor& b, OpOptions = {});
/// Compares element by element: a >= b. Otherwise as less.
TANDEM_API Tensor greater_equal(const Tensor& a, const Tensor& b, OpOptions = {});

/// Selects elements of a where the condition is true, of b where it is false.
///   condition  bool_; a, b: same dtype, any; the three shapes broadcast together
///   returns    the broadcast shape, dtype of a and b
///   throws     errors::InvalidArgumentError if the condition is not bool_, dtypes differ or shapes do not broadcast
///   gradient   to a: g where the condition is true, exactly 0 elsewhere; to b: the reverse
TANDEM_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, OpOptions = {});
inline Tensor where(const Tensor& condition, const Tensor& a, Scalar b, OpOptions o = {}) {
  return where(condition, a, tandem::detail::scalar_operand("where", b, a, o), o);
}
inline Tensor where(const Tensor& condition, Scalar a, const Tensor& b, OpOptions o = {}) {
  return where(condition, tandem::detail::scalar_operand("where", a, b, o), b, o);
}
/// As above with two numbers. The dtype is float32 if one of them is a float or double, else that of their common
/// type.
template <class A, class B>
  requires(std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>)
Tensor where(const Tensor& condition, A a, B b, OpOptions o = {}) {
  const Tensor like = Tensor::symbol({Shape{}, literal_dtype<std::common_type_t<A, B>>, condition.device()});
  return where(condition, tandem::detail::scalar_like(a, like), tandem::detail::scalar_like(b, like), o);
}

/// Logical AND, OR, exclusive OR and NOT of bool_ tensors. Other dtypes raise errors::UnimplementedError. gradient:
/// none (non-differentiable)
TANDEM_API Tensor logical_and(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor logical_or(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor logical_xor(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor logical_not(const Tensor& x, OpOptions = {});

/// Tests each element for NaN, infinity, or being finite. Real numbers (integers are finite); the result is bool_.
/// gradient: none (non-differentiable)
TANDEM_API Tensor is_nan(const Tensor& x, OpOptions = {});
TANDEM_API Tensor is_inf(const Tensor& x, OpOptions = {});
TANDEM_API Tensor is_finite(const Tensor& x, OpOptions = {});

struct ApproximateEqualOptions {
  TANDEM_OP_OPTIONS;
  double tolerance = 1e-5;
};
/// Tests |a - b| < tolerance (absolute) element by element. Real numbers; shapes as equal; the result is bool_.
/// gradient: none (non-differentiable)
TANDEM_API Tensor approximate_equal(const Tensor& a, const Tensor& b, ApproximateEqualOptions = {});

TANDEM_SCALAR_OVERLOADS(equal)
TANDEM_SCALAR_OVERLOADS(not_equal)
TANDEM_SCALAR_OVERLOADS(less)
TANDEM_SCALAR_OVERLOADS(less_equal)
TANDEM_SCALAR_OVERLOADS(greater)
TANDEM_SCALAR_OVERLOADS(greater_equal)

namespace detail::operators {
TANDEM_API Tensor operator==(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator!=(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator<(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator<=(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator>(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator>=(const Tensor& a, const Tensor& b);
/// Logical on bool_, bitwise on integers; other dtypes raise errors::UnimplementedError.
TANDEM_API Tensor operator&(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator|(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator^(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator~(const Tensor& x);
TANDEM_SCALAR_OPERATORS(==, equal)
TANDEM_SCALAR_OPERATORS(!=, not_equal)
TANDEM_SCALAR_OPERATORS(<, less)
TANDEM_SCALAR_OPERATORS(<=, less_equal)
TANDEM_SCALAR_OPERATORS(>, greater)
TANDEM_SCALAR_OPERATORS(>=, greater_equal)
TANDEM_SCALAR_OPERATORS(&, bitwise_and)
TANDEM_SCALAR_OPERATORS(|, bitwise_or)
TANDEM_SCALAR_OPERATORS(^, bitwise_xor)
inline Tensor& operator&=(Tensor& x, const Tensor& y) { return x = x & y; }
inline Tensor& operator|=(Tensor& x, const Tensor& y) { return x = x | y; }
inline Tensor& operator^=(Tensor& x, const Tensor& y) { return x = x ^ y; }
}  // namespace detail::operators

// The ops of this file, by the form of their public functions. All other lists of them are derived from this one.
#define TANDEM_COMPARE_OPS(unary, binary, other)                                                                      \
  binary(equal) binary(not_equal) binary(less) binary(less_equal) binary(greater) binary(greater_equal) other(select) \
      binary(logical_and) binary(logical_or) binary(logical_xor) unary(logical_not) unary(is_nan) unary(is_inf)       \
          unary(is_finite)
TANDEM_DECLARE_OPS(compare_ops, TANDEM_COMPARE_OPS)

}  // namespace TANDEM_NS
