// Definitions of ops/shape/shape_of.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE DType size_type(const InferCall& c) {
  const DType d = c.get<rules::ShapeAttrs>().out_type;
  if (!dtypes::index.has(d)) raise_specs(c, std::string(".out_type must be int32 or int64, not ") + name(d));
  return d;
}
TANDEM_INLINE Specs infer_shape(const InferCall& c) {
  return Specs(Spec{Shape{c.spec(0).shape.rank()}, size_type(c), Device{}});
}
TANDEM_INLINE Specs infer_size(const InferCall& c) { return Specs(Spec{Shape{}, size_type(c), Device{}}); }
TANDEM_INLINE Specs infer_rank(const InferCall&) { return Specs(Spec{Shape{}, DType::int32, Device{}}); }

TANDEM_INLINE void put_size(const KernelCall& c, i64 at, i64 n) {
  if (c.out[0].spec->dtype == DType::int64) {
    c.out[0].as<i64>()[at] = n;
    return;
  }
  if (n > INT32_MAX)
    errors::raise<errors::InvalidArgumentError>(
        c.op, std::to_string(n) + " in " + to_string(*c.in[0].spec) + " is too large for int32; use .out_type = int64");
  c.out[0].as<std::int32_t>()[at] = static_cast<std::int32_t>(n);
}
TANDEM_INLINE void shape_kernel(const KernelCall& c) {
  for (int i = 0; i < c.in[0].shape().rank(); ++i) put_size(c, i, c.in[0].shape().dim(i));
}
TANDEM_INLINE void size_kernel(const KernelCall& c) { put_size(c, 0, c.in[0].size()); }
TANDEM_INLINE void rank_kernel(const KernelCall& c) { put_size(c, 0, c.in[0].shape().rank()); }

TANDEM_INLINE Specs infer_ensure_shape(const InferCall& c) {
  const Shape& want = c.get<rules::EnsureShapeAttrs>().shape;
  Specs r(c.spec(0));
  if (!r[0].shape.is_compatible_with(want)) raise_specs(c, "expected the shape " + to_string(want));
  r[0].shape = r[0].shape.merge_with(want);
  return r;
}

TANDEM_INLINE Specs infer_same_dims(const InferCall& c) {
  const auto& a = c.get<rules::SameDimsAttrs>();
  Specs r(c.spec(0));
  if (a.axes.rank() != a.others.rank()) raise_specs(c, "the axes are not in pairs");
  for (int k = 0; k < a.axes.rank(); ++k) {
    const int axis = resolve_axis(c.op.name, a.axes.dim(k), r[0].shape.rank()),
              other = resolve_axis(c.op.name, a.others.dim(k), c.spec(1).shape.rank());
    const i64 n = r[0].shape.dim(axis), want = c.spec(1).shape.dim(other);
    if (n != want && n != none && want != none)
      raise_specs(c, "axis " + std::to_string(axis) + " and axis " + std::to_string(other) +
                         " must have the same size, not " + std::to_string(n) + " and " + std::to_string(want));
    if (n == none) r[0].shape.set(axis, want);
  }
  return r;
}
TANDEM_INLINE Grads same_dims_gradient(const GradCall& c) { return {Gradient(c.g[0]), Gradient()}; }

