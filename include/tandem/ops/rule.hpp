// What a pointwise rule says about itself, and the shape rule that all pointwise ops share.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace rules {

struct Info {
  const char* name;
  int arity;
  DTypes dtypes;
  Saves saves;
  bool lanewise = false;       // runs one lane at a time on std functions, until it has a pack form
  bool first_is_mask = false;  // input 0 is bool_, the others share a dtype (select)
  bool blocked = false;        // no gradient by definition
  bool own_width = false;      // depends on the dtype's width: half precision is not computed in float32
};
// What rules compute in; half precision passes through float32 tiles.
inline constexpr DTypes floats = dtypes::floating | dtypes::half_floating;
inline constexpr DTypes reals = dtypes::real | dtypes::half_floating;
inline constexpr DTypes numbers = dtypes::number | dtypes::half_floating;
constexpr Info unary(const char* name, DTypes d, Saves s) { return {name, 1, d, s}; }
constexpr Info binary(const char* name, DTypes d, Saves s) { return {name, 2, d, s}; }

}  // namespace rules

/// Broadcasts from the trailing axis: two sizes agree when equal or one of them is 1; open dims agree with anything.
///   throws  errors::InvalidArgumentError naming the op and both specs
TANDEM_API Shape broadcast_shape(const InferCall& c, const Shape& a, const Shape& b);
/// Broadcast shape of all inputs, whose dtypes must agree; the result is bool_ where `to_bool`.
TANDEM_API Specs infer_pointwise(const InferCall& c, const rules::Info& info, bool to_bool);

/// The ops of a file, for look-up by name and for the check that a called rule is listed.
template <class... R>
struct RuleList {
  template <class Q>
  static constexpr bool has = (std::is_same_v<Q, R> || ...);
};

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_POINTWISE
namespace TANDEM_NS {

TANDEM_INLINE Shape broadcast_shape(const InferCall& c, const Shape& a, const Shape& b) {
  Shape r = a.rank() >= b.rank() ? a : b;
  for (int d = 1; d <= r.rank(); ++d) {
    const i64 x = d <= a.rank() ? a.dim(a.rank() - d) : 1, y = d <= b.rank() ? b.dim(b.rank() - d) : 1;
    if (x != y && x != 1 && y != 1 && x != none && y != none) detail::raise_specs(c, "shapes do not broadcast");
    r.set(r.rank() - d, x == 1 ? y : y == 1 || y == none ? x : y);
  }
  return r;
}
namespace detail {
// Their texts are made out of line: infer_pointwise stays small.
[[noreturn, gnu::cold, gnu::noinline]] TANDEM_INLINE void raise_dtypes_differ(const InferCall& c) {
  raise_specs(c, "dtypes differ", "cast one of them, or give .dtype where it is made");
}
[[noreturn, gnu::cold, gnu::noinline]] TANDEM_INLINE void raise_no_condition(const InferCall& c) {
  raise_specs(c, "the condition must be bool, not " + std::string(name(c.spec(0).dtype)));
}
[[gnu::noinline]] TANDEM_INLINE void broadcast_into(Shape& shape, const InferCall& c, const Spec& s) {
  shape = broadcast_shape(c, shape, s.shape);
}
}  // namespace detail

TANDEM_INLINE Specs infer_pointwise(const InferCall& c, const rules::Info& info, bool to_bool) {
  std::size_t i = info.first_is_mask ? 1 : 0;
  Specs out(c.spec(i));
  Spec& o = out[0];
  if (info.first_is_mask) {
    if (c.spec(0).dtype != DType::bool_) detail::raise_no_condition(c);
    if (!(c.spec(0).shape == o.shape)) detail::broadcast_into(o.shape, c, c.spec(0));
  }
  for (++i; i < c.in.size(); ++i) {
    const Spec& s = c.spec(i);
    if (s.dtype != o.dtype) [[unlikely]]
      detail::raise_dtypes_differ(c);
    if (!(s.shape == o.shape)) detail::broadcast_into(o.shape, c, s);
  }
  if (to_bool) o.dtype = DType::bool_;
  return out;
}

}  // namespace TANDEM_NS
#endif
