// Joining and splitting along an axis: concat, stack, split, unstack. Pieces along the leading axis are O(1) views.
// Not here: tile and pad (tile.hpp), slices (slice.hpp).
#pragma once
#include <span>
#include <vector>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

/// A list of tensors as an argument: {a, b}, a vector, a span. Lives for the call it is an argument of.
class TensorList {
 public:
  TensorList(std::initializer_list<Tensor> list) : list_(list.begin(), list.size()) {}
  TensorList(const std::vector<Tensor>& list) : list_(list) {}
  TensorList(std::span<const Tensor> list) : list_(list) {}
  std::span<const Tensor> list() const { return list_; }

 private:
  std::span<const Tensor> list_;
};

/// The tensors one behind the other along an axis.
///   list      at least one; one dtype, one rank >= 1, equal sizes on the other axes; sizes of 0 are fine
///   axis      in [-rank, rank)
///   throws    errors::InvalidArgumentError naming the specs
///   gradient  the pieces of g
TANDEM_API Tensor concat(const TensorList& list, i64 axis, OpOptions = {});

struct StackOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = 0;  ///< in [-rank-1, rank]
};
/// Tensors of equal shape along a new axis.
///   throws    errors::InvalidArgumentError for an empty list or differing specs
///   gradient  unstack(g)
TANDEM_API Tensor stack(const TensorList& list, StackOptions = {});
template <detail::AxisNumber I>
Tensor stack(const TensorList& list, I axis, StackOptions o = {}) {
  o.axis = static_cast<i64>(axis);
  return stack(list, o);
}

struct SplitOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = 0;
};
/// `count` equal pieces along an axis; views where the axis is the leading one.
///   throws    errors::InvalidArgumentError if count does not divide the axis, or is not positive
///   gradient  the pieces' gradients joined
TANDEM_API std::vector<Tensor> split(const Tensor& x, i64 count, SplitOptions = {});
/// Pieces of given sizes, of which one may be -1; they add up to the axis.
TANDEM_API std::vector<Tensor> split(const Tensor& x, const std::vector<i64>& sizes, SplitOptions = {});
template <detail::AxisNumber I>
std::vector<Tensor> split(const Tensor& x, i64 count, I axis, SplitOptions o = {}) {
  o.axis = static_cast<i64>(axis);
  return split(x, count, o);
}
template <detail::AxisNumber I>
std::vector<Tensor> split(const Tensor& x, const std::vector<i64>& sizes, I axis, SplitOptions o = {}) {
  o.axis = static_cast<i64>(axis);
  return split(x, sizes, o);
}

struct UnstackOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = 0;
  i64 num = -1;  ///< how many; needed where the axis is open
};
/// The slices along an axis, without it; views where the axis is the leading one.
///   gradient  stack of the slices' gradients
TANDEM_API std::vector<Tensor> unstack(const Tensor& x, UnstackOptions = {});
/// unstack(x, num, axis), as in TensorFlow: num may be -1.
template <detail::AxisNumber N, detail::AxisNumber I>
std::vector<Tensor> unstack(const Tensor& x, N num, I axis, UnstackOptions o = {}) {
  o.num = static_cast<i64>(num), o.axis = static_cast<i64>(axis);
  return unstack(x, o);
}

extern TANDEM_API const OpDef concat_op, split_like_op, stack_op, split_op, split_leading_op, unstack_op;
inline constexpr const OpDef* concat_ops[] = {&concat_op, &split_like_op,    &stack_op,
                                              &split_op,  &split_leading_op, &unstack_op};

namespace rules {
struct JoinAttrs {
  i64 axis;
  static constexpr auto fields = field_list(field("axis", &JoinAttrs::axis));
};
struct SplitAttrs {
  i64 axis, count;  // count pieces, equal ones where sizes is empty
  Shape sizes;
  static constexpr auto fields = field_list(field("axis", &SplitAttrs::axis), field("count", &SplitAttrs::count),
                                            field("sizes", &SplitAttrs::sizes));
};
}  // namespace rules
}  // namespace TANDEM_NS