// Merges two shapes as broadcasting does. False if they are not compatible.
TANDEM_INLINE bool broadcast_shapes(const Shape& a, const Shape& b, Shape& r) {
  r = a.rank() >= b.rank() ? a : b;
  for (int d = 1; d <= r.rank(); ++d) {
    const i64 x = d <= a.rank() ? a.dim(-d) : 1, y = d <= b.rank() ? b.dim(-d) : 1;
    if (x != y && x != 1 && y != 1 && x != none && y != none) return false;
    r.set(r.rank() - d, x == 1 ? y : y == 1 || y == none ? x : y);
  }
  return true;
}
[[noreturn, gnu::cold]] TANDEM_INLINE void raise_no_broadcast(const char* op, const Shape& a, const Shape& b) {
  errors::raise<errors::InvalidArgumentError>(
      op, "the shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
}
TANDEM_INLINE Specs infer_broadcast_shape(const InferCall& c) {
  if (c.spec(0).dtype != c.spec(1).dtype || !dtypes::index.has(c.spec(0).dtype) || c.spec(0).shape.rank() != 1 ||
      c.spec(1).shape.rank() != 1)
    raise_specs(c, "shapes must be int32 or int64 vectors of one dtype");
  const i64 a = c.spec(0).shape.dim(0), b = c.spec(1).shape.dim(0);
  if (a == none || b == none || a > max_rank || b > max_rank)
    raise_specs(c, "the numbers of dimensions must be known, and not above " + std::to_string(max_rank));
  return Specs(Spec{Shape{a > b ? a : b}, c.spec(0).dtype, Device{}});
}
TANDEM_INLINE Shape shape_in(const Operand& x) {
  Shape s;
  for (i64 i = 0; i < x.size(); ++i)
    s.push_back(x.spec->dtype == DType::int64 ? x.as<const i64>()[i] : x.as<const std::int32_t>()[i]);
  return s;
}
TANDEM_INLINE void broadcast_shape_kernel(const KernelCall& c) {
  const Shape a = shape_in(c.in[0]), b = shape_in(c.in[1]);
  Shape r;
  if (!broadcast_shapes(a, b, r)) raise_no_broadcast(c.op, a, b);
  for (int i = 0; i < r.rank(); ++i) put_size(c, i, r.dim(i));
}

inline constexpr OpDef size_row(const char* name, Specs (*infer)(const InferCall&), KernelFn kernel,
                                const AttrType* attrs) {
  return {.name = name,
          .infer = infer,
          .cpu = kernel,
          .saves = Saves::nothing,
          .shape_inputs = 1,
          .flags = {.non_differentiable = true},
          .attrs = attrs};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef shape_op =
    detail::size_row("shape", &detail::infer_shape, &detail::shape_kernel, &detail::attr_type<rules::ShapeAttrs>);
TANDEM_INLINE constexpr OpDef rank_op = detail::size_row("rank", &detail::infer_rank, &detail::rank_kernel, nullptr);
TANDEM_INLINE constexpr OpDef size_op =
    detail::size_row("size", &detail::infer_size, &detail::size_kernel, &detail::attr_type<rules::ShapeAttrs>);
TANDEM_INLINE constexpr OpDef ensure_shape_op{.name = "ensure_shape",
                                              .infer = &detail::infer_ensure_shape,
                                              .gradient = &detail::pass_back,
                                              .saves = Saves::nothing,
                                              .flags = {.alias = true, .stateful = true},
                                              .attrs = &detail::attr_type<rules::EnsureShapeAttrs>};

TANDEM_INLINE constexpr OpDef same_dims_op{.name = "same_dims",
                                           .input_names = "x, like",
                                           .infer = &detail::infer_same_dims,
                                           .gradient = &detail::same_dims_gradient,
                                           .inputs = 2,
                                           .saves = Saves::nothing,
                                           .shape_inputs = 2,
                                           .flags = {.alias = true},
                                           .attrs = &detail::attr_type<rules::SameDimsAttrs>};
TANDEM_INLINE constexpr OpDef broadcast_dynamic_shape_op{.name = "broadcast_dynamic_shape",
                                                         .input_names = "a, b",
                                                         .infer = &detail::infer_broadcast_shape,
                                                         .cpu = &detail::broadcast_shape_kernel,
                                                         .dtypes = dtypes::index,
                                                         .inputs = 2,
                                                         .saves = Saves::nothing,
                                                         .host_inputs = 3,
                                                         .flags = {.non_differentiable = true}};

TANDEM_INLINE std::vector<Tensor> shape_n(const TensorList& list, ShapeOptions o) {
  std::vector<Tensor> r;
  for (const Tensor& x : list.list()) r.push_back(shape(x, o));
  return r;
}
TANDEM_INLINE Shape broadcast_static_shape(const Shape& a, const Shape& b, OpOptions o) {
  const tandem::detail::CallSite call(o);
  Shape r;
  if (!detail::broadcast_shapes(a, b, r)) detail::raise_no_broadcast("broadcast_static_shape", a, b);
  return r;
}
TANDEM_INLINE Tensor broadcast_dynamic_shape(const Tensor& a, const Tensor& b, OpOptions o) {
  return apply1(broadcast_dynamic_shape_op, no_attrs, o, a, b);
}
TANDEM_INLINE Tensor detail::sizes_of(const OpDef& op, const Attrs& attrs, const OpOptions& o, const Tensor& x,
                                      bool known) {
  if (!known || !x.is_symbolic() || !context.stager || o.name) return apply1(op, attrs, o, x);
  const OutsideTrace now;
  return apply1(op, attrs, o, x);
}
TANDEM_INLINE Tensor shape(const Tensor& x, ShapeOptions o) {
  return detail::sizes_of(shape_op, rules::ShapeAttrs{o.out_type}, {o.name, o.where}, x,
                          x.spec().shape.is_fully_defined());
}
TANDEM_INLINE Tensor rank(const Tensor& x, OpOptions o) { return detail::sizes_of(rank_op, no_attrs, o, x, true); }
TANDEM_INLINE Tensor size(const Tensor& x, ShapeOptions o) {
  return detail::sizes_of(size_op, rules::ShapeAttrs{o.out_type}, {o.name, o.where}, x,
                          x.spec().shape.is_fully_defined());
}
TANDEM_INLINE std::vector<DimValue> get_shape(const Tensor& x) {
  std::vector<DimValue> r;
  Tensor all;
  for (int i = 0; i < x.rank(); ++i) {
    const i64 n = x.shape().dim(i);
    if (n == none && !all.is_set()) all = shape(x, {.out_type = DType::int64});
    r.push_back(n == none ? DimValue{0, all[i]} : DimValue{n});
  }
  return r;
}
TANDEM_INLINE Tensor ensure_shape(const Tensor& x, const Shape& shape, OpOptions o) {
  return apply1(ensure_shape_op, rules::EnsureShapeAttrs{shape}, o, x);
}
TANDEM_INLINE Tensor detail::same_dims(const Tensor& x, const Shape& axes, const Tensor& like, const Shape& others) {
  const Shape &s = x.spec().shape, &t = like.spec().shape;
  bool known = true;
  for (int k = 0; k < axes.rank(); ++k) {
    const i64 n = s.dim(static_cast<int>(axes.dim(k)));
    known = known && n != none && n == t.dim(static_cast<int>(others.dim(k)));
  }
  return known ? x : apply1(same_dims_op, rules::SameDimsAttrs{axes, others}, no_options, x, like);
}
TANDEM_INLINE void Tensor::set_shape(const Shape& want) {
  const Shape& known = shape();
  if (!known.is_compatible_with(want))
    errors::raise<errors::InvalidArgumentError>(
        "set_shape", "the value is " + to_string(spec()) + ", the shape declared for it " + to_string(want));
  if (is_symbolic() && !(known.merge_with(want) == known)) *this = ensure_shape(*this, want, no_options);
}

}  // namespace TANDEM_NS
