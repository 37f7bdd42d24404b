// Definitions of ops/shape/reshape.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

[[noreturn, gnu::cold]] TANDEM_INLINE void raise_reshape(const char* op, const Spec& x, const Shape& dims,
                                                         const std::string& why) {
  errors::raise<errors::InvalidArgumentError>(op,
                                              to_string(x) + " cannot be reshaped to " + to_string(dims) + ": " + why);
}
// Resolves -1 to a number (or `none`) and checks the sizes that are known. An entry that was unknown in the trace is
// treated as -1 once x's size is known.
TANDEM_INLINE Shape reshaped(const char* op, const Spec& x, Shape dims) {
  int open = -1;
  i64 rest = 1;
  const bool known = x.shape.is_fully_defined();
  for (int i = 0; i < dims.rank(); ++i) {
    const i64 d = dims.dim(i);
    if (d == -1 || (d == none && known)) {
      if (open >= 0) raise_reshape(op, x, dims, "only one entry may be -1");
      open = i;
    } else if (d < 0 && d != none) {
      raise_reshape(op, x, dims, "an entry is negative");
    } else if (d != none && __builtin_mul_overflow(rest, d, &rest)) {
      raise_reshape(op, x, dims, "the number of elements overflows");
    }
  }
  if (!known) {
    if (open >= 0) dims.set(open, none);
    return dims;
  }
  const i64 n = x.shape.size();
  if (open >= 0) {
    if (rest == 0) raise_reshape(op, x, dims, "-1 is ambiguous next to an axis of size 0");
    if (n % rest)
      raise_reshape(op, x, dims, std::to_string(n) + " elements are not divisible by " + std::to_string(rest));
    dims.set(open, n / rest);
  } else if (rest != n) {
    raise_reshape(op, x, dims, std::to_string(n) + " elements do not match " + std::to_string(rest));
  }
  return dims;
}
inline Specs reshaped_spec(const InferCall& c, const Shape& shape) {
  Specs r(c.spec(0));
  r[0].shape = shape;
  return r;
}

TANDEM_INLINE Specs infer_reshape(const InferCall& c) {
  return reshaped_spec(c, reshaped(c.op.name, c.spec(0), c.get<rules::ReshapeAttrs>().dims));
}
TANDEM_INLINE Specs infer_reshape_dynamic(const InferCall& c) {
  const Shape to = dims_with_known(c);
  const bool sure = to.is_fully_defined() && c.spec(0).shape.is_fully_defined();
  return reshaped_spec(c, sure ? reshaped(c.op.name, c.spec(0), to) : to);
}
TANDEM_INLINE Specs resolve_reshape(const KernelCall& c) {
  const i64* dims = c.in[1].as<i64>();
  Specs r(*c.in[0].spec);
  r[0].shape = reshaped(c.op, *c.in[0].spec, Shape(Span(dims, static_cast<std::size_t>(c.in[1].size()))));
  return r;
}
TANDEM_INLINE Specs infer_expand_dims(const InferCall& c) {
  const int rank = c.spec(0).shape.rank();
  Shape s = c.spec(0).shape;
  s.insert(resolve_axis(c.op.name, c.get<rules::AxisAttrs>().axis, rank + 1), 1);
  return reshaped_spec(c, s);
}
TANDEM_INLINE Specs infer_squeeze(const InferCall& c) {
  const Shape& x = c.spec(0).shape;
  const Axes axis = c.get<rules::AxesAttrs>().axis;
  if (x.rank() >= 2 && !axis.given() && checks_strictly())
    raise_specs(c, "no axis is given for rank " + std::to_string(x.rank()),
                "StrictShapes is active; name the axes in .axis");
  const std::uint32_t mask = axis.mask(c.op.name, x.rank());
  Shape s;
  for (int i = 0; i < x.rank(); ++i) {
    const bool named = mask >> i & 1u;
    if (named && axis.given() && x.dim(i) != 1 && x.dim(i) != none)
      errors::raise<errors::InvalidArgumentError>(c.op.name, "cannot squeeze axis " + std::to_string(i) + " of size " +
                                                                 std::to_string(x.dim(i)) + ": " +
                                                                 to_string(c.spec(0)));
    if (named && !axis.given() && x.dim(i) == none)
      raise_specs(c, "cannot tell whether an axis with an unknown dimension has size 1", "name the axes: .axis");
    if (!named || x.dim(i) != 1) {
      if (!(named && x.dim(i) == none)) s.push_back(x.dim(i));
    }
  }
  return reshaped_spec(c, s);
}
TANDEM_INLINE Specs infer_collapse(const InferCall& c) {
  const Shape& x = c.spec(0).shape;
  Shape s;
  int at = 0;
  for (i64 count : c.get<rules::CollapseAttrs>().counts) {
    if (count < 0 || count > x.rank() - at) raise_specs(c, "the groups do not match the axes");
    i64 n = 1;
    for (; count > 0; --count, ++at) n = n == none || x.dim(at) == none ? none : n * x.dim(at);
    s.push_back(n);
  }
  if (at != x.rank()) raise_specs(c, "the groups do not match the axes");
  return reshaped_spec(c, s);
}
TANDEM_INLINE Specs infer_identity(const InferCall& c) { return Specs(c.spec(0)); }
TANDEM_INLINE Grads reshape_back(const GradCall& c) {
  return Grads(Gradient(tandem::detail::reshape_like(c.g[0], c.in[0])));
}
TANDEM_INLINE Grads reshape_dynamic_back(const GradCall& c) {
  return {tandem::detail::reshape_like(c.g[0], c.in[0]), Gradient()};
}
TANDEM_INLINE Grads pass_back(const GradCall& c) { return Grads(Gradient(c.g[0])); }

