// Definitions of ops/shape/tile.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/layout/layout.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs broadcast_spec(const char* op, const Spec& x, const Shape& to) {
  bool fits = x.shape.rank() <= to.rank();
  for (int i = 1; fits && i <= x.shape.rank(); ++i) {
    const i64 a = x.shape.dim(-i), b = to.dim(-i);
    fits = a == b || a == 1 || a == none || b == none;
  }
  for (i64 d : to) fits &= d >= 0 || d == none;
  if (!fits) errors::raise<errors::InvalidArgumentError>(op, to_string(x) + " does not broadcast to " + to_string(to));
  return Specs(Spec{to, x.dtype, x.device});
}
TANDEM_INLINE Specs infer_broadcast_to(const InferCall& c) {
  return broadcast_spec(c.op.name, c.spec(0), c.get<rules::BroadcastAttrs>().shape);
}
TANDEM_INLINE Specs infer_broadcast_dynamic(const InferCall& c) {
  return broadcast_spec(c.op.name, c.spec(0), dims_with_known(c));
}
TANDEM_INLINE Specs resolve_broadcast(const KernelCall& c) {
  const Shape to(Span(c.in[1].as<const i64>(), static_cast<std::size_t>(c.in[1].size())));
  if (!to.is_fully_defined()) raise_unknown_size(c.op, to);
  return broadcast_spec(c.op, *c.in[0].spec, to);
}
TANDEM_INLINE Grads broadcast_gradient(const GradCall& c) { return Grads(Gradient(sum_to_like(c.g[0], c.in[0]))); }

TANDEM_INLINE Specs infer_tile(const InferCall& c) {
  const Shape& m = c.get<rules::TileAttrs>().multiples;
  Specs r(c.spec(0));
  Shape& s = r[0].shape;
  bool fits = m.rank() == s.rank();
  for (i64 n : m) fits &= n >= 0;
  if (!fits) raise_specs(c, "multiples " + to_string(m) + " must have one non-negative number per axis");
  for (int i = 0; i < s.rank(); ++i) {
    i64 n = none;
    if (s.dim(i) != none && __builtin_mul_overflow(s.dim(i), m.dim(i), &n))
      raise_specs(c, "multiples " + to_string(m) + " overflow");
    s.set(i, n);
  }
  return r;
}
TANDEM_INLINE Grads tile_gradient(const GradCall& c) {
  return Grads(Gradient(apply1(tile_grad_op, c.attrs, no_options, c.g[0], c.in[0])));
}
TANDEM_INLINE Specs infer_tile_grad(const InferCall& c) {
  check_upstream(c, &infer_tile, c.attrs, c.in.subspan(1));
  return Specs(Spec{c.spec(1).shape, c.spec(0).dtype, c.spec(0).device});
}
TANDEM_INLINE Grads tile_grad_gradient(const GradCall& c) {
  return {tile(c.g[0], c.get<rules::TileAttrs>().multiples), Gradient()};
}

