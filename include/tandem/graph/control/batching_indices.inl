// Definitions of graph/control/batching.hpp: the rules of ops that read and write at indices. Not here: those of all
// other ops (batching_rules.inl).
#pragma once
#include "tandem/graph/control/batching.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/gather_nd.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::control::batching {

TANDEM_LAZY_INLINE Tensors gather(const BatchCall& c) {
  const auto& a = c.attrs<rules::GatherAttrs>();
  const i64 axis = a.axis < 0 ? a.axis + c.rank(0) : a.axis;
  if (a.batch_dims == 0 && !c.is_batched(1))
    return c.apply(rules::GatherAttrs{axis + 1, 0}, {c.in[0].tensor, c.in[1].tensor});
  if (a.batch_dims > 0 || c.is_batched(0))
    return c.apply(rules::GatherAttrs{axis + 1, a.batch_dims + 1}, c.all_repeated());
  Tensor r = c.apply(rules::GatherAttrs{axis, 0}, {c.in[0].tensor, c.in[1].tensor})[0];
  if (axis == 0) return one(std::move(r));
  Axes perm(axis);  // the rows' axis is where that of the indices was
  for (int i = 0; i < r.rank(); ++i)
    if (i != axis) perm.push_back(i);
  return one(tandem::transpose(r, {.perm = perm}));
}
TANDEM_LAZY_INLINE Tensors gather_grad(const BatchCall& c) {
  const auto& a = c.attrs<rules::GatherAttrs>();
  const i64 axis = a.axis < 0 ? a.axis + c.rank(2) : a.axis;
  return c.apply(rules::GatherAttrs{axis + 1, a.batch_dims + 1}, c.all_repeated());
}
TANDEM_LAZY_INLINE Tensors gather_nd(const BatchCall& c) {
  const i64 dims = c.attrs<rules::GatherNdAttrs>().batch_dims;
  if (dims == 0 && c.in.size() == 2 && !c.is_batched(0)) return c.apply(c.node.attrs, {c.in[0].tensor, c.in[1].tensor});
  return c.apply(rules::GatherNdAttrs{dims + 1}, c.all_repeated());
}
// The number of each row, repeated to rows of a shape; there must be a known number of rows.
TANDEM_LAZY inline Tensor row_numbers(const BatchCall& c, const Shape& row, DType dtype) {
  Shape ones;
  while (ones.rank() < row.rank()) ones.push_back(1);
  return broadcast_to(reshape(cast(tandem::range(c.rows.number), dtype), with_first(ones, c.rows.number)),
                      c.with_rows(row));
}
// Index vectors, input i, behind the numbers of their rows. Unset if sizes are not known.
TANDEM_LAZY inline Tensor row_indices(const BatchCall& c, unsigned i) {
  Shape numbers = c.row(i).shape;
  if (!c.rows.is_known() || !numbers.is_fully_defined()) return {};
  numbers.set(numbers.rank() - 1, 1);
  return tandem::concat({row_numbers(c, numbers, c.row(i).dtype), c.repeated(i)}, -1);
}
TANDEM_LAZY_INLINE Tensors scatter_into(const BatchCall& c) {
  const Tensor indices = row_indices(c, 1);
  return indices.is_set() ? c.apply(c.node.attrs, {c.repeated(0), indices, c.repeated(2)}) : Tensors();
}
TANDEM_LAZY_INLINE Tensors scatter_nd(const BatchCall& c) {
  const Tensor indices = row_indices(c, 0);
  if (!indices.is_set()) return {};
  const Shape& to = c.attrs<rules::ScatterNdAttrs>().shape;
  return c.apply(rules::ScatterNdAttrs{with_first(to, c.rows.number)}, {indices, c.repeated(1)});
}
// Segments: the ids of each row follow those of the row before. Negative ids stay so. Ids that are too
// large are at least the number of all segments.
TANDEM_LAZY inline Tensors segments(const BatchCall& c, i64 each, const Spec* like) {
  if (!c.rows.is_known() || !c.row(0).shape.is_fully_defined() || !c.row(1).shape.is_fully_defined()) return {};
  const i64 n = c.rows.number, all = n * each;
  const Tensor ids = cast(c.joined(1), DType::int64);
  const Tensor first = reshape(row_numbers(c, c.row(1).shape, DType::int64), {-1}) * each;
  const Tensor in_row = logical_and(ids >= 0, ids < each);
  const Tensor own = ids + first * cast(in_row, DType::int64);
  std::vector<Tensor> in{c.joined(0), where(ids >= each, maximum(ids, all), own)};
  if (like) in.push_back(Tensor::symbol({Shape{all}, like->dtype, like->device}));
  return one(c.apart(c.apply(c.node.attrs, in)[0], 0));
}
TANDEM_LAZY_INLINE Tensors unsorted_segments(const BatchCall& c) {
  return segments(c, c.out_row(0).shape.dim(0), &c.row(2));
}
TANDEM_LAZY_INLINE Tensors segment_take(const BatchCall& c) { return segments(c, c.row(0).shape.dim(0), nullptr); }

}  // namespace TANDEM_NS::control::batching
