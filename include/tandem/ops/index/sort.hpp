// Order along an axis: sort, argsort, nn::top_k. Not here: argmax (ops/reduce/arg).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

enum class Direction : std::uint8_t { ascending, descending };
struct SortOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = -1;
  Direction direction = Direction::ascending;
};
/// x in order along an axis, NaN above +inf.
///   x         integers or floating, rank >= 1
///   gradient  g where each element came from
TANDEM_API Tensor sort(const Tensor& x, SortOptions = {});
TANDEM_ONE_AXIS_OVERLOAD(sort, SortOptions, axis)

struct ArgsortOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = -1;
  Direction direction = Direction::ascending;
  bool stable = true;  ///< equal elements keep their order; the sort is stable either way
};
/// Where sort takes its elements from, int32. gradient: none
TANDEM_API Tensor argsort(const Tensor& x, ArgsortOptions = {});
TANDEM_ONE_AXIS_OVERLOAD(argsort, ArgsortOptions, axis)

namespace nn {
struct TopKOptions {
  TANDEM_OP_OPTIONS;
  bool sorted = true;  ///< the result is in descending order either way
};
struct TopK {
  Tensor values, indices;
};
/// The k largest elements along the last axis, descending, and their int32 indices; the lower index first among equals,
/// NaN above +inf.
///   throws    errors::InvalidArgumentError if k is negative or above the axis's size, or for a scalar
///   gradient  to x: g where the elements came from
TANDEM_API TopK top_k(const Tensor& x, i64 k, TopKOptions = {});
}  // namespace nn

extern TANDEM_API const OpDef sort_op, top_k_op;
inline constexpr const OpDef* sort_ops[] = {&sort_op, &top_k_op};

template <>
inline constexpr int enumerators<Direction> = 2;

namespace rules {
struct SortAttrs {
  Direction direction;
  static constexpr auto fields = field_list(field("direction", &SortAttrs::direction));
};
struct TopKAttrs {
  i64 k;
  static constexpr auto fields = field_list(field("k", &TopKAttrs::k));
};
}  // namespace rules
}  // namespace TANDEM_NS