template <class A>
constexpr OpDef view_row(const char* name, Specs (*infer)(const InferCall&)) {
  return {.name = name,
          .infer = infer,
          .gradient = &reshape_back,
          .saves = Saves::shape,
          .flags = {.alias = true},
          .attrs = &attr_type<A>};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef reshape_op = detail::view_row<rules::ReshapeAttrs>("reshape", &detail::infer_reshape);
TANDEM_INLINE constexpr OpDef expand_dims_op =
    detail::view_row<rules::AxisAttrs>("expand_dims", &detail::infer_expand_dims);
TANDEM_INLINE constexpr OpDef squeeze_op = detail::view_row<rules::AxesAttrs>("squeeze", &detail::infer_squeeze);
TANDEM_INLINE constexpr OpDef collapse_dims_op =
    detail::view_row<rules::CollapseAttrs>("collapse_dims", &detail::infer_collapse);
TANDEM_INLINE constexpr OpDef reshape_dynamic_op{.name = "reshape_dynamic",
                                                 .input_names = "x, dims",
                                                 .infer = &detail::infer_reshape_dynamic,
                                                 .cpu = &cpu::copy_whole,
                                                 .cuda = TANDEM_CUDA(&cuda::copy_whole),
                                                 .gradient = &detail::reshape_dynamic_back,
                                                 .inputs = 2,
                                                 .saves = Saves::shape,
                                                 .host_inputs = 2,
                                                 .attrs = &detail::attr_type<rules::KnownDimsAttrs>,
                                                 .rare = {.resolve = &detail::resolve_reshape, .in_errors = "reshape"}};
TANDEM_INLINE constexpr OpDef identity_op{.name = "identity",
                                          .infer = &detail::infer_identity,
                                          .gradient = &detail::pass_back,
                                          .saves = Saves::nothing,
                                          .flags = {.alias = true}};
TANDEM_INLINE constexpr OpDef stop_gradient_op{.name = "stop_gradient",
                                               .infer = &detail::infer_identity,
                                               .saves = Saves::nothing,
                                               .flags = {.alias = true, .non_differentiable = true}};

TANDEM_INLINE Tensor reshape(const Tensor& x, const Dims& dims, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (dims.is_known()) return apply1(reshape_op, rules::ReshapeAttrs{dims.numbers("reshape")}, o, x);
  Shape known = dims.known("reshape");
  for (int i = 0; i < known.rank(); ++i)
    if (known.dim(i) == -1) known.set(i, none);
  return apply1(reshape_dynamic_op, rules::KnownDimsAttrs{known}, o, x, dims.tensor("reshape"));
}
TANDEM_INLINE Tensor expand_dims(const Tensor& x, i64 axis, OpOptions o) {
  return apply1(expand_dims_op, rules::AxisAttrs{axis}, o, x);
}
TANDEM_INLINE Tensor squeeze(const Tensor& x, SqueezeOptions o) {
  return apply1(squeeze_op, rules::AxesAttrs{o.axis}, {o.name, o.where}, x);
}
TANDEM_INLINE Tensor collapse_dims(const Tensor& x, std::initializer_list<std::initializer_list<i64>> groups,
                                   OpOptions o) {
  const tandem::detail::CallSite call(o);
  rules::CollapseAttrs a;
  i64 next = 0;
  for (const auto& group : groups) {
    for (i64 axis : group)
      if (resolve_axis("collapse_dims", axis, x.rank()) != next++)
        errors::raise<errors::InvalidArgumentError>(
            "collapse_dims", "the groups must name every axis once and in order; axis " + std::to_string(axis) +
                                 " is listed where axis " + std::to_string(next - 1) + " is expected");
    a.counts.push_back(static_cast<i64>(group.size()));
  }
  if (next != x.rank())
    errors::raise<errors::InvalidArgumentError>(
        "collapse_dims", "the groups name " + std::to_string(next) + " of the axes of " + to_string(x.spec()));
  return apply1(collapse_dims_op, a, o, x);
}
TANDEM_INLINE Tensor collapse_leading(const Tensor& x, int axes, OpOptions o) {
  if (axes < 0 || axes > x.rank())
    errors::raise<errors::InvalidArgumentError>("collapse_leading",
                                                std::to_string(axes) + " leading axes of " + to_string(x.spec()));
  rules::CollapseAttrs a{Shape{axes}};
  for (int i = axes; i < x.rank(); ++i) a.counts.push_back(1);
  return apply1(collapse_dims_op, a, o, x);
}
TANDEM_INLINE Tensor nn::flatten(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (x.rank() == 0) errors::raise<errors::InvalidArgumentError>("flatten", "a scalar has no axis 0 to keep");
  return apply1(collapse_dims_op, rules::CollapseAttrs{Shape{1, x.rank() - 1}}, o, x);
}
TANDEM_INLINE Tensor identity(const Tensor& x, OpOptions o) { return apply1(identity_op, no_attrs, o, x); }
TANDEM_INLINE Tensor stop_gradient(const Tensor& x, OpOptions o) { return apply1(stop_gradient_op, no_attrs, o, x); }

}  // namespace TANDEM_NS
