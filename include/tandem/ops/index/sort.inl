// Definitions of ops/index/sort.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/index/sort.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/gather_nd.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {

namespace detail {

// Both ops return values and indices along the last axis.
TANDEM_INLINE Specs infer_ordered(const InferCall& c, i64 count) {
  const Spec& x = c.spec(0);
  if (x.shape.rank() == 0) raise_specs(c, "a scalar has no axis to sort");
  if (x.shape.dim(-1) != none && x.shape.dim(-1) > INT32_MAX) raise_specs(c, "the axis is too long for int32 indices");
  Specs r(x, Spec{x.shape, DType::int32, x.device});
  if (count >= 0)
    for (Spec& s : r) s.shape.set(x.shape.rank() - 1, count);
  return r;
}
TANDEM_INLINE Specs infer_sort(const InferCall& c) { return infer_ordered(c, -1); }
TANDEM_INLINE Specs infer_top_k(const InferCall& c) {
  const i64 k = c.get<rules::TopKAttrs>().k;
  const Shape& s = c.spec(0).shape;
  if (k < 0 || (s.rank() > 0 && s.dim(-1) != none && k > s.dim(-1)))
    raise_specs(c, "k = " + std::to_string(k) + " must be between 0 and the size of the last axis");
  return infer_ordered(c, k);
}
TANDEM_INLINE void sort_kernel(const KernelCall& c) {
  cpu::sort(c, c.attrs.get<rules::SortAttrs>().direction == Direction::descending);
}
TANDEM_INLINE Grads ordered_gradient(const GradCall& c) {
  if (!c.g[0].is_set()) return Grads(Gradient());
  return Grads(Gradient(put_along_axis(c.g[0], c.out[1], c.in[0], -1)));
}
// The permutations that move `axis` to the end and back.
struct AxisLast {
  Axes there = Axes::none(), back = Axes::none();
  bool moved;
  AxisLast(const char* op, const Tensor& x, i64 axis) {
    const int rank = x.rank(), a = resolve_axis(op, axis, rank);
    moved = a != rank - 1;
    for (int i = 0; i < rank; ++i)
      if (i != a) there.push_back(i);
    there.push_back(a);
    for (int i = 0; i < rank; ++i) back.push_back(i < a ? i : i == a ? rank - 1 : i - 1);
  }
  Tensor to_last(const Tensor& x) const { return moved ? transpose(x, {.perm = there}) : x; }
  Tensor to_place(const Tensor& x) const { return moved ? transpose(x, {.perm = back}) : x; }
};
TANDEM_INLINE Tensor ordered(const char* op, const Tensor& x, i64 axis, Direction direction, OpOptions o, int output) {
  const CallSite call(o, op);
  const AxisLast last(op, x, axis);
  const Tensor y = last.to_last(x);
  const Tensor* const in[] = {&y};
  return last.to_place(apply(sort_op, in, rules::SortAttrs{direction}, o)[static_cast<std::size_t>(output)]);
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef sort_op{.name = "sort",
                                      .infer = &detail::infer_sort,
                                      .cpu = &detail::sort_kernel,
                                      .cuda = TANDEM_CUDA(&cuda::sort),
                                      .gradient = &detail::ordered_gradient,
                                      .dtypes = dtypes::real,
                                      .outputs = 2,
                                      .saves = Saves::all,
                                      .attrs = &detail::attr_type<rules::SortAttrs>};
TANDEM_INLINE constexpr OpDef top_k_op{.name = "top_k",
                                       .infer = &detail::infer_top_k,
                                       .cpu = &cpu::top_k,
                                       .cuda = TANDEM_CUDA(&cuda::top_k),
                                       .gradient = &detail::ordered_gradient,
                                       .dtypes = dtypes::real,
                                       .outputs = 2,
                                       .saves = Saves::all,
                                       .attrs = &detail::attr_type<rules::TopKAttrs>,
                                       .rare = {.display = "TopK"}};

TANDEM_INLINE Tensor sort(const Tensor& x, SortOptions o) {
  return detail::ordered("sort", x, o.axis, o.direction, {o.name, o.where}, 0);
}
TANDEM_INLINE Tensor argsort(const Tensor& x, ArgsortOptions o) {
  return detail::ordered("argsort", x, o.axis, o.direction, {o.name, o.where}, 1);
}
TANDEM_INLINE nn::TopK nn::top_k(const Tensor& x, i64 k, TopKOptions o) {
  const tandem::detail::CallSite call(o);
  const Tensor* const in[] = {&x};
  Tensors r = apply(top_k_op, in, rules::TopKAttrs{k}, {o.name, o.where});
  return {std::move(r[0]), std::move(r[1])};
}

}  // namespace TANDEM_NS
