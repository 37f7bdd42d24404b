// Definitions of ops/pointwise/arith.hpp.
#pragma once
#include "tandem/base/bytes.hpp"
#include "tandem/cpu/pointwise/elements.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/complex.hpp"
#include "tandem/ops/pointwise/complex_math.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::detail {
// Passes all of g to the selected operand.
inline Grads by_choice(const GradCall& c, const Tensor& first_chosen) {
  const Tensor zero = scalar_like(0, c.g[0]);
  return {c.needs(0) ? Gradient(where(first_chosen, c.g[0], zero)) : Gradient(),
          c.needs(1) ? Gradient(where(first_chosen, zero, c.g[0])) : Gradient()};
}
}  // namespace TANDEM_NS::detail

namespace TANDEM_NS::rules {

struct add_rule : Binary<numbers, Saves::nothing, commutative> {
  static constexpr DTypes dtypes = numbers | DType::string;
  static void kernel(const KernelCall& c);
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a + b;
  }
  static Grads gradient(const GradCall& c) { return {c.g[0], c.needs(1) ? Gradient(c.g[0]) : Gradient()}; }
};
struct subtract_rule : Binary<numbers, Saves::nothing> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a - b;
  }
  static Grads gradient(const GradCall& c) { return {c.g[0], c.needs(1) ? Gradient(-c.g[0]) : Gradient()}; }
};
struct multiply_rule : Binary<numbers, Saves::inputs, commutative> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a * b;
  }
  static Grads gradient(const GradCall& c) {
    const Tensor& g = c.g[0];
    const bool complex = is_complex(g.dtype());
    const auto times = [&](const Tensor& x) {
      return Gradient(complex ? tandem::detail::times_conjugate(g, x) : g * x);
    };
    return {c.needs(0) ? times(c.in[1]) : Gradient(), c.needs(1) ? times(c.in[0]) : Gradient()};
  }
};
struct divide_rule : Binary<floats | complexes, Saves::all> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a / b;
  }
  static Grads gradient(const GradCall& c) {
    const Tensor q = c.g[0] / tandem::conj(c.in[1]);
    return {q, c.needs(1) ? Gradient(-tandem::detail::times_conjugate(q, c.out[0])) : Gradient()};
  }
};
struct negative_rule : Unary<numbers, Saves::nothing> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return -x;
  }
  static Tensor gradient(const Tensor& g) { return -g; }
};
struct abs_rule : Unary<reals, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return abs(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g * sign(x); }
};
struct conj_rule : Unary<complexes, Saves::nothing> {
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V z) {
    return V(z.real(), -z.imag());
  }
  static Tensor gradient(const Tensor& g) { return conj(g); }
};
struct sign_rule : Unary<reals | complexes, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_sign(x);
    else return select(x > V(0), V(1), select(x < V(0), V(V(0) - V(1)), x));
  }
};
struct square_rule : Unary<numbers, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return x * x;
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return tandem::detail::times_conjugate(g, x + x); }
};
struct maximum_rule : Binary<reals, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return max(a, b);
  }
  static Grads gradient(const GradCall& c) { return tandem::detail::by_choice(c, greater_equal(c.in[0], c.in[1])); }
};
struct minimum_rule : Binary<reals, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return min(a, b);
  }
  static Grads gradient(const GradCall& c) { return tandem::detail::by_choice(c, less_equal(c.in[0], c.in[1])); }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {

TANDEM_DEFINE_OPS(TANDEM_ARITH_OPS)
TANDEM_DEFINE_FUNCTIONS(TANDEM_ARITH_OPS)

#if TANDEM_DEFINES
// Strings are concatenated.
TANDEM_INLINE void rules::add_rule::kernel(const KernelCall& c) {
  if (c.in[0].spec->dtype != DType::string) return cpu::pointwise<add_rule>(c);
  const Bytes *a = c.in[0].as<const Bytes>(), *b = c.in[1].as<const Bytes>();
  Bytes* const out = c.out[0].as<Bytes>();
  cpu::for_each_element(c.in, c.out[0].shape(), [=](i64 i, const i64* at) {
    std::string joined(a[at[0]].view());
    out[i] = Bytes(joined += b[at[1]].view());
  });
}

namespace detail {
// The dtype that true division computes in.
inline DType division_dtype(DType d) {
  if (!is_integer(d)) return d;
  return size_of(d) <= 2 ? DType::float32 : DType::float64;
}
}  // namespace detail

TANDEM_INLINE Tensor divide(const Tensor& a, const Tensor& b, OpOptions o) {
  if (const DType d = a.dtype(); is_integer(d) && d == b.dtype()) {
    const DType to = detail::division_dtype(d);
    return apply1(divide_op, no_attrs, o, cast(a, to), cast(b, to));
  }
  return apply1(divide_op, no_attrs, o, a, b);
}
TANDEM_INLINE Tensor abs(const Tensor& x, OpOptions o) {
  if (is_complex(x.dtype())) return hypot(real(x), imag(x), o);
  return apply1(abs_op, no_attrs, o, x);
}
TANDEM_INLINE Tensor conj(const Tensor& x, OpOptions o) {
  return is_complex(x.dtype()) ? apply1(conj_op, no_attrs, o, x) : x;
}
TANDEM_INLINE Tensor detail::over(const OpDef& op, const Tensor& a, const Tensor& b, Tensor* first, Tensor* second) {
  const Tensor* const in[] = {&a, &b};
  return apply_over(op, in, first, second);
}
TANDEM_INLINE Tensor detail::quotient_over(const OpDef& op, const Tensor& a, const Tensor& b, Tensor* first,
                                           Tensor* second) {
  return is_integer(a.dtype()) ? divide(a, b, no_options) : over(op, a, b, first, second);
}
TANDEM_INLINE Tensor detail::operators::operator+(const Tensor& a, const Tensor& b) {
  return apply1(add_op, no_attrs, no_options, a, b);
}
TANDEM_INLINE Tensor detail::operators::operator-(const Tensor& a, const Tensor& b) {
  return apply1(subtract_op, no_attrs, no_options, a, b);
}
TANDEM_INLINE Tensor detail::operators::operator*(const Tensor& a, const Tensor& b) {
  return apply1(multiply_op, no_attrs, no_options, a, b);
}
TANDEM_INLINE Tensor detail::operators::operator/(const Tensor& a, const Tensor& b) { return divide(a, b, no_options); }
TANDEM_INLINE Tensor detail::operators::operator-(const Tensor& x) {
  return apply1(negative_op, no_attrs, no_options, x);
}

TANDEM_INLINE Tensor detail::times_conjugate(const Tensor& g, const Tensor& x) {
  return is_complex(x.dtype()) ? g * conj(x) : g * x;
}
#endif

}  // namespace TANDEM_NS
