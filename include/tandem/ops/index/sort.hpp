// Sorting along an axis: sort, argsort, nn::top_k. Not here: argmax (ops/reduce/arg).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

enum class Direction : std::uint8_t { ascending, descending };  ///< least or greatest first
struct SortOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = -1;
  Direction direction = Direction::ascending;
};
/// Sorts a tensor along an axis. NaN sorts above +inf.
///   x         integers or floating, rank >= 1
///   gradient  g at the position each element came from
TANDEM_API Tensor sort(const Tensor& x, SortOptions = {});
TANDEM_ONE_AXIS_OVERLOAD(sort, SortOptions, axis)

struct ArgsortOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = -1;
  Direction direction = Direction::ascending;
  bool stable = true;  ///< equal elements keep their order; the sort is always stable
};
/// Returns the int32 indices that sort a tensor along an axis. gradient: none
TANDEM_API Tensor argsort(const Tensor& x, ArgsortOptions = {});
TANDEM_ONE_AXIS_OVERLOAD(argsort, ArgsortOptions, axis)

namespace nn {
struct TopKOptions {
  TANDEM_OP_OPTIONS;
  bool sorted = true;  ///< the result is always in descending order
};
struct TopK {
  Tensor values, indices;  ///< dtype of the input; int32, positions on the last axis
};
/// Returns the k largest elements along the last axis, in descending order, and their int32 indices. Among equal
/// elements the lower index comes first; NaN is above +inf.
///   throws    errors::InvalidArgumentError if k is negative or larger than the axis, or x is a scalar
///   gradient  to x: g at the positions the elements came from
TANDEM_API TopK top_k(const Tensor& x, i64 k, TopKOptions = {});
}  // namespace nn

TANDEM_OPS(sort_ops, sort, top_k)

template <>
inline constexpr int enumerators<Direction> = 2;

namespace rules {
struct SortAttrs {
  Direction direction;
  TANDEM_ATTRS(SortAttrs, direction);
};
struct TopKAttrs {
  i64 k;
  TANDEM_ATTRS(TopKAttrs, k);
};
}  // namespace rules
}  // namespace TANDEM_NS
