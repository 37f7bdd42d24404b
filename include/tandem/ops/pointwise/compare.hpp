// Comparison, choice and logic, element by element: equal ... greater_equal, where, logical_*, is_nan, is_inf,
// is_finite, approximate_equal, and the operators == != < <= > >= & | ^ ~. Bits of integers: pointwise/bitwise.hpp.
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/ops/scalar_math.hpp"

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

#ifdef TANDEM_IMPLEMENT_COMPARE
#include "tandem/base/bytes.hpp"
#include "tandem/cpu/elements.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/bitwise.hpp"
#include "tandem/ops/pointwise/row.hpp"
namespace TANDEM_NS {
namespace detail {

template <class R, bool Negate>
void compare_numbers_or_strings(const KernelCall& c) {
  if (c.in[0].spec->dtype != DType::string) return cpu::pointwise<R>(c);
  const Bytes *a = c.in[0].as<const Bytes>(), *b = c.in[1].as<const Bytes>();
  bool* const out = c.out[0].as<bool>();
  cpu::for_each_element(c.in, c.out[0].shape(),
                        [=](i64 i, const i64* at) { out[i] = (a[at[0]] == b[at[1]]) != Negate; });
}
template <class R, bool Negate>
constexpr OpDef comparison_row() {
  OpDef r = pointwise_row<R>();
  r.cpu = &compare_numbers_or_strings<R, Negate>;
  r.dtypes = r.dtypes | DType::string;
  return r;
}

template <class T>
void select_elements(const KernelCall& c) {
  const bool* const m = c.in[0].as<const bool>();
  const T *a = c.in[1].as<const T>(), *b = c.in[2].as<const T>();
  T* const out = c.out[0].as<T>();
  cpu::for_each_element(c.in, c.out[0].shape(), [=](i64 i, const i64* at) { out[i] = m[at[0]] ? a[at[1]] : b[at[2]]; });
}
struct Wide {
  u64 half[2];
};
// The dtype whose loop moves elements of this many bytes.
constexpr DType select_as(std::size_t width) {
  return width == 1 ? DType::bool_ : width == 2 ? DType::int16 : width == 4 ? DType::int32 : DType::int64;
}
TANDEM_INLINE DenseLoop select_loop(DType d, const Attrs& attrs) {
  if (d == DType::string || size_of(d) == 16) return {};
  return cpu::dense_loop<rules::Select>(select_as(size_of(d)), attrs);
}
TANDEM_INLINE void select_kernel(const KernelCall& c) {
  const DType d = c.out[0].spec->dtype;
  if (d == DType::string) return select_elements<Bytes>(c);
  const std::size_t width = size_of(d);
  if (width == 16) return select_elements<Wide>(c);
  const DType as = select_as(width);
  if (as == d) return cpu::pointwise<rules::Select>(c);
  Spec specs[] = {*c.in[1].spec, *c.in[2].spec, *c.out[0].spec};
  for (Spec& s : specs) s.dtype = as;
  const Operand in[] = {c.in[0], {c.in[1].data, &specs[0]}, {c.in[2].data, &specs[1]}},
                out[] = {{c.out[0].data, &specs[2]}};
  KernelCall same = c;
  same.in = in;
  same.out = out;
  cpu::pointwise<rules::Select>(same);
}
constexpr OpDef select_row() {
  OpDef r = pointwise_row<rules::Select>();
  r.cpu = &select_kernel;
  r.loop = &select_loop;
  r.dtypes = dtypes::all;
  r.in_errors = "where";
  return r;
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef equal_op = detail::comparison_row<rules::Equal, false>();
TANDEM_INLINE constexpr OpDef not_equal_op = detail::comparison_row<rules::NotEqual, true>();
TANDEM_INLINE constexpr OpDef less_op = pointwise_row<rules::Less>();
TANDEM_INLINE constexpr OpDef less_equal_op = pointwise_row<rules::LessEqual>();
TANDEM_INLINE constexpr OpDef greater_op = pointwise_row<rules::Greater>();
TANDEM_INLINE constexpr OpDef greater_equal_op = pointwise_row<rules::GreaterEqual>();
TANDEM_INLINE constexpr OpDef select_op = detail::select_row();
TANDEM_INLINE constexpr OpDef logical_and_op = pointwise_row<rules::LogicalAnd>();
TANDEM_INLINE constexpr OpDef logical_or_op = pointwise_row<rules::LogicalOr>();
TANDEM_INLINE constexpr OpDef logical_xor_op = pointwise_row<rules::LogicalXor>();
TANDEM_INLINE constexpr OpDef logical_not_op = pointwise_row<rules::LogicalNot>();
TANDEM_INLINE constexpr OpDef is_nan_op = pointwise_row<rules::IsNan>();
TANDEM_INLINE constexpr OpDef is_inf_op = pointwise_row<rules::IsInf>();
TANDEM_INLINE constexpr OpDef is_finite_op = pointwise_row<rules::IsFinite>();

namespace detail {
template <class R, class... T>
Tensor compare(const OpOptions& o, const T&... x) {
  return call<R, rules::compare>(o, x...);
}
}  // namespace detail

#define TANDEM_COMPARISON(fn, Rule, op)                                    \
  TANDEM_INLINE Tensor fn(const Tensor& a, const Tensor& b, OpOptions o) { \
    return detail::compare<rules::Rule>(o, a, b);                          \
  }                                                                        \
  TANDEM_INLINE Tensor operator op(const Tensor& a, const Tensor& b) {     \
    return detail::compare<rules::Rule>(no_options, a, b);                 \
  }
TANDEM_COMPARISON(equal, Equal, ==)
TANDEM_COMPARISON(not_equal, NotEqual, !=)
TANDEM_COMPARISON(less, Less, <)
TANDEM_COMPARISON(less_equal, LessEqual, <=)
TANDEM_COMPARISON(greater, Greater, >)
TANDEM_COMPARISON(greater_equal, GreaterEqual, >=)
#undef TANDEM_COMPARISON

TANDEM_INLINE Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, OpOptions o) {
  return detail::compare<rules::Select>(o, condition, a, b);
}
TANDEM_INLINE Grads rules::Select::gradient(const GradCall& c) {
  const Tensor zero = tandem::detail::scalar_like(0, c.g[0]);
  Grads r{Gradient(), Gradient(), Gradient()};
  if (c.needs(1)) r[1] = where(c.in[0], c.g[0], zero);
  if (c.needs(2)) r[2] = where(c.in[0], zero, c.g[0]);
  return r;
}

#define TANDEM_LOGICAL(fn, Rule, bits, op)                                                     \
  TANDEM_INLINE Tensor fn(const Tensor& a, const Tensor& b, OpOptions o) {                     \
    return detail::compare<rules::Rule>(o, a, b);                                              \
  }                                                                                            \
  TANDEM_INLINE Tensor operator op(const Tensor& a, const Tensor& b) {                         \
    return a.dtype() == DType::bool_ ? fn(a, b, no_options) : bitwise::bits(a, b, no_options); \
  }
TANDEM_LOGICAL(logical_and, LogicalAnd, bitwise_and, &)
TANDEM_LOGICAL(logical_or, LogicalOr, bitwise_or, |)
TANDEM_LOGICAL(logical_xor, LogicalXor, bitwise_xor, ^)
#undef TANDEM_LOGICAL
TANDEM_INLINE Tensor logical_not(const Tensor& x, OpOptions o) { return detail::compare<rules::LogicalNot>(o, x); }
TANDEM_INLINE Tensor operator~(const Tensor& x) {
  return x.dtype() == DType::bool_ ? logical_not(x, no_options) : bitwise::invert(x, no_options);
}

TANDEM_INLINE Tensor is_nan(const Tensor& x, OpOptions o) { return detail::compare<rules::IsNan>(o, x); }
TANDEM_INLINE Tensor is_inf(const Tensor& x, OpOptions o) { return detail::compare<rules::IsInf>(o, x); }
TANDEM_INLINE Tensor is_finite(const Tensor& x, OpOptions o) { return detail::compare<rules::IsFinite>(o, x); }
TANDEM_INLINE Tensor approximate_equal(const Tensor& a, const Tensor& b, ApproximateEqualOptions o) {
  return less(abs(a - b), tandem::detail::scalar_like(o.tolerance, a), {.name = o.name, .where = o.where});
}

}  // namespace TANDEM_NS
#endif
