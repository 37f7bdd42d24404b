// Definitions of ops/index/sets.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/index/search.hpp"
#include "tandem/ops/index/sets.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::sets {
namespace impl {

inline void check(const char* op, const Tensor& a, const Tensor& b) {
  const Shape &s = a.shape(), &t = b.shape();
  bool fits = s.rank() == t.rank() && s.rank() > 0 && a.dtype() == b.dtype();
  for (int i = 0; fits && i + 1 < s.rank(); ++i) fits = s.dim(i) == t.dim(i) || s.dim(i) == none || t.dim(i) == none;
  if (!fits)
    errors::raise<errors::InvalidArgumentError>(
        op, "needs sets of one dtype in the last axis, and equal sizes on the others: " + to_string(a.spec()) + " x " +
                to_string(b.spec()));
}
TANDEM_INLINE Tensor sorted(const Tensor& x) { return tandem::sort(stop_gradient(x)); }
// Where an element of a sorted row is the first of its value: its own place is where it would be inserted.
TANDEM_INLINE Tensor is_first(const Tensor& row) {
  const Tensor place = searchsorted(row, row);
  return equal(place, cumsum(ones_like(place), {.axis = -1, .exclusive = true}));
}
TANDEM_INLINE Tensor is_in(const Tensor& values, const Tensor& row) {
  return greater(searchsorted(row, values, {.side = Side::right}), searchsorted(row, values));
}
TANDEM_INLINE Sets chosen(const Tensor& row, const Tensor& keep, const OpOptions& o) {
  return {boolean_mask(row, keep, {.name = o.name, .where = o.where}), count_nonzero(keep, {.axis = {-1}})};
}

}  // namespace impl

TANDEM_INLINE Sets intersection(const Tensor& a, const Tensor& b, OpOptions o) {
  const tandem::detail::CallSite call(o, "intersection");
  impl::check("intersection", a, b);
  const Tensor x = impl::sorted(a);
  return impl::chosen(x, logical_and(impl::is_first(x), impl::is_in(x, impl::sorted(b))), o);
}
TANDEM_INLINE Sets difference(const Tensor& a, const Tensor& b, DifferenceOptions o) {
  const tandem::detail::CallSite call(o, "difference");
  impl::check("difference", a, b);
  const Tensor x = impl::sorted(o.aminusb ? a : b), others = impl::sorted(o.aminusb ? b : a);
  return impl::chosen(x, logical_and(impl::is_first(x), logical_not(impl::is_in(x, others))), {o.name, o.where});
}
TANDEM_INLINE Sets union_(const Tensor& a, const Tensor& b, OpOptions o) {
  const tandem::detail::CallSite call(o, "union_");
  impl::check("union_", a, b);
  const Tensor x = impl::sorted(concat({a, b}, -1));
  return impl::chosen(x, impl::is_first(x), o);
}
TANDEM_INLINE Tensor size(const Tensor& a, OpOptions o) {
  const tandem::detail::CallSite call(o, "size");
  const Tensor keep = impl::is_first(impl::sorted(a));
  return cast(count_nonzero(keep, {.axis = {-1}}), DType::int32, o);
}

}  // namespace TANDEM_NS::sets
