// Parts of a tensor: x[i], x(Slice(b, e, s), Ellipsis, NewAxis, i), slice, strided_slice. Ranges of the leading axis
// are O(1) views; every other slice copies once. Not here: pieces of a whole axis (concat.hpp), index tensors
// (ops/index).
#pragma once
#include <concepts>
#include <span>

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
/// From `begin` up to, without, `end`, by `step`; `none` stands for the axis's own end, negative numbers count from it.
/// Bounds beyond the axis are clamped.
struct Slice {
  Slice(i64 begin = none, i64 end = none, i64 step = 1) : begin(begin), end(end), step(step) {}
  /// With computed bounds.
  Slice(SliceBound b, SliceBound e = none, i64 step = 1)
      : begin(b.number),
        end(e.number),
        step(step),
        begin_tensor(std::move(b.tensor)),
        end_tensor(std::move(e.tensor)) {}
  i64 begin, end, step;
  Tensor begin_tensor = {}, end_tensor = {};  // count in place of begin and end where they are set
};
/// As many whole axes as the other items leave.
struct EllipsisItem {};
/// A new axis of size 1.
struct NewAxisItem {};
inline constexpr EllipsisItem Ellipsis{};
inline constexpr NewAxisItem NewAxis{};

/// One item of x(...): a Slice, an integer or an integer scalar tensor (the axis goes), Ellipsis or NewAxis.
struct SliceItem {
  enum Kind : std::uint8_t { range, index, ellipsis, new_axis };
  SliceItem(const Slice& s) : slice(s) {}
  SliceItem(EllipsisItem) : kind(ellipsis) {}
  SliceItem(NewAxisItem) : kind(new_axis) {}
  template <std::integral I>
  SliceItem(I i) : slice(static_cast<i64>(i)), kind(index) {}
  SliceItem(Dimension i) : SliceItem(static_cast<i64>(i)) {}
  SliceItem(const Tensor& i) : slice(SliceBound(i)), kind(index) {}

  Slice slice;
  Kind kind = range;
};

/// The part of x that the items select, one item an axis (whole axes behind the last).
///   throws    errors::InvalidArgumentError for an index out of range, a step of 0, more items than axes, or a tensor
///             among them that is not an int32 or int64 scalar (gather and boolean_mask take others)
///   gradient  row-sparse (IndexedSlices) for a range of the leading axis, else g set into zeros
TANDEM_API Tensor slice_by(const Tensor& x, std::initializer_list<SliceItem> items, OpOptions = {});
template <class... I>
Tensor Tensor::operator()(const I&... items) const {
  return slice_by(*this, {SliceItem(items)...}, no_options);
}

/// The part of x that begins at `begin` and has `size` elements along each axis (-1: to the end).
///   throws    errors::InvalidArgumentError if it reaches beyond x
///   gradient  as slice_by's
TANDEM_API Tensor slice(const Tensor& x, const Dims& begin, const Dims& size, OpOptions = {});

struct StridedSliceOptions {
  TANDEM_OP_OPTIONS;
  Shape strides = {};  ///< not given: 1 everywhere
  int begin_mask = 0;  ///< bit i: begin[i] is the axis's own beginning
  int end_mask = 0;
  int ellipsis_mask = 0;
  int new_axis_mask = 0;
  int shrink_axis_mask = 0;  ///< bit i: begin[i] is an index, the axis goes
};
/// slice_by in TensorFlow's terms: item i is begin[i]:end[i]:strides[i], or what the masks say.
TANDEM_API Tensor strided_slice(const Tensor& x, const Shape& begin, const Shape& end, StridedSliceOptions = {});

extern TANDEM_API const OpDef index_op, leading_slice_op, slice_op, strided_slice_op, strided_slice_grad_op;
inline constexpr const OpDef* slice_ops[] = {&index_op, &leading_slice_op, &slice_op, &strided_slice_op,
                                             &strided_slice_grad_op};

namespace detail {
/// Zeros of like's shape, but for rows first, first + 1, ..., whose number is known.
Tensor set_rows_into_zeros(const Tensor& rows, i64 first, const Tensor& like);
}  // namespace detail

namespace rules {
struct IndexAttrs {
  i64 index;
  static constexpr auto fields = field_list(field("index", &IndexAttrs::index));
};
struct LeadingSliceAttrs {
  i64 begin, size;  // size -1: to the end
  static constexpr auto fields =
      field_list(field("begin", &LeadingSliceAttrs::begin), field("size", &LeadingSliceAttrs::size));
};
struct SliceAttrs {
  Shape begin, size;
  static constexpr auto fields = field_list(field("begin", &SliceAttrs::begin), field("size", &SliceAttrs::size));
};
struct StridedSliceAttrs {
  Shape begin, end, step;  // `none`: the axis's own end
  i64 exact = 0;           // bit i: begin[i] is an index, which must exist; the axis stays with size 1
  static constexpr auto fields =
      field_list(field("begin", &StridedSliceAttrs::begin), field("end", &StridedSliceAttrs::end),
                 field("step", &StridedSliceAttrs::step), field("exact", &StridedSliceAttrs::exact));
};
}  // namespace rules
}  // namespace TANDEM_NS
