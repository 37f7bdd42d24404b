// Slicing with tensors as bounds and indices.
#pragma once
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/slice_items.hpp"

namespace TANDEM_NS {

namespace detail {

inline bool is_computed(const SliceItem& i) { return i.slice.begin_tensor.is_set() || i.slice.end_tensor.is_set(); }
inline bool is_symbolic(const SliceItem& i) {
  return (i.slice.begin_tensor.is_set() && i.slice.begin_tensor.is_symbolic()) ||
         (i.slice.end_tensor.is_set() && i.slice.end_tensor.is_symbolic());
}
TANDEM_INLINE void check_bound(const Tensor& t) {
  if (t.is_set() && (t.rank() != 0 || !dtypes::index.has(t.dtype())))
    errors::raise<errors::InvalidArgumentError>(
        "x(...)", "a tensor as an index or a bound must be an int32 or int64 scalar, not " + to_string(t.spec()) +
                      "; use gather for other indices, boolean_mask for masks");
}
// Normalizes a bound as TensorFlow does: clamps it from 0 (or -1, for a negative step) to the axis's end; negative
// bounds count from the end.
TANDEM_INLINE Tensor place(const Tensor& bound, const Tensor& n, i64 step) {
  const Tensor at = cast(bound, DType::int64), last = step > 0 ? n : n - 1;
  return minimum(maximum(where(at < 0, at + n, at), step > 0 ? 0 : -1), last);
}
// The positions along an axis of n elements that a computed item selects.
TANDEM_INLINE Tensor places_of(const SliceItem& item, const Tensor& n) {
  const Slice& s = item.slice;
  if (item.kind == SliceItem::index) {
    const Tensor i = cast(s.begin_tensor, DType::int64);
    return reshape(where(i < 0, i + n, i), {1});
  }
  if (s.step == 0) errors::raise<errors::InvalidArgumentError>("x(...)", "the step of a Slice is 0");
  const auto bound = [&](const Tensor& t, i64 number, const Tensor& missing) {
    if (!t.is_set() && number == none) return missing;
    return place(t.is_set() ? t : constant(number), n, s.step);
  };
  const Tensor zero = constant(i64{0}), before_all = constant(i64{-1});
  const Tensor begin = bound(s.begin_tensor, s.begin, s.step > 0 ? zero : n - 1);
  const Tensor end = bound(s.end_tensor, s.end, s.step > 0 ? n : before_all);
  return range(begin, s.step > 0 ? maximum(begin, end) : minimum(begin, end), constant(s.step));
}
// Selects by bounds or indices that are known only at run time: a gather for each of them; the other items as usual.
TANDEM_INLINE Tensor select_computed(const Tensor& x, Span<const SliceItem> items, OpOptions o) {
  InlinedVector<SliceItem, max_rank> rest;
  Tensor y = x;
  int axis = 0;
  const int taken = axes_taken(x, items);
  for (const SliceItem& item : items) {
    check_bound(item.slice.begin_tensor);
    check_bound(item.slice.end_tensor);
    if (!is_computed(item)) {
      rest.push_back(item);
    } else if (!is_symbolic(item)) {
      SliceItem known = item;
      const auto settle = [](Tensor& t, i64& number) {
        if (t.is_set()) number = cast(t, DType::int64).cpu().item<i64>(), t = Tensor();
      };
      settle(known.slice.begin_tensor, known.slice.begin);
      settle(known.slice.end_tensor, known.slice.end);
      rest.push_back(known);
    } else {
      const Tensor n = shape(x, {.out_type = DType::int64})[axis];
      y = gather(y, places_of(item, n), {.axis = axis});
      rest.push_back(item.kind == SliceItem::index ? SliceItem(0) : SliceItem(Slice()));
    }
    axis += item.kind == SliceItem::ellipsis ? x.rank() - taken : item.kind == SliceItem::new_axis ? 0 : 1;
  }
  return select_items(y, {rest.begin(), rest.size()}, o);
}

}  // namespace detail

TANDEM_INLINE Tensor slice_by(const Tensor& x, std::initializer_list<SliceItem> items, OpOptions o) {
  for (const SliceItem& i : items)
    if (detail::is_computed(i)) return detail::select_computed(x, {items.begin(), items.size()}, o);
  return detail::select_items(x, {items.begin(), items.size()}, o);
}
TANDEM_INLINE Tensor slice(const Tensor& x, const Dims& begin, const Dims& size, OpOptions o) {
  if (begin.is_known() && size.is_known())
    return detail::slice_by_numbers(x, begin.numbers("slice"), size.numbers("slice"), o);
  const std::vector<DimValue> from = begin.values("slice"), count = size.values("slice"), n = get_shape(x);
  if (from.size() != n.size() || count.size() != n.size())
    errors::raise<errors::InvalidArgumentError>(
        "slice", "begin " + to_string(begin.known("slice")) + " and size " + to_string(size.known("slice")) +
                     " must have one entry for each axis of " + to_string(x.spec()));
  Tensor y = x;
  for (std::size_t i = 0; i < n.size(); ++i) {
    if (from[i].is(0) && count[i].is(-1)) continue;
    const Tensor first = from[i].value();
    Tensor places;
    if (count[i].is_known() && count[i].number >= 0) {
      places = first + range(count[i].number);
    } else {
      const Tensor end = first + count[i].value();
      places = range(first, count[i].is(-1) ? n[i].value() : where(count[i].value() == -1, n[i].value(), end),
                     constant(i64{1}));
    }
    y = gather(y, places, {.axis = static_cast<i64>(i)});
  }
  return y;
}

}  // namespace TANDEM_NS
