// Definitions of ops/create/fill.hpp.
#pragma once
#include <cstring>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/create/fill.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE i64 dim_at(const void* dims, DType dtype, i64 i) {
  return dtype == DType::int32 ? static_cast<const std::int32_t*>(dims)[i] : static_cast<const i64*>(dims)[i];
}
TANDEM_INLINE Shape shape_from_values(const char* op, const Spec& spec, const void* data) {
  Shape r;
  for (i64 i = 0; i < spec.shape.dim(0); ++i) {
    const i64 d = dim_at(data, spec.dtype, i);
    if (d < 0)
      errors::raise<errors::InvalidArgumentError>(
          op, "size " + std::to_string(d) + " of axis " + std::to_string(i) + " is negative");
    r.push_back(d);
  }
  return r;
}
TANDEM_INLINE Specs infer_fill(const InferCall& c) {
  const Spec& dims = c.spec(0);
  if (c.spec(1).shape.rank() != 0) raise_specs(c, "the value must have rank 0");
  if (dims.shape.rank() != 1 || !dtypes::index.has(dims.dtype) || dims.shape.dim(0) == none)
    raise_specs(c, "the dims must be int32 or int64, of rank 1 and known length");
  Shape r;
  if (c.in[0]->raw()) r = shape_from_values(c.op.name, dims, c.in[0]->raw());
  else
    for (i64 i = 0; i < dims.shape.dim(0); ++i) r.push_back(none);
  return Specs(Spec{with_known(c, r), c.spec(1).dtype, c.spec(1).device});
}
TANDEM_INLINE Specs resolve_fill(const KernelCall& c) {
  const Spec& value = *c.in[1].spec;
  return Specs(Spec{shape_from_values(c.op, *c.in[0].spec, c.in[0].data), value.dtype, value.device});
}
TANDEM_INLINE Grads fill_gradient(const GradCall& c) {
  return {Gradient(), c.needs(1) ? Gradient(sum_to_like(c.g[0], c.in[1])) : Gradient()};
}
TANDEM_INLINE Specs infer_full_like(const InferCall& c) {
  Specs out(c.spec(0));
  out[0].dtype = c.get<rules::FullLikeAttrs>().dtype;
  return out;
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef fill_op{.name = "fill",
                                      .input_names = "dims, value",
                                      .infer = &detail::infer_fill,
                                      .cpu = &cpu::fill,
                                      .cuda = TANDEM_CUDA(&cuda::fill),
                                      .gradient = &detail::fill_gradient,
                                      .dtype_input = 1,
                                      .inputs = 2,
                                      .saves = Saves::shape,
                                      .host_inputs = 1,
                                      .attrs = &detail::attr_type<rules::KnownDimsAttrs>,
                                      .rare = {.resolve = &detail::resolve_fill}};
TANDEM_INLINE constexpr OpDef full_like_op{.name = "full_like",
                                           .input_names = "like",
                                           .infer = &detail::infer_full_like,
                                           .cpu = &cpu::full_like,
                                           .cuda = TANDEM_CUDA(&cuda::full_like),
                                           .saves = Saves::nothing,
                                           .shape_inputs = 1,
                                           .flags = {.non_differentiable = true},
                                           .attrs = &detail::attr_type<rules::FullLikeAttrs>};

namespace detail {

TANDEM_INLINE Tensor allocate_for(const char* what, const Shape& shape, DType dtype) {
  for (i64 d : shape)
    if (d == none) raise_unknown_size(what, shape);
    else if (d < 0) errors::raise<errors::InvalidArgumentError>(what, "a size of " + to_string(shape) + " is negative");
  return in_name_of(what, [&] { return Tensor::allocate({shape, dtype, {}}); });
}
// Creates a host tensor filled with one number.
TANDEM_INLINE Tensor filled(const char* what, const Shape& shape, DType dtype, double number) {
  alignas(16) char element[16];
  const OutsideTrace outside;
  if (!cpu::write_number(element, dtype, number, static_cast<i64>(number)) && number != 0)
    errors::raise<errors::InvalidArgumentError>(what, std::string("dtype ") + name(dtype) + " is not numeric");
  const Tensor t = allocate_for(what, shape, dtype);
  if (number != 0 && t.size() == 1) std::memcpy(t.raw(), element, size_of(dtype));
  else if (number != 0) cpu::fill_elements(t.raw(), dtype, element, t.size());
  else if (dtype != DType::string) std::memset(t.raw(), 0, t.spec().bytes());
  return to_current_device(t);
}
TANDEM_INLINE Tensor apply_full_like(const char* what, const Tensor& like, Scalar value, const LikeOptions& o) {
  const CallSite call(o, what);
  const DType dtype = o.dtype ? *o.dtype : like.dtype();
  alignas(16) char element[16];
  if (!value.fits(dtype)) raise_unfit(what, value, dtype, std::string(name(dtype)) + "; give another .dtype");
  if (!cpu::write_number(element, dtype, value.real(), value.whole()) && (value.real() != 0 || value.whole() != 0))
    errors::raise<errors::InvalidArgumentError>(what, std::string("dtype ") + name(dtype) + " is not numeric");
  return apply1(full_like_op, rules::FullLikeAttrs{value.real(), value.whole(), dtype}, {o.name, o.where}, like);
}

TANDEM_INLINE Tensor fill_computed(const char* what, const Dims& dims, const Tensor& value, const OpOptions& o) {
  const rules::KnownDimsAttrs a{dims.is_known() ? Shape() : dims.known(what)};
  return apply1(fill_op, a, o, dims.tensor(what), value);
}
TANDEM_INLINE Tensor full_of(const char* what, const Dims& shape, const CreateOptions& o, double number) {
  if (shape.is_known()) return filled(what, shape.numbers(what), o.dtype, number);
  return shape.code()->fill(what, shape, filled(what, {}, o.dtype, number), {o.name, o.where});
}
}  // namespace detail

TANDEM_INLINE Tensor zeros(const Dims& shape, CreateOptions o) {
  const tandem::detail::CallSite call(o);
  return detail::full_of("zeros", shape, o, 0);
}
TANDEM_INLINE Tensor ones(const Dims& shape, CreateOptions o) {
  const tandem::detail::CallSite call(o);
  return detail::full_of("ones", shape, o, 1);
}
TANDEM_INLINE Tensor fill(const Dims& dims, const Literal& value, LikeOptions o) {
  const tandem::detail::CallSite call(o);
  if (!dims.is_known()) return dims.code()->fill("fill", dims, constant(value, {.dtype = o.dtype}), {o.name, o.where});
  return tandem::detail::in_name_of("fill", [&] {
    return constant(value, {.name = o.name, .where = o.where, .dtype = o.dtype, .shape = dims.numbers("fill")});
  });
}
TANDEM_INLINE Tensor fill(const Dims& dims, const Tensor& value, OpOptions o) {
  const tandem::detail::CallSite call(o);
  return detail::fill_computed("fill", dims, value, o);
}
TANDEM_INLINE Tensor zeros_like(const Tensor& like, LikeOptions o) {
  return detail::apply_full_like("zeros_like", like, 0, o);
}
TANDEM_INLINE Tensor ones_like(const Tensor& like, LikeOptions o) {
  return detail::apply_full_like("ones_like", like, 1, o);
}
TANDEM_INLINE Tensor full_like(const Tensor& like, Scalar value, LikeOptions o) {
  return detail::apply_full_like("full_like", like, value, o);
}

TANDEM_INLINE Tensor eye(i64 n, EyeOptions o) {
  const tandem::detail::CallSite call(o);
  const i64 columns = o.num_columns == none ? n : o.num_columns;
  Shape shape = o.batch_shape;
  shape.push_back(n);
  shape.push_back(columns);
  alignas(16) char one[16];
  if (!cpu::write_number(one, o.dtype, 1, 1))
    errors::raise<errors::InvalidArgumentError>("eye", std::string("dtype ") + name(o.dtype) + " is not numeric");
  const detail::OutsideTrace outside;
  const Tensor t = detail::allocate_for("eye", shape, o.dtype);
  std::memset(t.raw(), 0, t.spec().bytes());
  const std::size_t width = size_of(o.dtype);
  const i64 diagonal = n < columns ? n : columns, matrices = n && columns ? t.size() / (n * columns) : 0;
  for (i64 m = 0; m < matrices; ++m)
    for (i64 i = 0; i < diagonal; ++i)
      std::memcpy(static_cast<char*>(t.raw()) + static_cast<std::size_t>((m * n + i) * columns + i) * width, one,
                  width);
  return detail::to_current_device(t);
}
TANDEM_INLINE Tensor eye(const Tensor& n, EyeOptions o) {
  const tandem::detail::CallSite call(o);
  const i64 rows = Dims{n}.known("eye").dim(0);
  if (rows != none) return eye(rows, o);
  if (o.num_columns < 0 && o.num_columns != none)
    errors::raise<errors::InvalidArgumentError>("eye", "num_columns is negative: " + std::to_string(o.num_columns));
  const Tensor row = range(cast(n, DType::int64)), column = o.num_columns == none ? row : range(o.num_columns);
  const Tensor r = cast(expand_dims(row, 1) == column, o.dtype);
  if (o.batch_shape.rank() == 0) return r;
  Dims shape = o.batch_shape;
  shape.push_back(n);
  shape.push_back(o.num_columns == none ? Dim(n) : Dim(o.num_columns));
  return broadcast_to(r, shape, {o.name, o.where});
}

}  // namespace TANDEM_NS
