// Definitions of ops/shape/repeat.hpp.
#pragma once
#include <algorithm>

#include "tandem/core/scope.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/shape/repeat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS {

namespace detail {

// repeat_indices: position i, repeats[i] times.
TANDEM_INLINE i64 count_of(const Operand& repeats, i64 i) {
  return repeats.spec->dtype == DType::int64 ? repeats.as<const i64>()[i] : repeats.as<const std::int32_t>()[i];
}
TANDEM_INLINE Specs infer_repeat(const InferCall& c) {
  if (!dtypes::index.has(c.spec(0).dtype) || c.spec(0).shape.rank() != 1)
    raise_specs(c, "repeats must be an int32 or int64 vector");
  return Specs(Spec{Shape{none}, DType::int64, c.spec(0).device});
}
TANDEM_INLINE Specs resolve_repeat(const KernelCall& c) {
  i64 n = 0;
  for (i64 i = 0; i < c.in[0].size(); ++i)
    if (__builtin_add_overflow(n, std::max<i64>(0, count_of(c.in[0], i)), &n))
      errors::raise<errors::InvalidArgumentError>(
          c.op, "the sum of the numbers of repeats up to position " + std::to_string(i) + " is too large");
  return Specs(Spec{Shape{n}, DType::int64, c.in[0].spec->device});
}
TANDEM_INLINE void repeat_kernel(const KernelCall& c) {
  for (i64 i = 0; i < c.in[0].size(); ++i)
    if (const i64 n = count_of(c.in[0], i); n < 0)
      errors::raise<errors::InvalidArgumentError>(
          c.op, "the number of repeats at position " + std::to_string(i) + ", " + std::to_string(n) + ", is negative");
  i64* to = c.out[0].as<i64>();
  for (i64 i = 0; i < c.in[0].size(); ++i) to = std::fill_n(to, count_of(c.in[0], i), i);
}

// Repeats every element n times: a copy without indices.
TANDEM_INLINE Tensor repeat_all(const Tensor& x, int axis, i64 n, const OpOptions& o) {
  if (n < 0) errors::raise<errors::InvalidArgumentError>("repeat", std::to_string(n) + " repeats");
  Dims multiples;
  rules::CollapseAttrs groups;
  for (int i = 0; i <= x.rank(); ++i) multiples.push_back(i == axis + 1 ? n : 1);
  for (int i = 0; i < x.rank(); ++i) groups.counts.push_back(i == axis ? 2 : 1);
  return apply1(collapse_dims_op, groups, o, tile(expand_dims(x, axis + 1), multiples));
}
TANDEM_INLINE Tensor flat_unless(const Tensor& x, const RepeatOptions& o) { return o.axis ? x : reshape(x, {-1}); }
TANDEM_INLINE Tensor repeat_each(const Tensor& x, int axis, const Tensor& repeats, const OpOptions& o) {
  const i64 n = x.shape().dim(axis), count = repeats.shape().dim(0);
  if (n != count && n != none && count != none)
    errors::raise<errors::InvalidArgumentError>("repeat", std::to_string(count) + " numbers of repeats for the " +
                                                              std::to_string(n) + " elements of axis " +
                                                              std::to_string(axis) + ": " + to_string(x.spec()));
  const bool sure = n != none && count != none;  // otherwise the numbers are checked at run time
  const Tensor each = sure ? repeats : broadcast_to(repeats, {get_shape(x)[static_cast<std::size_t>(axis)]});
  const Tensor rows = apply1(repeat_indices_op, no_attrs, no_options, each);
  return gather(x, rows, {.name = o.name, .where = o.where, .axis = axis});
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef repeat_indices_op{.name = "repeat_indices",
                                                .infer = &detail::infer_repeat,
                                                .cpu = &detail::repeat_kernel,
                                                .cuda = TANDEM_CUDA(&cuda::repeat_indices),
                                                .dtypes = dtypes::index,
                                                .saves = Saves::nothing,
                                                .flags = {.non_differentiable = true},
                                                .rare = {.resolve = &detail::resolve_repeat, .in_errors = "repeat"}};

TANDEM_INLINE Tensor repeat(const Tensor& x, const std::vector<i64>& repeats, RepeatOptions o) {
  const tandem::detail::CallSite call(o);
  const Tensor flat = detail::flat_unless(x, o);
  const int axis = resolve_axis("repeat", o.axis.value_or(0), flat.rank());
  if (repeats.size() == 1 && flat.rank() < max_rank)
    return detail::repeat_all(flat, axis, repeats[0], {o.name, o.where});
  const DeviceScope there(x.device());
  if (repeats.size() == 1) return repeat(x, constant(repeats[0]), o);
  return detail::repeat_each(flat, axis, constant(repeats, {.shape = {static_cast<i64>(repeats.size())}}),
                             {o.name, o.where});
}
TANDEM_INLINE Tensor repeat(const Tensor& x, const Tensor& repeats, RepeatOptions o) {
  const tandem::detail::CallSite call(o);
  if (repeats.rank() > 1 || !dtypes::index.has(repeats.dtype()))
    errors::raise<errors::InvalidArgumentError>(
        "repeat", "repeats must be int32 or int64 and have rank 0 or 1, not " + to_string(repeats.spec()));
  const Tensor flat = detail::flat_unless(x, o);
  const int axis = resolve_axis("repeat", o.axis.value_or(0), flat.rank());
  if (repeats.rank() == 1 && repeats.shape().dim(0) != 1)
    return detail::repeat_each(flat, axis, repeats, {o.name, o.where});
  const Tensor one = reshape(repeats, Dims(Shape{}));
  return detail::repeat_each(flat, axis, fill({get_shape(flat)[static_cast<std::size_t>(axis)]}, one),
                             {o.name, o.where});
}

TANDEM_INLINE std::vector<Tensor> meshgrid(const TensorList& list, MeshgridOptions o) {
  const tandem::detail::CallSite call(o);
  const Span<const Tensor> in = list.list();
  const auto count = static_cast<int>(in.size());
  if (o.indexing != "xy" && o.indexing != "ij")
    errors::raise<errors::InvalidArgumentError>(
        "meshgrid", "indexing must be \"xy\" or \"ij\", not \"" + std::string(o.indexing) + "\"");
  const auto axis_of = [&](int i) { return o.indexing == "xy" && count > 1 && i < 2 ? 1 - i : i; };
  std::vector<Tensor> vectors, r;
  for (const Tensor& x : in) {
    if (x.rank() > 1)
      errors::raise<errors::InvalidArgumentError>("meshgrid", "the inputs must be vectors, not " + to_string(x.spec()));
    vectors.push_back(x.rank() ? x : expand_dims(x, 0));
  }
  Dims shape;
  for (int k = 0; k < count; ++k) shape.push_back(get_shape(vectors[static_cast<std::size_t>(axis_of(k))])[0]);
  for (int i = 0; i < count; ++i) {
    Dims along;
    for (int k = 0; k < count; ++k) along.push_back(k == axis_of(i) ? -1 : 1);
    r.push_back(broadcast_to(reshape(vectors[static_cast<std::size_t>(i)], along), shape, {o.name, o.where}));
  }
  return r;
}

}  // namespace TANDEM_NS
