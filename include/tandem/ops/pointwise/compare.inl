// Definitions of ops/pointwise/compare.hpp.
#pragma once
#include "tandem/base/bytes.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/cpu/pointwise/elements.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/bitwise.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::rules {

struct equal_rule : Binary<numbers | DType::bool_, Saves::nothing, non_differentiable | commutative> {
  static constexpr DTypes dtypes = numbers | DType::bool_ | DType::string;
  static void kernel(const KernelCall& c);
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a == b;
  }
};
struct not_equal_rule : Binary<numbers | DType::bool_, Saves::nothing, non_differentiable | commutative> {
  static constexpr DTypes dtypes = numbers | DType::bool_ | DType::string;
  static void kernel(const KernelCall& c);
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a != b;
  }
};
struct less_rule : Binary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a < b;
  }
};
struct less_equal_rule : Binary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a <= b;
  }
};
struct greater_rule : Binary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a > b;
  }
};
struct greater_equal_rule : Binary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD mask_t<V> forward(V a, V b) {
    return a >= b;
  }
};
/// Copies bits: every dtype is processed as the integer of its width. The op's kernel maps the dtypes and handles
/// strings.
struct select_rule
    : Rule<3, dtypes_of(DType::bool_, DType::int16, DType::int32, DType::int64), Saves::inputs, takes_mask_first> {
  static constexpr const char* input_names = "condition, a, b";
  static constexpr DTypes dtypes = tandem::dtypes::all;
  static constexpr const char* in_errors = "where";
  static void kernel(const KernelCall& c);
  static DenseLoop loop(DType d, const Attrs& attrs);
  template <class V>
  static TANDEM_HD V forward(mask_t<V> m, V a, V b) {
    return select(m, a, b);
  }
  static Grads gradient(const GradCall& c) {
    const Tensor zero = tandem::detail::scalar_like(0, c.g[0]);
    Grads r{Gradient(), Gradient(), Gradient()};
    if (c.needs(1)) r[1] = where(c.in[0], c.g[0], zero);
    if (c.needs(2)) r[2] = where(c.in[0], zero, c.g[0]);
    return r;
  }
};
struct logical_and_rule : Binary<dtypes::boolean, Saves::nothing, non_differentiable | commutative> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a & b;
  }
};
struct logical_or_rule : Binary<dtypes::boolean, Saves::nothing, non_differentiable | commutative> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a | b;
  }
};
struct logical_xor_rule : Binary<dtypes::boolean, Saves::nothing, non_differentiable | commutative> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return a ^ b;
  }
};
struct logical_not_rule : Unary<dtypes::boolean, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return x ^ V(1);
  }
};
struct is_nan_rule : Unary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD mask_t<V> forward(V x) {
    return is_nan(x);
  }
};
struct is_inf_rule : Unary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD mask_t<V> forward(V x) {
    return is_inf(x);
  }
};
struct is_finite_rule : Unary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD mask_t<V> forward(V x) {
    return is_finite(x);
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {

TANDEM_DEFINE_OPS(TANDEM_COMPARE_OPS)
TANDEM_DEFINE_FUNCTIONS(TANDEM_COMPARE_OPS)

#if TANDEM_DEFINES
namespace detail {

template <class R>
void compare_numbers_or_strings(const KernelCall& c, bool negate) {
  if (c.in[0].spec->dtype != DType::string) return cpu::pointwise<R>(c);
  const Bytes *a = c.in[0].as<const Bytes>(), *b = c.in[1].as<const Bytes>();
  bool* const out = c.out[0].as<bool>();
  cpu::for_each_element(c.in, c.out[0].shape(),
                        [=](i64 i, const i64* at) { out[i] = (a[at[0]] == b[at[1]]) != negate; });
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
// The dtype whose loop copies elements of this many bytes.
constexpr DType select_as(std::size_t width) {
  return width == 1 ? DType::bool_ : width == 2 ? DType::int16 : width == 4 ? DType::int32 : DType::int64;
}

}  // namespace detail

TANDEM_INLINE void rules::equal_rule::kernel(const KernelCall& c) {
  tandem::detail::compare_numbers_or_strings<equal_rule>(c, false);
}
TANDEM_INLINE void rules::not_equal_rule::kernel(const KernelCall& c) {
  tandem::detail::compare_numbers_or_strings<not_equal_rule>(c, true);
}
TANDEM_INLINE DenseLoop rules::select_rule::loop(DType d, const Attrs& attrs) {
  if (d == DType::string || size_of(d) == 16) return {};
  return cpu::dense_loop<select_rule>(tandem::detail::select_as(size_of(d)), attrs);
}
TANDEM_INLINE void rules::select_rule::kernel(const KernelCall& c) {
  const DType d = c.out[0].spec->dtype;
  if (d == DType::string) return tandem::detail::select_elements<Bytes>(c);
  const std::size_t width = size_of(d);
  if (width == 16) return tandem::detail::select_elements<tandem::detail::Wide>(c);
  const DType as = tandem::detail::select_as(width);
  if (as == d) return cpu::pointwise<select_rule>(c);
  Spec specs[] = {*c.in[1].spec, *c.in[2].spec, *c.out[0].spec};
  for (Spec& s : specs) s.dtype = as;
  const Operand in[] = {c.in[0], {c.in[1].data, &specs[0]}, {c.in[2].data, &specs[1]}},
                out[] = {{c.out[0].data, &specs[2]}};
  KernelCall same = c;
  same.in = in;
  same.out = out;
  cpu::pointwise<select_rule>(same);
}

#define TANDEM_COMPARISON(op, name)                                                       \
  TANDEM_INLINE Tensor detail::operators::operator op(const Tensor& a, const Tensor& b) { \
    return name(a, b, no_options);                                                        \
  }
TANDEM_COMPARISON(==, equal)
TANDEM_COMPARISON(!=, not_equal)
TANDEM_COMPARISON(<, less)
TANDEM_COMPARISON(<=, less_equal)
TANDEM_COMPARISON(>, greater)
TANDEM_COMPARISON(>=, greater_equal)
#undef TANDEM_COMPARISON

#define TANDEM_LOGICAL(op, logical, bits)                                                           \
  TANDEM_INLINE Tensor detail::operators::operator op(const Tensor& a, const Tensor& b) {           \
    return a.dtype() == DType::bool_ ? logical(a, b, no_options) : bitwise::bits(a, b, no_options); \
  }
TANDEM_LOGICAL(&, logical_and, bitwise_and)
TANDEM_LOGICAL(|, logical_or, bitwise_or)
TANDEM_LOGICAL(^, logical_xor, bitwise_xor)
#undef TANDEM_LOGICAL
TANDEM_INLINE Tensor detail::operators::operator~(const Tensor& x) {
  return x.dtype() == DType::bool_ ? logical_not(x, no_options) : bitwise::invert(x, no_options);
}

TANDEM_INLINE Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b, OpOptions o) {
  return call(select_op, o, condition, a, b);
}
TANDEM_INLINE Tensor approximate_equal(const Tensor& a, const Tensor& b, ApproximateEqualOptions o) {
  const OpOptions named{o.name, o.where};
  const Tensor bound = tandem::detail::scalar_operand("approximate_equal", o.tolerance, a, named);
  return tandem::detail::in_name_of("approximate_equal",
                                    [&] { return less(abs(subtract(a, b, named)), bound, named); });
}
#endif

}  // namespace TANDEM_NS
