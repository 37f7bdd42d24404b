// Arithmetic, element by element: add, subtract, multiply, divide, negative, abs, square, maximum, minimum, sign, and
// the operators. Broadcasting is neither here nor in the loops. Two tensors must agree in dtype; a C++ number adapts.
#pragma once
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/ops/scalar_math.hpp"

namespace TANDEM_NS {

/// a + b; strings are joined.
///   a, b      numbers or strings, one dtype; shapes that broadcast, any device
///   returns   the broadcast shape, same dtype
///   throws    errors::InvalidArgumentError if dtypes differ or shapes do not broadcast
///   gradient  g, g
TANDEM_API Tensor add(const Tensor& a, const Tensor& b, OpOptions = {});
/// a - b; shapes, dtypes and errors as add. gradient: g, -g
TANDEM_API Tensor subtract(const Tensor& a, const Tensor& b, OpOptions = {});
/// a * b; shapes, dtypes and errors as add. gradient: g * b, g * a; as in all ops, complex factors of g are conjugated
TANDEM_API Tensor multiply(const Tensor& a, const Tensor& b, OpOptions = {});
/// True division, a / b, by IEEE 754. Integers up to 16 bits give float32, wider ones float64.
///   gradient  g / b, -g * y / b
TANDEM_API Tensor divide(const Tensor& a, const Tensor& b, OpOptions = {});
/// divide by its other name.
inline Tensor truediv(const Tensor& a, const Tensor& b, OpOptions o = {}) { return divide(a, b, o); }
/// -x. gradient: -g
TANDEM_API Tensor negative(const Tensor& x, OpOptions = {});
/// |x|; the lowest integer stays. Of complex numbers the modulus, as float32 or float64, which does not overflow.
///   gradient  g * sign(x); complex: g * x / |x|, 0 at 0
TANDEM_API Tensor abs(const Tensor& x, OpOptions = {});
/// -1, 0 or 1; NaN stays. gradient: none (blocked)
TANDEM_API Tensor sign(const Tensor& x, OpOptions = {});
/// x * x. gradient: 2 * g * x
TANDEM_API Tensor square(const Tensor& x, OpOptions = {});
/// The larger of a and b; NaN passes on. gradient: all of g to the larger, to a where equal
TANDEM_API Tensor maximum(const Tensor& a, const Tensor& b, OpOptions = {});
/// The smaller of a and b; NaN passes on. gradient: all of g to the smaller, to a where equal
TANDEM_API Tensor minimum(const Tensor& a, const Tensor& b, OpOptions = {});

TANDEM_API Tensor operator+(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator-(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator*(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator/(const Tensor& a, const Tensor& b);
TANDEM_API Tensor operator-(const Tensor& x);

TANDEM_SCALAR_OVERLOADS(add)
TANDEM_SCALAR_OVERLOADS(subtract)
TANDEM_SCALAR_OVERLOADS(multiply)
TANDEM_SCALAR_OVERLOADS(divide)
TANDEM_SCALAR_OVERLOADS(maximum)
TANDEM_SCALAR_OVERLOADS(minimum)
TANDEM_SCALAR_OPERATORS(+)
TANDEM_SCALAR_OPERATORS(-)
TANDEM_SCALAR_OPERATORS(*)
TANDEM_SCALAR_OPERATORS(/)

extern TANDEM_API const OpDef add_op, subtract_op, multiply_op, divide_op, negative_op, abs_op, sign_op, square_op,
    maximum_op, minimum_op;

namespace detail {
/// a op b for temporaries: where no tape listens, the result may take over the buffer of one.
TANDEM_API Tensor over(const OpDef& op, const Tensor& a, const Tensor& b, Tensor* first, Tensor* second);
/// g times the conjugate of x: the gradient of a holomorphic function whose derivative is x.
TANDEM_API Tensor times_conjugate(const Tensor& g, const Tensor& x);
}  // namespace detail

// Operators on temporaries and `x op= y` write into the buffer they are given, if nobody else holds it.
#define TANDEM_TEMPORARY_OPERATORS(op, row)                                                                     \
  inline Tensor operator op(Tensor&& a, const Tensor& b) { return detail::over(row, a, b, &a, {}); }            \
  inline Tensor operator op(const Tensor& a, Tensor&& b) { return detail::over(row, a, b, {}, &b); }            \
  inline Tensor operator op(Tensor&& a, Tensor&& b) { return detail::over(row, a, b, &a, &b); }                 \
  inline Tensor operator op(Tensor&& a, Scalar b) { return std::move(a) op tandem::detail::scalar_like(b, a); } \
  inline Tensor operator op(Scalar a, Tensor&& b) { return tandem::detail::scalar_like(a, b) op std::move(b); } \
  inline Tensor& operator op##=(Tensor& x, const Tensor& y) { return x = std::move(x) op y; }                   \
  inline Tensor& operator op##=(Tensor& x, Scalar y) { return x = std::move(x) op y; }
TANDEM_TEMPORARY_OPERATORS(+, add_op)
TANDEM_TEMPORARY_OPERATORS(-, subtract_op)
TANDEM_TEMPORARY_OPERATORS(*, multiply_op)
TANDEM_TEMPORARY_OPERATORS(/, divide_op)
#undef TANDEM_TEMPORARY_OPERATORS

namespace rules {

struct Add {
  static constexpr auto info = binary("add", numbers, Saves::nothing);
  static constexpr const OpDef& row = add_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a + b;
  }
  static Grads gradient(const GradCall& c);
};
struct Subtract {
  static constexpr auto info = binary("subtract", numbers, Saves::nothing);
  static constexpr const OpDef& row = subtract_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a - b;
  }
  static Grads gradient(const GradCall& c);
};
struct Multiply {
  static constexpr auto info = binary("multiply", numbers, Saves::inputs);
  static constexpr const OpDef& row = multiply_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a * b;
  }
  static Grads gradient(const GradCall& c);
};
struct Divide {
  static constexpr auto info = binary("divide", floats | dtypes::complex, Saves::all);
  static constexpr const OpDef& row = divide_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a / b;
  }
  static Grads gradient(const GradCall& c);
};
struct Negative {
  static constexpr auto info = unary("negative", numbers, Saves::nothing);
  static constexpr const OpDef& row = negative_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return -x;
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Abs {
  static constexpr auto info = unary("abs", reals, Saves::inputs);
  static constexpr const OpDef& row = abs_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return abs(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Sign {
  static constexpr Info info{.name = "sign", .arity = 1, .dtypes = reals, .saves = Saves::nothing, .blocked = true};
  static constexpr const OpDef& row = sign_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return select(x > V(0), V(1), select(x < V(0), V(V(0) - V(1)), x));
  }
};
struct Square {
  static constexpr auto info = unary("square", numbers, Saves::inputs);
  static constexpr const OpDef& row = square_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return x * x;
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Maximum {
  static constexpr auto info = binary("maximum", reals, Saves::inputs);
  static constexpr const OpDef& row = maximum_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return max(a, b);
  }
  static Grads gradient(const GradCall& c);
};
struct Minimum {
  static constexpr auto info = binary("minimum", reals, Saves::inputs);
  static constexpr const OpDef& row = minimum_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return min(a, b);
  }
  static Grads gradient(const GradCall& c);
};
using arith = RuleList<Add, Subtract, Multiply, Divide, Negative, Abs, Sign, Square, Maximum, Minimum>;

}  // namespace rules
}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_ARITH
#include "tandem/base/bytes.hpp"
#include "tandem/cpu/elements.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/complex.hpp"
#include "tandem/ops/pointwise/row.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/shape/transpose.hpp"
namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE void add_numbers_or_strings(const KernelCall& c) {
  if (c.in[0].spec->dtype != DType::string) return cpu::pointwise<rules::Add>(c);
  const Bytes *a = c.in[0].as<const Bytes>(), *b = c.in[1].as<const Bytes>();
  Bytes* const out = c.out[0].as<Bytes>();
  cpu::for_each_element(c.in, c.out[0].shape(), [=](i64 i, const i64* at) {
    std::string joined(a[at[0]].view());
    out[i] = Bytes(joined += b[at[1]].view());
  });
}
constexpr OpDef add_row() {
  OpDef r = pointwise_row<rules::Add>();
  r.cpu = &add_numbers_or_strings;
  r.dtypes = r.dtypes | DType::string;
  return r;
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef add_op = detail::add_row();
TANDEM_INLINE constexpr OpDef subtract_op = pointwise_row<rules::Subtract>();
TANDEM_INLINE constexpr OpDef multiply_op = pointwise_row<rules::Multiply>();
TANDEM_INLINE constexpr OpDef divide_op = pointwise_row<rules::Divide>();
TANDEM_INLINE constexpr OpDef negative_op = pointwise_row<rules::Negative>();
TANDEM_INLINE constexpr OpDef abs_op = pointwise_row<rules::Abs>();
TANDEM_INLINE constexpr OpDef sign_op = pointwise_row<rules::Sign>();
TANDEM_INLINE constexpr OpDef square_op = pointwise_row<rules::Square>();
TANDEM_INLINE constexpr OpDef maximum_op = pointwise_row<rules::Maximum>();
TANDEM_INLINE constexpr OpDef minimum_op = pointwise_row<rules::Minimum>();

namespace detail {
template <class R, class... T>
Tensor arith(const OpOptions& o, const T&... x) {
  return call<R, rules::arith>(o, x...);
}
// The dtype that true division computes in.
inline DType division_dtype(DType d) {
  if (!is_integer(d)) return d;
  return size_of(d) <= 2 ? DType::float32 : DType::float64;
}
}  // namespace detail

TANDEM_INLINE Tensor add(const Tensor& a, const Tensor& b, OpOptions o) { return detail::arith<rules::Add>(o, a, b); }
TANDEM_INLINE Tensor subtract(const Tensor& a, const Tensor& b, OpOptions o) {
  return detail::arith<rules::Subtract>(o, a, b);
}
TANDEM_INLINE Tensor multiply(const Tensor& a, const Tensor& b, OpOptions o) {
  return detail::arith<rules::Multiply>(o, a, b);
}
TANDEM_INLINE Tensor divide(const Tensor& a, const Tensor& b, OpOptions o) {
  if (const DType d = a.dtype(); is_integer(d) && d == b.dtype()) {
    const DType to = detail::division_dtype(d);
    return detail::arith<rules::Divide>(o, cast(a, to), cast(b, to));
  }
  return detail::arith<rules::Divide>(o, a, b);
}
TANDEM_INLINE Tensor negative(const Tensor& x, OpOptions o) { return detail::arith<rules::Negative>(o, x); }
TANDEM_INLINE Tensor abs(const Tensor& x, OpOptions o) {
  if (is_complex(x.dtype())) return hypot(real(x), imag(x), o);
  return detail::arith<rules::Abs>(o, x);
}
TANDEM_INLINE Tensor sign(const Tensor& x, OpOptions o) { return detail::arith<rules::Sign>(o, x); }
TANDEM_INLINE Tensor square(const Tensor& x, OpOptions o) { return detail::arith<rules::Square>(o, x); }
TANDEM_INLINE Tensor maximum(const Tensor& a, const Tensor& b, OpOptions o) {
  return detail::arith<rules::Maximum>(o, a, b);
}
TANDEM_INLINE Tensor minimum(const Tensor& a, const Tensor& b, OpOptions o) {
  return detail::arith<rules::Minimum>(o, a, b);
}
TANDEM_INLINE Tensor detail::over(const OpDef& op, const Tensor& a, const Tensor& b, Tensor* first, Tensor* second) {
  if (&op == &divide_op && is_integer(a.dtype())) return divide(a, b, no_options);
  const Tensor* const in[] = {&a, &b};
  return apply_over(op, in, first, second);
}
TANDEM_INLINE Tensor operator+(const Tensor& a, const Tensor& b) { return detail::arith<rules::Add>(no_options, a, b); }
TANDEM_INLINE Tensor operator-(const Tensor& a, const Tensor& b) {
  return detail::arith<rules::Subtract>(no_options, a, b);
}
TANDEM_INLINE Tensor operator*(const Tensor& a, const Tensor& b) {
  return detail::arith<rules::Multiply>(no_options, a, b);
}
TANDEM_INLINE Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b, no_options); }
TANDEM_INLINE Tensor operator-(const Tensor& x) { return detail::arith<rules::Negative>(no_options, x); }

