// Definitions of ops/pointwise/compare.hpp.
#pragma once
#include "tandem/base/bytes.hpp"
#include "tandem/cpu/pointwise/elements.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/bitwise.hpp"
#include "tandem/ops/pointwise/compare.hpp"
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
