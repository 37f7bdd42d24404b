// Slicing: x[i], x(Slice(b, e, s), Ellipsis, NewAxis, i), slice, strided_slice. Ranges of the leading axis are O(1)
// views; every other slice copies once.
// Not here: splitting an axis (concat.hpp), index tensors (ops/index).
#pragma once
#include <concepts>

#include "tandem/base/span.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {

/// A bound of a Slice: a number, or an integer scalar tensor.
struct SliceBound {
  template <std::integral I>
  SliceBound(I n) : number(static_cast<i64>(n)) {}
  SliceBound(Dimension n) : number(n) {}
  SliceBound(Tensor t) : tensor(std::move(t)) {}

  i64 number = none;
  Tensor tensor = {};
};
/// The range from `begin` up to but excluding `end`, by `step`. `none` means the respective end of the axis;
/// negative numbers count from the end. Bounds beyond the axis are clamped. One bound alone does not compile, because
/// in Python, slice(2) ends there.
struct Slice {
  Slice() = default;
  Slice(i64 from, i64 to, i64 by = 1) : begin(from), end(to), step(by) {}
  /// A range with computed bounds.
  Slice(SliceBound from, SliceBound to, i64 by = 1)
      : begin(from.number),
        end(to.number),
        step(by),
        begin_tensor(std::move(from.tensor)),
        end_tensor(std::move(to.tensor)) {}
  Slice(const SliceBound&) = delete;  // write Slice(none, 2) for the first 2, or Slice(2, none) for all from 2 on
  i64 begin = none, end = none, step = 1;
  Tensor begin_tensor = {}, end_tensor = {};  // replace begin and end where they are set
};
/// Selects all axes that the other items do not cover, in full.
struct EllipsisItem {};
/// Inserts an axis of size 1.
struct NewAxisItem {};
inline constexpr EllipsisItem Ellipsis{};
inline constexpr NewAxisItem NewAxis{};

/// One item of x(...): a Slice, an integer or an integer scalar tensor (which removes the axis), Ellipsis or
/// NewAxis.
struct SliceItem {
  enum Kind : std::uint8_t { range, index, ellipsis, new_axis };
  SliceItem(const Slice& s) : slice(s) {}
  SliceItem(EllipsisItem) : kind(ellipsis) {}
  SliceItem(NewAxisItem) : kind(new_axis) {}
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  SliceItem(I i) : slice(static_cast<i64>(i), none), kind(index) {}
  SliceItem(Dimension i) : SliceItem(static_cast<i64>(i)) {}
  SliceItem(const Tensor& i) : slice(SliceBound(i), none), kind(index) {}

  Slice slice;
  Kind kind = range;
};

/// Selects a part of x by items, one per axis. Axes after the last item are selected in full.
///   throws    errors::InvalidArgumentError for an index out of range, a step of 0, more items than axes, or a
///             tensor item that is not an int32 or int64 scalar (use gather or boolean_mask for others)
///   gradient  row-sparse (IndexedSlices) for a range of the leading axis, else g placed into zeros
TANDEM_API Tensor slice_by(const Tensor& x, std::initializer_list<SliceItem> items, OpOptions = {});
template <class... I>
Tensor Tensor::operator()(const I&... items) const {
  return slice_by(*this, {SliceItem(items)...}, no_options);
}

/// Extracts the part of x that starts at `begin` and has `size` elements along each axis (-1: to the end).
///   throws    errors::InvalidArgumentError if it extends beyond x
///   gradient  as slice_by
TANDEM_API Tensor slice(const Tensor& x, const Dims& begin, const Dims& size, OpOptions = {});

struct StridedSliceOptions {
  TANDEM_OP_OPTIONS;
  Shape strides = {};  ///< default: 1 for every axis
  int begin_mask = 0;  ///< bit i: ignore begin[i] and start at the beginning of the axis
  int end_mask = 0;
  int ellipsis_mask = 0;
  int new_axis_mask = 0;
  int shrink_axis_mask = 0;  ///< bit i: begin[i] is an index, and the axis is removed
};
/// slice_by with TensorFlow's arguments: item i is begin[i]:end[i]:strides[i], or what the masks specify.
TANDEM_API Tensor strided_slice(const Tensor& x, const Shape& begin, const Shape& end, StridedSliceOptions = {});

TANDEM_OPS(slice_ops, index, leading_slice, slice, strided_slice, strided_slice_grad)

namespace detail {
/// Returns zeros of like's shape, with the given rows at first, first + 1, .... The number of rows must be known.
Tensor set_rows_into_zeros(const Tensor& rows, i64 first, const Tensor& like);
}  // namespace detail

namespace rules {
struct IndexAttrs {
  i64 index;
  TANDEM_ATTRS(IndexAttrs, index);
};
struct LeadingSliceAttrs {
  i64 begin, size;  // size -1: to the end
  TANDEM_ATTRS(LeadingSliceAttrs, begin, size);
};
struct SliceAttrs {
  Shape begin, size;
  TANDEM_ATTRS(SliceAttrs, begin, size);
};
struct StridedSliceAttrs {
  Shape begin, end, step;  // `none`: the end of the axis
  i64 exact = 0;           // bit i: begin[i] is an index, which must be in range; the axis is kept with size 1
  TANDEM_ATTRS(StridedSliceAttrs, begin, end, step, exact);
};
}  // namespace rules
}  // namespace TANDEM_NS