TANDEM_INLINE Grads rules::Add::gradient(const GradCall& c) {
  return {c.g[0], c.needs(1) ? Gradient(c.g[0]) : Gradient()};
}
TANDEM_INLINE Grads rules::Subtract::gradient(const GradCall& c) {
  return {c.g[0], c.needs(1) ? Gradient(-c.g[0]) : Gradient()};
}
TANDEM_INLINE Tensor detail::times_conjugate(const Tensor& g, const Tensor& x) {
  return is_complex(x.dtype()) ? g * conjugate(x) : g * x;
}
TANDEM_INLINE Grads rules::Multiply::gradient(const GradCall& c) {
  const Tensor& g = c.g[0];
  const bool complex = is_complex(g.dtype());
  const auto times = [&](const Tensor& x) { return Gradient(complex ? tandem::detail::times_conjugate(g, x) : g * x); };
  return {c.needs(0) ? times(c.in[1]) : Gradient(), c.needs(1) ? times(c.in[0]) : Gradient()};
}
TANDEM_INLINE Grads rules::Divide::gradient(const GradCall& c) {
  const Tensor q = c.g[0] / tandem::detail::conjugate(c.in[1]);
  return {q, c.needs(1) ? Gradient(-tandem::detail::times_conjugate(q, c.out[0])) : Gradient()};
}
TANDEM_INLINE Tensor rules::Negative::gradient(const Tensor& g, const Tensor&, const Tensor&) { return -g; }
TANDEM_INLINE Tensor rules::Abs::gradient(const Tensor& g, const Tensor& x, const Tensor&) { return g * sign(x); }
TANDEM_INLINE Tensor rules::Square::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return tandem::detail::times_conjugate(g, x + x);
}

namespace detail {
// All of g to the side that was taken.
inline Grads by_choice(const GradCall& c, const Tensor& first_taken) {
  const Tensor zero = scalar_like(0, c.g[0]);
  return {c.needs(0) ? Gradient(where(first_taken, c.g[0], zero)) : Gradient(),
          c.needs(1) ? Gradient(where(first_taken, zero, c.g[0])) : Gradient()};
}
}  // namespace detail
TANDEM_INLINE Grads rules::Maximum::gradient(const GradCall& c) {
  return tandem::detail::by_choice(c, greater_equal(c.in[0], c.in[1]));
}
TANDEM_INLINE Grads rules::Minimum::gradient(const GradCall& c) {
  return tandem::detail::by_choice(c, less_equal(c.in[0], c.in[1]));
}

}  // namespace TANDEM_NS
#endif
