// Definitions of ops/rule.hpp.
#pragma once
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

TANDEM_INLINE Shape broadcast_shape(const InferCall& c, const Shape& a, const Shape& b) {
  Shape r = a.rank() >= b.rank() ? a : b;
  if (a.rank() != b.rank() && a.rank() && b.rank() && detail::checks_strictly()) [[unlikely]]
    detail::raise_specs(c, "ranks differ: " + to_string(a) + " and " + to_string(b),
                        "StrictShapes is active; expand_dims adds axes");
  for (int d = 1; d <= r.rank(); ++d) {
    const i64 x = d <= a.rank() ? a.dim(a.rank() - d) : 1, y = d <= b.rank() ? b.dim(b.rank() - d) : 1;
    if (x != y && x != 1 && y != 1 && x != none && y != none) detail::raise_specs(c, "shapes do not broadcast");
    r.set(r.rank() - d, x == 1 ? y : y == 1 || y == none ? x : y);
  }
  return r;
}
namespace detail {
// Error texts are composed out of line to keep infer_pointwise small.
[[noreturn, gnu::cold, gnu::noinline]] TANDEM_INLINE void raise_dtypes_differ(const InferCall& c) {
  raise_specs(c, "dtypes differ", "cast one of them, or set .dtype where it is created");
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
