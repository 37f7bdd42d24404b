// Shape rules, gradients and definitions of the slice ops.
#pragma once
#include <algorithm>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/layout/layout.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/slice_items.hpp"

namespace TANDEM_NS {

namespace detail {

[[noreturn, gnu::cold]] TANDEM_INLINE void raise_index(const char* op, i64 index, int axis, const Spec& x) {
  if (index == none)
    errors::raise<errors::InvalidArgumentError>(op, "none is not an index (axis " + std::to_string(axis) + " of " +
                                                        to_string(x) +
                                                        "): Slice() selects a whole axis, NewAxis inserts one");
  const std::string n = std::to_string(x.shape.dim(axis));
  errors::raise<errors::InvalidArgumentError>(
      op, "index " + std::to_string(index) + " is out of range on axis " + std::to_string(axis) + " of " +
              to_string(x) +
              (x.shape.dim(axis) ? " (valid: -" + n + " to " + std::to_string(x.shape.dim(axis) - 1) + ")"
                                 : " (the axis is empty)"));
}

// Selects every step-th of `count` elements, starting at `begin`.
struct SliceRange {
  i64 begin, step, count;
};
TANDEM_INLINE SliceRange range_of(const rules::StridedSliceAttrs& a, int axis, i64 n) {
  const i64 step = a.step.dim(axis);
  i64 begin = a.begin.dim(axis), end = a.end.dim(axis);
  if (a.exact >> axis & 1) return {begin < 0 ? begin + n : begin, 1, 1};
  const i64 low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  begin = begin == none ? (step > 0 ? low : high) : std::clamp(begin < 0 ? begin + n : begin, low, high);
  end = end == none ? (step > 0 ? high : low) : std::clamp(end < 0 ? end + n : end, low, high);
  // Unsigned, because a step may have any 64-bit value.
  const u64 length =
      step > 0 ? (end > begin ? static_cast<u64>(end - begin) : 0) : (begin > end ? static_cast<u64>(begin - end) : 0);
  const u64 stride = step > 0 ? static_cast<u64>(step) : u64(0) - static_cast<u64>(step);
  return {begin, step, static_cast<i64>(length ? (length - 1) / stride + 1 : 0)};
}

TANDEM_INLINE Specs infer_index(const InferCall& c) {
  Specs r(c.spec(0));
  Shape& s = r[0].shape;
  const i64 i = c.get<rules::IndexAttrs>().index;
  if (s.rank() == 0) [[unlikely]]
    raise_specs(c, "a scalar has no axis to index");
  if (s.dim(0) != none && (i < -s.dim(0) || i >= s.dim(0))) [[unlikely]]
    raise_index(c.op.name, i, 0, c.spec(0));
  s.erase(0);
  return r;
}
inline i64 row_bytes(const Spec& s) {
  i64 n = static_cast<i64>(size_of(s.dtype));
  for (int i = 1; i < s.shape.rank(); ++i) n *= s.shape.dim(i);
  return n;
}
TANDEM_INLINE std::size_t index_offset(const Spec& x, const Attrs& attrs) {
  const i64 i = attrs.get<rules::IndexAttrs>().index;
  return static_cast<std::size_t>((i < 0 ? i + x.shape.dim(0) : i) * row_bytes(x));
}
TANDEM_INLINE Specs infer_leading_slice(const InferCall& c) {
  Specs r(c.spec(0));
  const auto& a = c.get<rules::LeadingSliceAttrs>();
  if (r[0].shape.rank() == 0 || a.begin < 0) raise_specs(c, "no rows from " + std::to_string(a.begin) + " on");
  const i64 n = r[0].shape.dim(0), size = a.size >= 0 ? a.size : n == none ? none : n - a.begin;
  if (n != none && (size < 0 || size > n - a.begin))
    raise_specs(c, std::to_string(a.size) + " rows from row " + std::to_string(a.begin) + " on reach beyond the end");
  r[0].shape.set(0, size);
  return r;
}
TANDEM_INLINE std::size_t leading_slice_offset(const Spec& x, const Attrs& attrs) {
  return static_cast<std::size_t>(attrs.get<rules::LeadingSliceAttrs>().begin * row_bytes(x));
}
TANDEM_INLINE Specs infer_slice(const InferCall& c) {
  Specs r(c.spec(0));
  Shape& s = r[0].shape;
  const auto& a = c.get<rules::SliceAttrs>();
  if (a.begin.rank() != s.rank() || a.size.rank() != s.rank())
    raise_specs(c, "begin " + to_string(a.begin) + " and size " + to_string(a.size) + " must have one entry per axis");
  for (int i = 0; i < s.rank(); ++i) {
    const i64 n = s.dim(i), b = a.begin.dim(i), size = a.size.dim(i);
    if (b < 0 || size < -1 || (n != none && (b > n || (size > 0 && size > n - b))))
      raise_specs(c, "begin " + to_string(a.begin) + " with size " + to_string(a.size) + " reaches beyond axis " +
                         std::to_string(i));
    s.set(i, size >= 0 ? size : n == none ? none : n - b);
  }
  return r;
}
TANDEM_INLINE Specs infer_strided_slice(const InferCall& c) {
  Specs r(c.spec(0));
  Shape& s = r[0].shape;
  const auto& a = c.get<rules::StridedSliceAttrs>();
  if (a.begin.rank() != s.rank() || a.end.rank() != s.rank() || a.step.rank() != s.rank())
    raise_specs(c, "begin, end and step must have one entry per axis");
  for (int i = 0; i < s.rank(); ++i) {
    const bool exact = a.exact >> i & 1;
    if (a.step.dim(i) == 0) raise_specs(c, "the step of axis " + std::to_string(i) + " is 0");
    if (s.dim(i) == none) {
      const bool whole = a.begin.dim(i) == none && a.end.dim(i) == none && (a.step.dim(i) == 1 || a.step.dim(i) == -1);
      s.set(i, exact ? 1 : whole ? s.dim(i) : none);
      continue;
    }
    if (exact && (a.begin.dim(i) < -s.dim(i) || a.begin.dim(i) >= s.dim(i)))
      raise_index(c.op.name, a.begin.dim(i), i, c.spec(0));
    s.set(i, range_of(a, i, s.dim(i)).count);
  }
  return r;
}

TANDEM_INLINE void slice_kernel(const KernelCall& c) {
  i64 step[max_rank];
  std::fill_n(step, max_rank, 1);
  cpu::slice(c, c.attrs.get<rules::SliceAttrs>().begin.begin(), step);
}
TANDEM_INLINE void ranges_of(const KernelCall& c, const Shape& x, i64* begin, i64* step) {
  for (int i = 0; i < x.rank(); ++i) {
    const SliceRange r = range_of(c.attrs.get<rules::StridedSliceAttrs>(), i, x.dim(i));
    begin[i] = r.begin;
    step[i] = r.step;
  }
}
TANDEM_INLINE void strided_slice_kernel(const KernelCall& c) {
  i64 begin[max_rank], step[max_rank];
  ranges_of(c, c.in[0].shape(), begin, step);
  cpu::slice(c, begin, step);
}
TANDEM_INLINE Specs infer_strided_slice_grad(const InferCall& c) {
  check_upstream(c, &infer_strided_slice, c.attrs, c.in.subspan(1));
  return Specs(Spec{c.spec(1).shape, c.spec(0).dtype, c.spec(0).device});
}
TANDEM_INLINE void strided_slice_grad_kernel(const KernelCall& c) {
  i64 begin[max_rank], step[max_rank];
  ranges_of(c, c.out[0].shape(), begin, step);
  cpu::unslice(c, begin, step);
}

TANDEM_INLINE rules::StridedSliceAttrs whole_axes(int rank) {
  rules::StridedSliceAttrs a;
  for (int i = 0; i < rank; ++i) a.begin.push_back(none), a.end.push_back(none), a.step.push_back(1);
  return a;
}
TANDEM_INLINE Tensor set_into_zeros(const Tensor& g, const Tensor& like, const rules::StridedSliceAttrs& a) {
  return apply1(strided_slice_grad_op, a, no_options, g, like);
}
TANDEM_INLINE Tensor set_rows_into_zeros(const Tensor& rows, i64 first, const Tensor& like) {
  auto a = whole_axes(like.rank());
  a.begin.set(0, first);
  a.end.set(0, first + rows.shape().dim(0));
  return set_into_zeros(rows, like, a);
}
// Row-sparse, so that the gradients of x[0], x[1], ... add up without a tensor of x's size for each. If the row's
// number is not known, because it counts from an end that is not known, the gradient is dense.
TANDEM_INLINE Grads index_gradient(const GradCall& c) {
  const i64 i = c.get<rules::IndexAttrs>().index, n = c.in[0].shape().dim(0);
  Tensor row = expand_dims(c.g[0], 0);
  if (i >= 0 || n != none) return Grads(Gradient::of_rows(std::move(row), i < 0 ? i + n : i, c.in[0]));
  auto a = whole_axes(c.in[0].rank());
  a.begin.set(0, i);
  a.exact = 1;
  return Grads(Gradient(set_into_zeros(row, c.in[0], a)));
}
TANDEM_INLINE Grads leading_slice_gradient(const GradCall& c) {
  const auto& s = c.get<rules::LeadingSliceAttrs>();
  if (c.g[0].shape().dim(0) != none) return Grads(Gradient::of_rows(c.g[0], s.begin, c.in[0]));
  auto a = whole_axes(c.in[0].rank());
  a.begin.set(0, s.begin);
  if (s.size >= 0) a.end.set(0, s.begin + s.size);
  return Grads(Gradient(set_into_zeros(c.g[0], c.in[0], a)));
}
TANDEM_INLINE Grads slice_gradient(const GradCall& c) {
  const auto& s = c.get<rules::SliceAttrs>();
  auto a = whole_axes(c.in[0].rank());
  for (int i = 0; i < s.begin.rank(); ++i) {
    a.begin.set(i, s.begin.dim(i));
    if (s.size.dim(i) >= 0) a.end.set(i, s.begin.dim(i) + s.size.dim(i));
  }
  return Grads(Gradient(set_into_zeros(c.g[0], c.in[0], a)));
}
TANDEM_INLINE Grads strided_slice_gradient(const GradCall& c) {
  return Grads(Gradient(set_into_zeros(c.g[0], c.in[0], c.get<rules::StridedSliceAttrs>())));
}
TANDEM_INLINE Grads strided_slice_grad_gradient(const GradCall& c) {
  return {apply1(strided_slice_op, c.attrs, no_options, c.g[0]), Gradient()};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef index_op{.name = "index",
                                       .infer = &detail::infer_index,
                                       .gradient = &detail::index_gradient,
                                       .saves = Saves::shape,
                                       .flags = {.alias = true},
                                       .attrs = &detail::attr_type<rules::IndexAttrs>,
                                       .rare = {.offset = &detail::index_offset, .in_errors = "x[i]"}};
TANDEM_INLINE constexpr OpDef leading_slice_op{
    .name = "leading_slice",
    .infer = &detail::infer_leading_slice,
    .gradient = &detail::leading_slice_gradient,
    .saves = Saves::shape,
    .flags = {.alias = true},
    .attrs = &detail::attr_type<rules::LeadingSliceAttrs>,
    .rare = {.offset = &detail::leading_slice_offset, .in_errors = "x(...)"}};
TANDEM_INLINE constexpr OpDef slice_op{.name = "slice",
                                       .infer = &detail::infer_slice,
                                       .cpu = &detail::slice_kernel,
                                       .cuda = TANDEM_CUDA(&detail::slice_kernel),
                                       .gradient = &detail::slice_gradient,
                                       .saves = Saves::shape,
                                       .attrs = &detail::attr_type<rules::SliceAttrs>};
TANDEM_INLINE constexpr OpDef strided_slice_op{.name = "strided_slice",
                                               .infer = &detail::infer_strided_slice,
                                               .cpu = &detail::strided_slice_kernel,
                                               .cuda = TANDEM_CUDA(&detail::strided_slice_kernel),
                                               .gradient = &detail::strided_slice_gradient,
                                               .saves = Saves::shape,
                                               .attrs = &detail::attr_type<rules::StridedSliceAttrs>,
                                               .rare = {.in_errors = "x(...)"}};
TANDEM_INLINE constexpr OpDef strided_slice_grad_op{.name = "strided_slice_grad",
                                                    .input_names = "g, like",
                                                    .infer = &detail::infer_strided_slice_grad,
                                                    .cpu = &detail::strided_slice_grad_kernel,
                                                    .cuda = TANDEM_CUDA(&detail::strided_slice_grad_kernel),
                                                    .gradient = &detail::strided_slice_grad_gradient,
                                                    .inputs = 2,
                                                    .saves = Saves::nothing,
                                                    .shape_inputs = 2,
                                                    .attrs = &detail::attr_type<rules::StridedSliceAttrs>};

TANDEM_INLINE Tensor Tensor::operator[](i64 i) const {
  return apply1(index_op, rules::IndexAttrs{i}, no_options, *this);
}

namespace detail {
TANDEM_INLINE Tensor slice_by_numbers(const Tensor& x, const Shape& begin, const Shape& size, const OpOptions& o) {
  const int rank = x.rank();
  bool leading = rank > 0 && begin.rank() == rank && size.rank() == rank && begin.dim(0) >= 0 && size.dim(0) >= -1;
  for (int i = 1; leading && i < rank; ++i)
    leading = begin.dim(i) == 0 && (size.dim(i) == -1 || (size.dim(i) == x.shape().dim(i) && size.dim(i) != none));
  if (leading && (x.shape().dim(0) == none ||
                  (begin.dim(0) <= x.shape().dim(0) && size.dim(0) <= x.shape().dim(0) - begin.dim(0))))
    return apply1(leading_slice_op, rules::LeadingSliceAttrs{begin.dim(0), size.dim(0)}, o, x);
  return apply1(slice_op, rules::SliceAttrs{begin, size}, o, x);
}

// The number of axes that the items consume.
TANDEM_INLINE int axes_taken(const Tensor& x, Span<const SliceItem> items) {
  int taken = 0, ellipses = 0;
  for (const SliceItem& i : items) {
    taken += i.kind == SliceItem::range || i.kind == SliceItem::index;
    ellipses += i.kind == SliceItem::ellipsis;
  }
  if (taken > x.rank() || ellipses > 1)
    errors::raise<errors::InvalidArgumentError>(
        "x(...)", ellipses > 1 ? "more than one Ellipsis"
                               : std::to_string(taken) + " items for the axes of " + to_string(x.spec()));
  return taken;
}
// The items as one range per axis, and the axes to remove or insert afterwards.
struct SliceSelection {
  rules::StridedSliceAttrs a;
  Axes squeezed = Axes::none();
  std::int8_t fresh[2 * max_rank];
  int fresh_count = 0;

  SliceSelection(const Tensor& x, Span<const SliceItem> items) {
    const int taken = axes_taken(x, items);
    int out = 0;
    for (const SliceItem& i : items) {
      if (i.kind == SliceItem::ellipsis)
        for (int k = x.rank() - taken; k > 0; --k, ++out) push_back(Slice());
      else if (i.kind == SliceItem::new_axis) new_axis(out++);
      else if (i.kind == SliceItem::range) push_back(i.slice), ++out;
      else index(i.slice.begin);
    }
    while (a.begin.rank() < x.rank()) push_back(Slice());
  }
  bool whole() const {
    for (int i = 0; i < a.begin.rank(); ++i)
      if (!whole(i)) return false;
    return a.exact == 0;
  }
  bool whole(int i) const { return a.begin.dim(i) == none && a.end.dim(i) == none && a.step.dim(i) == 1; }

 private:
  void push_back(const Slice& s) { a.begin.push_back(s.begin), a.end.push_back(s.end), a.step.push_back(s.step); }
  void index(i64 i) {
    squeezed.push_back(a.begin.rank());
    a.exact |= i64(1) << a.begin.rank();
    push_back(Slice(i, none));
  }
  void new_axis(int at) {
    if (fresh_count == 2 * max_rank) raise_rank_above_max(fresh_count + 1);
    fresh[fresh_count++] = static_cast<std::int8_t>(at);
  }
};
// Returns a view if only the leading axis is sliced, with step 1; otherwise a copy.
TANDEM_INLINE Tensor cut_out(const Tensor& x, const SliceSelection& s, OpOptions o) {
  bool leading = x.rank() > 0 && s.a.step.dim(0) == 1 && x.shape().dim(0) != none;
  for (int i = 1; leading && i < x.rank(); ++i) leading = s.whole(i) && !(s.a.exact >> i & 1);
  if (!leading) return apply1(strided_slice_op, s.a, o, x);
  const i64 n = x.shape().dim(0);
  if ((s.a.exact & 1) && (s.a.begin.dim(0) < -n || s.a.begin.dim(0) >= n))
    raise_index("x(...)", s.a.begin.dim(0), 0, x.spec());
  const SliceRange r = range_of(s.a, 0, n);
  return apply1(leading_slice_op, rules::LeadingSliceAttrs{r.begin, r.count}, o, x);
}
TANDEM_INLINE Tensor select_items(const Tensor& x, Span<const SliceItem> items, OpOptions o) {
  if (items.size() == 1 && items[0].kind == SliceItem::index)
    return apply1(index_op, rules::IndexAttrs{items[0].slice.begin}, o, x);
  const SliceSelection s(x, items);
  Tensor y = s.whole() ? x : cut_out(x, s, o);
  if (s.squeezed.size()) y = squeeze(y, {.axis = s.squeezed});
  for (int i = 0; i < s.fresh_count; ++i) y = expand_dims(y, s.fresh[i]);
  return y.is_same(x) ? identity(x, o) : y;
}

}  // namespace detail

TANDEM_INLINE Tensor strided_slice(const Tensor& x, const Shape& begin, const Shape& end, StridedSliceOptions o) {
  const tandem::detail::CallSite call(o);
  const int n = begin.rank();
  if (end.rank() != n || (o.strides.rank() && o.strides.rank() != n))
    errors::raise<errors::InvalidArgumentError>(
        "strided_slice", "begin, end and strides differ in length: " + to_string(begin) + ", " + to_string(end) + ", " +
                             to_string(o.strides));
  InlinedVector<SliceItem, max_rank> items;
  for (int i = 0; i < n; ++i) {
    if (o.ellipsis_mask >> i & 1) items.push_back(SliceItem(Ellipsis));
    else if (o.new_axis_mask >> i & 1) items.push_back(SliceItem(NewAxis));
    else if (o.shrink_axis_mask >> i & 1) items.push_back(SliceItem(begin.dim(i)));
    else
      items.push_back(
          SliceItem(Slice(o.begin_mask >> i & 1 ? none : begin.dim(i), o.end_mask >> i & 1 ? none : end.dim(i),
                          o.strides.rank() ? o.strides.dim(i) : 1)));
  }
  return detail::select_items(x, {items.begin(), items.size()}, {o.name, o.where});
}

}  // namespace TANDEM_NS
