// Definitions of ops/reduce/like.hpp.
#pragma once
#include "tandem/cpu/reduce/reduce.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/reduce/like.hpp"

namespace TANDEM_NS {
namespace detail {

// Checks that `small` broadcasts to `large`. Unknown dimensions match anything.
TANDEM_INLINE void check_like(const InferCall& c, const Shape& large, const Shape& small) {
  const std::uint32_t lacks = c.get<rules::LikeAttrs>().axis.mask(c.op.name, large.rank());
  const int rank = large.rank() - __builtin_popcount(lacks);
  bool fits = lacks ? small.rank() == rank : small.rank() <= rank;
  int d = small.rank() - 1;
  for (int i = large.rank() - 1; fits && i >= 0 && d >= 0; --i) {
    if (lacks >> i & 1u) continue;
    fits = small.dim(d) == large.dim(i) || small.dim(d) == 1 || small.dim(d) == none || large.dim(i) == none;
    --d;
  }
  if (!fits) raise_specs(c, "shapes do not broadcast");
}
TANDEM_INLINE Specs with_shape_of_second(const InferCall& c) {
  Specs r(c.spec(0));
  r[0].shape = c.spec(1).shape;
  return r;
}
TANDEM_INLINE Specs infer_sum_to_like(const InferCall& c) {
  check_like(c, c.spec(0).shape, c.spec(1).shape);
  return with_shape_of_second(c);
}
TANDEM_INLINE Specs infer_broadcast_like(const InferCall& c) {
  check_like(c, c.spec(1).shape, c.spec(0).shape);
  return with_shape_of_second(c);
}
TANDEM_INLINE Specs infer_reshape_like(const InferCall& c) {
  const Shape &a = c.spec(0).shape, &b = c.spec(1).shape;
  if (a.is_fully_defined() && b.is_fully_defined() && a.size() != b.size())
    raise_specs(c, "numbers of elements differ");
  return with_shape_of_second(c);
}
TANDEM_INLINE Specs infer_size_of(const InferCall& c) {
  const rules::SizeAttrs& a = c.get<rules::SizeAttrs>();
  (void)a.axis.mask(c.op.name, c.spec(0).shape.rank());
  if (!(dtypes::number | DType::complex128).has(a.dtype))
    raise_specs(c, std::string("a size cannot be ") + name(a.dtype));
  return Specs(Spec{Shape{}, a.dtype, c.spec(0).device});
}
TANDEM_INLINE Grads gradient_sum_to_like(const GradCall& c) {
  return {broadcast_like(c.g[0], c.in[0], c.get<rules::LikeAttrs>().axis), Gradient()};
}
TANDEM_INLINE Grads gradient_broadcast_like(const GradCall& c) {
  return {sum_to_like(c.g[0], c.in[0], c.get<rules::LikeAttrs>().axis), Gradient()};
}
TANDEM_INLINE Grads gradient_reshape_like(const GradCall& c) { return {reshape_like(c.g[0], c.in[0]), Gradient()}; }
// Whether the shapes are equal whatever the values of unknown dimensions.
inline bool surely_equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.shape().is_fully_defined();
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef sum_to_like_op{.name = "sum_to_like",
                                             .input_names = "x, like",
                                             .infer = &detail::infer_sum_to_like,
                                             .cpu = &cpu::sum_to_like,
                                             .cuda = TANDEM_CUDA(&cuda::sum_to_like),
                                             .gradient = &detail::gradient_sum_to_like,
                                             .dtypes = dtypes::floating | dtypes::complex | DType::complex128,
                                             .inputs = 2,
                                             .saves = Saves::shape,
                                             .shape_inputs = 2,
                                             .flags = {.takes_half = kernels_take_half},
                                             .attrs = &detail::attr_type<rules::LikeAttrs>};
TANDEM_INLINE constexpr OpDef broadcast_like_op{
    .name = "broadcast_like",
    .input_names = "x, like",
    .infer = &detail::infer_broadcast_like,
    .cpu = &cpu::broadcast_like,
    .cuda = TANDEM_CUDA(&cuda::broadcast_like),
    .gradient = &detail::gradient_broadcast_like,
    .dtypes = dtypes::number | DType::complex128 | dtypes::half_floating | dtypes::boolean,
    .inputs = 2,
    .saves = Saves::shape,
    .shape_inputs = 2,
    .attrs = &detail::attr_type<rules::LikeAttrs>};
TANDEM_INLINE constexpr OpDef reshape_like_op{.name = "reshape_like",
                                              .input_names = "x, like",
                                              .infer = &detail::infer_reshape_like,
                                              .gradient = &detail::gradient_reshape_like,
                                              .inputs = 2,
                                              .saves = Saves::shape,
                                              .shape_inputs = 2,
                                              .flags = {.alias = true}};
TANDEM_INLINE constexpr OpDef size_of_op{.name = "size_of",
                                         .infer = &detail::infer_size_of,
                                         .cpu = &cpu::size_of,
                                         .cuda = TANDEM_CUDA(&cuda::size_of),
                                         .saves = Saves::nothing,
                                         .shape_inputs = 1,
                                         .flags = {.non_differentiable = true},
                                         .attrs = &detail::attr_type<rules::SizeAttrs>};

TANDEM_INLINE Tensor detail::sum_to_like(const Tensor& x, const Tensor& like, const Axes& axis, OpOptions o) {
  if (axis == Axes::none() && detail::surely_equal(x, like)) return x;
  return apply1(sum_to_like_op, rules::LikeAttrs{axis}, o, x, like);
}
TANDEM_INLINE Tensor detail::broadcast_like(const Tensor& x, const Tensor& like, const Axes& axis, OpOptions o) {
  if (axis == Axes::none() && detail::surely_equal(x, like)) return x;
  return apply1(broadcast_like_op, rules::LikeAttrs{axis}, o, x, like);
}
TANDEM_INLINE Tensor detail::reshape_like(const Tensor& x, const Tensor& like, OpOptions o) {
  return detail::surely_equal(x, like) ? x : apply1(reshape_like_op, no_attrs, o, x, like);
}
TANDEM_INLINE Tensor detail::size_over(const Tensor& x, const Axes& axis, DType dtype, OpOptions o) {
  if (dtypes::half_floating.has(dtype)) return cast(size_over(x, axis, DType::float32), dtype, o);
  return apply1(size_of_op, rules::SizeAttrs{axis, dtype}, o, x);
}

}  // namespace TANDEM_NS
