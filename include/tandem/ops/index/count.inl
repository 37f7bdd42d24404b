// Definitions of ops/index/count.hpp.
#pragma once
#include <algorithm>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/index/count.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/count.hpp"
#include "tandem/ops/index/segment.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Spec bincount_spec(const Spec& x, const rules::BincountAttrs& a, i64 size) {
  Shape s;
  if (a.rows) s = x.shape, s.resize(x.shape.rank() - 1);
  s.push_back(size);
  return {s, a.dtype, x.device};
}
TANDEM_INLINE Specs infer_bincount(const InferCall& c) {
  const auto& a = c.get<rules::BincountAttrs>();
  const int rank = c.spec(0).shape.rank();
  if (a.minlength < 0 || (a.maxlength != none && a.maxlength < 0)) raise_specs(c, "a length is negative");
  if (!dtypes_of(DType::int32, DType::int64, DType::float32, DType::float64).has(a.dtype))
    raise_specs(c, std::string("counts must be int32, int64, float32 or float64, not ") + name(a.dtype));
  if (a.rows && rank != 1 && rank != 2) raise_specs(c, "with .axis = -1 the input must have rank 1 or 2");
  return Specs(bincount_spec(c.spec(0), a, a.minlength == a.maxlength ? a.maxlength : none));
}
TANDEM_INLINE Specs resolve_bincount(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::BincountAttrs>();
  const i64 size = std::max(cpu::largest_plus_one(c, 0, a.maxlength), a.minlength);
  return Specs(bincount_spec(*c.in[0].spec, a, a.maxlength == none ? size : std::min(size, a.maxlength)));
}
TANDEM_INLINE void bincount_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::BincountAttrs>();
  const Shape& s = c.in[0].shape();
  cpu::bincount(c, a.rows && s.rank() == 2 ? s.dim(0) : 1, a.once);
}

TANDEM_INLINE Specs infer_histogram(const InferCall& c) {
  const auto& a = c.get<rules::HistogramAttrs>();
  if (a.nbins < 1) raise_specs(c, "nbins = " + std::to_string(a.nbins) + "; at least one interval is needed");
  if (!dtypes::index.has(a.dtype)) raise_specs(c, std::string("counts must be int32 or int64, not ") + name(a.dtype));
  if (c.spec(0).dtype != c.spec(1).dtype) raise_specs(c, "dtypes differ", "cast the range");
  if (!c.spec(1).shape.is_compatible_with(Shape{2})) raise_specs(c, "the range must have the shape [2]");
  return Specs(Spec{Shape{a.nbins}, a.dtype, c.spec(0).device});
}

TANDEM_INLINE Specs infer_confusion(const InferCall& c) {
  const auto& a = c.get<rules::ConfusionAttrs>();
  if (c.in.size() > 3) raise_specs(c, "takes two or three inputs");
  if (c.spec(0).dtype != c.spec(1).dtype) raise_specs(c, "dtypes differ", "cast one of them");
  if (!dtypes::number.has(a.dtype) || (c.in.size() > 2 && c.spec(2).dtype != a.dtype))
    raise_specs(c, std::string("counts must be numbers of the dtype of the weights, not ") + name(a.dtype));
  if (a.num_classes < 0 && a.num_classes != none) raise_specs(c, "the number of classes is negative");
  for (std::size_t i = 0; i < c.in.size(); ++i)
    if (c.spec(i).shape.rank() != 1 || !c.spec(i).shape.is_compatible_with(c.spec(0).shape))
      raise_specs(c, "labels, predictions and weights must have one shape [n]");
  return Specs(Spec{Shape{a.num_classes, a.num_classes}, a.dtype, c.spec(0).device});
}
TANDEM_INLINE Specs resolve_confusion(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::ConfusionAttrs>();
  i64 n = a.num_classes;
  if (n == none) n = std::max(cpu::largest_plus_one(c, 0), cpu::largest_plus_one(c, 1));
  return Specs(Spec{Shape{n, n}, a.dtype, c.in[0].spec->device});
}

