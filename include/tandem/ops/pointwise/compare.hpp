// Comparison, choice and logic, element by element: equal ... greater_equal, where, logical_*, is_nan, is_inf,
// is_finite, approximate_equal, and the operators == != < <= > >= & | ^ ~. Bits of integers: pointwise/bitwise.hpp.
#pragma once
#include "tandem/base/scalar_math.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

/// a == b, element by element; NaN equals nothing, strings compare byte by byte.
///   a, b      one dtype (numbers, bool_, string); shapes that broadcast
///   returns   bool_ of the broadcast shape
///   throws    errors::InvalidArgumentError if dtypes differ or shapes do not broadcast
///   gradient  none (blocked)
TANDEM_API Tensor equal(const Tensor& a, const Tensor& b, OpOptions = {});
/// a != b; NaN differs from everything. Dtypes, errors and gradient as equal.
TANDEM_API Tensor not_equal(const Tensor& a, const Tensor& b, OpOptions = {});
/// a < b; false with NaN. Real numbers; errors and gradient as equal, errors::UnimplementedError for other dtypes.
TANDEM_API Tensor less(const Tensor& a, const Tensor& b, OpOptions = {});
/// a <= b; otherwise as less.
TANDEM_API Tensor less_equal(const Tensor& a, const Tensor& b, OpOptions = {});
/// a > b; otherwise as less.
TANDEM_API Tensor greater(const Tensor& a, const Tensor& b, OpOptions = {});
/// a >= b; otherwise as less.
TANDEM_API Tensor greater_equal(const Tensor& a, const Tensor& b, OpOptions = {});

/// a where the condition holds, b elsewhere.
///   condition  bool_; a, b: any one dtype; the three shapes broadcast together
///   returns    the broadcast shape, dtype of a and b
///   throws     errors::InvalidArgumentError if the condition is not bool_, dtypes differ or shapes do not broadcast
///   gradient   a: g where true, exactly 0 elsewhere; b: the reverse
TANDEM_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, OpOptions = {});
inline Tensor where(const Tensor& condition, const Tensor& a, Scalar b, OpOptions o = {}) {
  return where(condition, a, tandem::detail::scalar_like(b, a), o);
}
inline Tensor where(const Tensor& condition, Scalar a, const Tensor& b, OpOptions o = {}) {
  return where(condition, tandem::detail::scalar_like(a, b), b, o);
}
/// Two numbers: float32 if one of them is a float or double, else their common type.
template <class A, class B>
  requires(std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>)
Tensor where(const Tensor& condition, A a, B b, OpOptions o = {}) {
  const Tensor like = Tensor::symbol({Shape{}, literal_dtype<std::common_type_t<A, B>>, condition.device()});
  return where(condition, tandem::detail::scalar_like(a, like), tandem::detail::scalar_like(b, like), o);
}