TANDEM_INLINE Specs infer_pad(const InferCall& c) {
  const auto& a = c.get<rules::PadAttrs>();
  Specs r(c.spec(0));
  Shape& s = r[0].shape;
  if (c.spec(1).dtype != r[0].dtype) raise_specs(c, "dtypes differ", "cast one of them");
  if (c.spec(1).shape.rank() != 0) raise_specs(c, "the padding value must be a scalar");
  if (a.before.rank() != s.rank() || a.after.rank() != s.rank()) raise_specs(c, "paddings must have one pair per axis");
  for (int i = 0; i < s.rank(); ++i) {
    i64 n = none;
    if (a.before.dim(i) < 0 || a.after.dim(i) < 0 ||
        (s.dim(i) != none &&
         (__builtin_add_overflow(s.dim(i), a.before.dim(i), &n) || __builtin_add_overflow(n, a.after.dim(i), &n))))
      raise_specs(c, "paddings " + to_string(a.before) + " and " + to_string(a.after) + " are negative or too large");
    s.set(i, n);
  }
  return r;
}
TANDEM_INLINE void pad_kernel(const KernelCall& c) {
  cpu::pad(c, c.attrs.get<rules::PadAttrs>().before.begin(), c.in[1].data);
}
TANDEM_INLINE Grads pad_gradient(const GradCall& c) {
  const auto& p = c.get<rules::PadAttrs>();
  rules::StridedSliceAttrs a;
  for (int i = 0; i < p.before.rank(); ++i) {
    a.begin.push_back(p.before.dim(i));
    a.end.push_back(p.after.dim(i) ? -p.after.dim(i) : none);
    a.step.push_back(1);
  }
  const Tensor middle = apply1(strided_slice_op, a, no_options, c.g[0]);
  return {middle, c.needs(1) ? Gradient(reduce_sum(c.g[0]) - reduce_sum(middle)) : Gradient()};
}
TANDEM_INLINE Tensor pad_value(const Tensor& x, const PadOptions& o) {
  return x.dtype() == DType::string ? Tensor::allocate({Shape{}, DType::string, {}})
                                    : scalar_operand("pad", o.constant_values, x, {o.name, o.where});
}
// `computed`: amounts of unknown value are `none`.
TANDEM_INLINE void check_paddings(const Tensor& x, const Shape& before, const Shape& after, bool computed) {
  bool fits = before.rank() == x.rank() && after.rank() == x.rank();
  for (const Shape& amounts : {before, after})
    for (i64 n : amounts) fits &= n >= 0 || (n == none && computed);
  if (!fits)
    errors::raise<errors::InvalidArgumentError>(
        "pad", "paddings must have one pair of non-negative numbers per axis: " + std::to_string(before.rank()) +
                   " pairs for " + to_string(x.spec()));
}
// Pads by paddings that are not known yet: axis by axis, concatenating x between two blocks of the value.
TANDEM_INLINE Tensor pad_computed(const Tensor& x, const Paddings& paddings, const PadOptions& o) {
  if (o.mode != PadMode::constant)
    errors::raise<errors::InvalidArgumentError>(
        "pad", "mirrored paddings must be known while the function is traced; pass them as numbers");
  const std::vector<DimValue> sides[] = {paddings.before().values("pad"), paddings.after().values("pad")};
  check_paddings(x, paddings.before().known("pad"), paddings.after().known("pad"), true);
  const Tensor value = pad_value(x, o);
  Tensor y = x;
  for (std::size_t i = 0; i < sides[0].size(); ++i) {
    if (sides[0][i].is(0) && sides[1][i].is(0)) continue;
    const std::vector<DimValue> sizes = get_shape(y);
    Tensor edges[2];
    for (int side = 0; side < 2; ++side) {
      Dims block;
      for (std::size_t k = 0; k < sizes.size(); ++k) block.push_back(k == i ? sides[side][i] : sizes[k]);
      edges[side] = fill(block, value);
    }
    y = concat({edges[0], y, edges[1]}, static_cast<i64>(i));
  }
  return y;
}
// Mirrors one axis with a gather, whose gradient adds the gradients of mirrored elements to their origin.
TANDEM_INLINE Tensor mirror(const Tensor& x, int axis, i64 before, i64 after, bool edge) {
  const i64 n = x.shape().dim(axis), skip = edge ? 0 : 1;
  if (n == none && (before || after))
    errors::raise<errors::InvalidArgumentError>(
        "pad",
        "axis " + std::to_string(axis) + " of " + to_string(x.spec()) +
            " cannot be mirrored: its size is not known while the function is traced; specify it with set_shape or "
            "the function's .input_signature");
  if (n == none) return x;
  if (before > n - skip || after > n - skip)
    errors::raise<errors::InvalidArgumentError>("pad", "axis " + std::to_string(axis) + " of " + to_string(x.spec()) +
                                                           " cannot be mirrored by " + std::to_string(before) +
                                                           " and " + std::to_string(after) + " elements");
  std::vector<i64> from;
  for (i64 i = -before; i < n + after; ++i) from.push_back(i < 0 ? -i - 1 + skip : i < n ? i : 2 * n - 1 - i - skip);
  return gather(x, constant(from), {.axis = axis});
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef broadcast_to_op{.name = "broadcast_to",
                                              .infer = &detail::infer_broadcast_to,
                                              .cpu = &cpu::broadcast,
                                              .cuda = TANDEM_CUDA(&cpu::broadcast),
                                              .gradient = &detail::broadcast_gradient,
                                              .saves = Saves::shape,
                                              .attrs = &detail::attr_type<rules::BroadcastAttrs>};
TANDEM_INLINE constexpr OpDef broadcast_dynamic_op{
    .name = "broadcast_dynamic",
    .input_names = "x, shape",
    .infer = &detail::infer_broadcast_dynamic,
    .cpu = &cpu::broadcast,
    .cuda = TANDEM_CUDA(&cpu::broadcast),
    .gradient = &detail::broadcast_gradient,
    .inputs = 2,
    .saves = Saves::shape,
    .host_inputs = 2,
    .attrs = &detail::attr_type<rules::KnownDimsAttrs>,
    .rare = {.resolve = &detail::resolve_broadcast, .in_errors = "broadcast_to"}};
TANDEM_INLINE constexpr OpDef tile_op{.name = "tile",
                                      .infer = &detail::infer_tile,
                                      .cpu = &cpu::tile,
                                      .cuda = TANDEM_CUDA(&cpu::tile),
                                      .gradient = &detail::tile_gradient,
                                      .saves = Saves::shape,
                                      .attrs = &detail::attr_type<rules::TileAttrs>};
TANDEM_INLINE constexpr OpDef tile_grad_op{.name = "tile_grad",
                                           .input_names = "g, like",
                                           .infer = &detail::infer_tile_grad,
                                           .cpu = &cpu::tile_sum,
                                           .cuda = TANDEM_CUDA(&cuda::tile_sum),
                                           .gradient = &detail::tile_grad_gradient,
                                           .dtypes = dtypes::floating | dtypes::complex | DType::complex128,
                                           .inputs = 2,
                                           .saves = Saves::nothing,
                                           .shape_inputs = 2,
                                           .attrs = &detail::attr_type<rules::TileAttrs>};
TANDEM_INLINE constexpr OpDef pad_op{.name = "pad",
                                     .input_names = "x, value",
                                     .infer = &detail::infer_pad,
                                     .cpu = &detail::pad_kernel,
                                     .cuda = TANDEM_CUDA(&detail::pad_kernel),
                                     .gradient = &detail::pad_gradient,
                                     .inputs = 2,
                                     .saves = Saves::nothing,
                                     .attrs = &detail::attr_type<rules::PadAttrs>};

TANDEM_INLINE Paddings::Paddings(const Tensor& list) {
  if (list.rank() != 2 || list.shape().dim(1) != 2 || !dtypes::index.has(list.dtype()))
    errors::raise<errors::InvalidArgumentError>(
        "pad", "paddings must be an int32 or int64 tensor of shape [rank, 2], not " + to_string(list.spec()));
  before_ = Dims(list(Slice(), 0)), after_ = Dims(list(Slice(), 1));
}
TANDEM_INLINE Tensor broadcast_to(const Tensor& x, const Dims& shape, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (shape.is_known()) {
    const Shape to = shape.numbers("broadcast_to");
    if (!to.is_fully_defined()) tandem::detail::raise_unknown_size("broadcast_to", to);
    return apply1(broadcast_to_op, rules::BroadcastAttrs{to}, o, x);
  }
  const rules::KnownDimsAttrs a{shape.known("broadcast_to")};
  return apply1(broadcast_dynamic_op, a, o, x, shape.tensor("broadcast_to"));
}
TANDEM_INLINE Tensor tile(const Tensor& x, const Dims& multiples, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (multiples.is_known()) return apply1(tile_op, rules::TileAttrs{multiples.numbers("tile")}, o, x);
  const std::vector<DimValue> counts = multiples.values("tile"), sizes = get_shape(x);
  if (counts.size() != sizes.size())
    errors::raise<errors::InvalidArgumentError>(
        "tile", std::to_string(counts.size()) + " multiples for " + to_string(x.spec()) + ": one for each axis");
  Tensor y = x;
  for (int i = 0; i < x.rank(); ++i) {
    const DimValue &count = counts[static_cast<std::size_t>(i)], &size = sizes[static_cast<std::size_t>(i)];
    if (count.is(1)) continue;
    if (count.is_known()) {
      rules::TileAttrs a;
      for (int k = 0; k < x.rank(); ++k) a.multiples.push_back(k == i ? count.number : 1);
      y = apply1(tile_op, a, no_options, y);
    } else {
      const Tensor n = size.value();
      y = gather(y, floormod(range(count.tensor * n), n), {.axis = i});
    }
  }
  return y;
}
TANDEM_INLINE Tensor pad(const Tensor& x, const Paddings& paddings, PadOptions o) {
  const tandem::detail::CallSite call(o);
  const OpOptions named{o.name, o.where};
  if (!paddings.before().is_known() || !paddings.after().is_known()) return detail::pad_computed(x, paddings, o);
  const rules::PadAttrs a{paddings.before().numbers("pad"), paddings.after().numbers("pad")};
  detail::check_paddings(x, a.before, a.after, false);
  if (o.mode != PadMode::constant) {
    Tensor y = x;
    for (int i = 0; i < x.rank(); ++i)
      if (a.before.dim(i) || a.after.dim(i))
        y = detail::mirror(y, i, a.before.dim(i), a.after.dim(i), o.mode == PadMode::symmetric);
    return y.is_same(x) ? identity(x, named) : y;
  }
  return apply1(pad_op, a, named, x, detail::pad_value(x, o));
}

}  // namespace TANDEM_NS