// Integers as indices: narrower ones become int32, unsigned ones int64.
TANDEM_INLINE Tensor as_index(const char* op, const Tensor& x) {
  if (!is_integer(x.dtype()))
    errors::raise<errors::InvalidArgumentError>(op, "the values must be integers, not " + to_string(x.spec()));
  if (dtypes::index.has(x.dtype())) return x;
  return cast(x, size_of(x.dtype()) < 4 ? DType::int32 : DType::int64);
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef bincount_op{.name = "bincount",
                                          .infer = &detail::infer_bincount,
                                          .cpu = &detail::bincount_kernel,
                                          .cuda = TANDEM_CUDA(&cuda::bincount),
                                          .dtypes = dtypes::index,
                                          .saves = Saves::nothing,
                                          .flags = {.non_differentiable = true},
                                          .attrs = &detail::attr_type<rules::BincountAttrs>,
                                          .rare = {.resolve = &detail::resolve_bincount}};
TANDEM_INLINE constexpr OpDef histogram_fixed_width_op{.name = "histogram_fixed_width",
                                                       .input_names = "x, range",
                                                       .infer = &detail::infer_histogram,
                                                       .cpu = &cpu::histogram,
                                                       .cuda = TANDEM_CUDA(&cuda::histogram),
                                                       .dtypes = dtypes::real,
                                                       .inputs = 2,
                                                       .saves = Saves::nothing,
                                                       .flags = {.non_differentiable = true},
                                                       .attrs = &detail::attr_type<rules::HistogramAttrs>};
TANDEM_INLINE constexpr OpDef confusion_matrix_op{.name = "confusion_matrix",
                                                  .input_names = "labels, predictions, weights",
                                                  .infer = &detail::infer_confusion,
                                                  .cpu = &cpu::confusion,
                                                  .cuda = TANDEM_CUDA(&cuda::confusion),
                                                  .dtypes = dtypes::index,
                                                  .inputs = at_least(2),
                                                  .saves = Saves::nothing,
                                                  .flags = {.non_differentiable = true},
                                                  .attrs = &detail::attr_type<rules::ConfusionAttrs>,
                                                  .rare = {.resolve = &detail::resolve_confusion}};

namespace detail {
// Sums of weights, by the sizes and checks of counts.
TANDEM_INLINE Tensor weighted_counts(const Tensor& x, const Tensor& counts, const BincountOptions& o) {
  const Tensor& w = o.weights;
  if (!x.shape().is_compatible_with(w.shape()) || o.binary_output)
    errors::raise<errors::InvalidArgumentError>(
        "bincount", o.binary_output
                        ? std::string(".binary_output does not allow weights")
                        : "the weights must have the shape of x: " + to_string(x.spec()) + " x " + to_string(w.spec()));
  const Tensor size = tandem::shape(counts, {.out_type = DType::int64})[-1], wide = cast(x, DType::int64);
  Tensor ids = wide;
  if (counts.rank() == 2) {
    const Tensor rows = range(tandem::shape(x, {.out_type = DType::int64})[0]);
    ids = wide + expand_dims(rows, 1) * size;
  }
  ids = where(wide < size, ids, -1);
  return in_name_of("bincount", [&] {
    return reshape_like(apply1(unsorted_segment_sum_op, no_attrs, {o.name, o.where}, reshape(w, {-1}),
                               reshape(ids, {-1}), reshape(counts, {-1})),
                        counts);
  });
}
}  // namespace detail

TANDEM_INLINE Tensor bincount(const Tensor& x, BincountOptions o) {
  const tandem::detail::CallSite call(o);
  if (o.axis && resolve_axis("bincount", *o.axis, x.rank()) != x.rank() - 1)
    errors::raise<errors::InvalidArgumentError>(
        "bincount", ".axis must be the last axis, not " + std::to_string(*o.axis) + " of " + to_string(x.spec()));
  const Tensor values = detail::as_index("bincount", x);
  const rules::BincountAttrs a{o.minlength, o.maxlength.value_or(none), o.dtype, o.axis.has_value(), o.binary_output};
  const Tensor counts = apply1(bincount_op, a, {o.name, o.where}, values);
  return o.weights.is_set() ? detail::weighted_counts(values, counts, o) : counts;
}
TANDEM_INLINE Tensor histogram_fixed_width(const Tensor& x, const Tensor& range, HistogramOptions o) {
  return apply1(histogram_fixed_width_op, rules::HistogramAttrs{o.nbins, o.dtype}, {o.name, o.where}, x, range);
}
TANDEM_INLINE Tensor histogram_fixed_width(const Tensor& x, std::pair<double, double> range, HistogramOptions o) {
  const tandem::detail::CallSite call(o);
  const DeviceScope there(x.device());
  return histogram_fixed_width(x, constant(std::vector<double>{range.first, range.second}, {.dtype = x.dtype()}), o);
}
TANDEM_INLINE Tensor confusion_matrix(const Tensor& labels, const Tensor& predictions, ConfusionMatrixOptions o) {
  const tandem::detail::CallSite call(o);
  const DType own = o.weights.is_set() && o.weights.dtype() != DType::bool_ ? o.weights.dtype() : DType::int32;
  const DType dtype = o.dtype.value_or(own), wide = dtypes::half_floating.has(dtype) ? DType::float32 : dtype;
  const rules::ConfusionAttrs a{o.num_classes.value_or(none), wide};
  if (!is_integer(labels.dtype()) || !is_integer(predictions.dtype()))
    errors::raise<errors::InvalidArgumentError>("confusion_matrix", "labels and predictions must be integers, not " +
                                                                        to_string(labels.spec()) + " and " +
                                                                        to_string(predictions.spec()));
  const Tensor rows = cast(labels, DType::int64), columns = cast(predictions, DType::int64);
  const OpOptions named{o.name, o.where};
  if (!o.weights.is_set()) return cast(apply1(confusion_matrix_op, a, named, rows, columns), dtype);
  return cast(apply1(confusion_matrix_op, a, named, rows, columns, cast(o.weights, wide)), dtype);
}

}  // namespace TANDEM_NS