/// Both, either, exactly one, not: bool_ only; other dtypes raise errors::UnimplementedError. gradient: none (blocked)
TANDEM_API Tensor logical_and(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor logical_or(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor logical_xor(const Tensor& a, const Tensor& b, OpOptions = {});
TANDEM_API Tensor logical_not(const Tensor& x, OpOptions = {});

/// Is x NaN, infinite, a finite number? Real numbers (integers are finite); bool_ result. gradient: none (blocked)
TANDEM_API Tensor is_nan(const Tensor& x, OpOptions = {});
TANDEM_API Tensor is_inf(const Tensor& x, OpOptions = {});
TANDEM_API Tensor is_finite(const Tensor& x, OpOptions = {});

struct ApproximateEqualOptions {
  TANDEM_OP_OPTIONS;
  double tolerance = 1e-5;
};
/// |a - b| < tolerance (absolute). Real numbers, shapes as equal; bool_ result. gradient: none (blocked)
TANDEM_API Tensor approximate_equal(const Tensor& a, const Tensor& b, ApproximateEqualOptions = {});

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

TANDEM_SCALAR_OVERLOADS(equal)
TANDEM_SCALAR_OVERLOADS(not_equal)
TANDEM_SCALAR_OVERLOADS(less)
TANDEM_SCALAR_OVERLOADS(less_equal)
TANDEM_SCALAR_OVERLOADS(greater)
TANDEM_SCALAR_OVERLOADS(greater_equal)
TANDEM_SCALAR_OPERATORS(==)
TANDEM_SCALAR_OPERATORS(!=)
TANDEM_SCALAR_OPERATORS(<)
TANDEM_SCALAR_OPERATORS(<=)
TANDEM_SCALAR_OPERATORS(>)
TANDEM_SCALAR_OPERATORS(>=)
TANDEM_SCALAR_OPERATORS(&)
TANDEM_SCALAR_OPERATORS(|)
TANDEM_SCALAR_OPERATORS(^)
inline Tensor& operator&=(Tensor& x, const Tensor& y) { return x = x & y; }
inline Tensor& operator|=(Tensor& x, const Tensor& y) { return x = x | y; }
inline Tensor& operator^=(Tensor& x, const Tensor& y) { return x = x ^ y; }

extern TANDEM_API const OpDef equal_op, not_equal_op, less_op, less_equal_op, greater_op, greater_equal_op, select_op,
    logical_and_op, logical_or_op, logical_xor_op, logical_not_op, is_nan_op, is_inf_op, is_finite_op;

namespace rules {

constexpr Info test(const char* name, int arity, DTypes d) {
  return {.name = name, .arity = arity, .dtypes = d, .saves = Saves::nothing, .blocked = true};
}

struct Equal {
  static constexpr Info info = test("equal", 2, numbers | DType::bool_);  // the row adds strings
  static constexpr const OpDef& row = equal_op;
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a == b;
  }
};
struct NotEqual {
  static constexpr Info info = test("not_equal", 2, numbers | DType::bool_);
  static constexpr const OpDef& row = not_equal_op;
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a != b;
  }
};
struct Less {
  static constexpr Info info = test("less", 2, reals);
  static constexpr const OpDef& row = less_op;
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a < b;
  }
};
struct LessEqual {
  static constexpr Info info = test("less_equal", 2, reals);
  static constexpr const OpDef& row = less_equal_op;
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a <= b;
  }
};
struct Greater {
  static constexpr Info info = test("greater", 2, reals);
  static constexpr const OpDef& row = greater_op;
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a > b;
  }
};
struct GreaterEqual {
  static constexpr Info info = test("greater_equal", 2, reals);
  static constexpr const OpDef& row = greater_equal_op;
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a >= b;
  }
};
/// Moves bits: every dtype runs as the integer of its width; the row's kernel does the renaming and knows strings.
struct Select {
  static constexpr Info info{.name = "select",
                             .arity = 3,
                             .dtypes = dtypes_of(DType::bool_, DType::int16, DType::int32, DType::int64),
                             .saves = Saves::inputs,
                             .first_is_mask = true};
  static constexpr const OpDef& row = select_op;
  static constexpr bool first_is_mask = true;
  template <class V>
  static TANDEM_HD V forward(mask_t<V> m, V a, V b) {
    return select(m, a, b);
  }
  static Grads gradient(const GradCall& c);
};
struct LogicalAnd {
  static constexpr Info info = test("logical_and", 2, dtypes::boolean);
  static constexpr const OpDef& row = logical_and_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a & b;
  }
};
struct LogicalOr {
  static constexpr Info info = test("logical_or", 2, dtypes::boolean);
  static constexpr const OpDef& row = logical_or_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a | b;
  }
};
struct LogicalXor {
  static constexpr Info info = test("logical_xor", 2, dtypes::boolean);
  static constexpr const OpDef& row = logical_xor_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a ^ b;
  }
};
struct LogicalNot {
  static constexpr Info info = test("logical_not", 1, dtypes::boolean);
  static constexpr const OpDef& row = logical_not_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return x ^ V(1);
  }
};
struct IsNan {
  static constexpr Info info = test("is_nan", 1, reals);
  static constexpr const OpDef& row = is_nan_op;
  template <class V>
  static TANDEM_HD mask_t<V> forward(V x) {
    return is_nan(x);
  }
};
struct IsInf {
  static constexpr Info info = test("is_inf", 1, reals);
  static constexpr const OpDef& row = is_inf_op;
  template <class V>
  static TANDEM_HD mask_t<V> forward(V x) {
    return is_inf(x);
  }
};
struct IsFinite {
  static constexpr Info info = test("is_finite", 1, reals);
  static constexpr const OpDef& row = is_finite_op;
  template <class V>
  static TANDEM_HD mask_t<V> forward(V x) {
    return is_finite(x);
  }
};
using compare = RuleList<Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, Select, LogicalAnd, LogicalOr,
                         LogicalXor, LogicalNot, IsNan, IsInf, IsFinite>;

}  // namespace rules
}  // namespace TANDEM_NS
