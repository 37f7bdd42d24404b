// Definitions of ops/index/segment.hpp.
#pragma once
#include <limits>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/index/segment.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/segment.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

using cpu::SegmentFold;

// The shape of rows numbered by `ids`, input 1, if there are `rows` segments.
TANDEM_INLINE Specs infer_segments(const InferCall& c, i64 rows) {
  const Shape &x = c.spec(0).shape, &ids = c.spec(1).shape;
  check_index_dtype(c, 1);
  if (ids.rank() != 1 || x.rank() < 1) raise_specs(c, "the ids must have rank 1, one for each row");
  if (ids.dim(0) != x.dim(0) && ids.dim(0) != none && x.dim(0) != none)
    raise_specs(c, "there must be one id for each row");
  Specs r(c.spec(0));
  r[0].shape.set(0, rows);
  return r;
}
TANDEM_INLINE Specs infer_sorted_segments(const InferCall& c) { return infer_segments(c, none); }
TANDEM_INLINE Specs infer_unsorted_segments(const InferCall& c) {
  if (c.spec(2).shape.rank() < 1) raise_specs(c, "the number of segments must be the first dimension of `like`");
  return infer_segments(c, c.spec(2).shape.dim(0));
}
TANDEM_INLINE Specs resolve_segments(const KernelCall& c) {
  Specs r(*c.in[0].spec);
  r[0].shape.set(0, cpu::segment_rows(c));
  return r;
}
TANDEM_INLINE Specs infer_segment_take(const InferCall& c) {
  check_index_dtype(c, 1);
  if (c.spec(1).shape.rank() != 1 || c.spec(0).shape.rank() < 1) raise_specs(c, "the ids must have rank 1");
  Specs r(c.spec(0));
  r[0].shape.set(0, c.spec(1).shape.dim(0));
  return r;
}

template <SegmentFold F>
void segment_kernel(const KernelCall& c) {
  cpu::segment_fold(c, F);
}
template <SegmentFold F>
void unsorted_segment_kernel(const KernelCall& c) {
  cpu::unsorted_segment_fold(c, F);
}

TANDEM_INLINE Tensor segment_take(const Tensor& x, const Tensor& ids, OpOptions o) {
  return apply1(segment_take_op, no_attrs, o, x, ids);
}
// Sums by ids, with as many segments as `like` has rows.
TANDEM_INLINE Tensor sum_segments(const Tensor& x, const Tensor& ids, const Tensor& like) {
  return apply1(unsorted_segment_sum_op, no_attrs, no_options, x, ids, like);
}
TANDEM_INLINE Grads segment_gradients(const GradCall& c, const Tensor& x) {
  return c.in.size() == 3 ? Grads{x, Gradient(), Gradient()} : Grads{x, Gradient()};
}
TANDEM_INLINE Grads segment_sum_gradient(const GradCall& c) {
  return segment_gradients(c, segment_take(c.g[0], c.in[1]));
}
TANDEM_INLINE Grads segment_take_gradient(const GradCall& c) {
  return {sum_segments(c.g[0], c.in[1], c.in[0]), Gradient()};
}
// Shares g among the elements that equal the extreme value of their segment.
TANDEM_INLINE Grads segment_extreme_gradient(const GradCall& c) {
  const Tensor &x = c.in[0], &ids = c.in[1], &y = c.out[0];
  const Tensor chosen = cast(equal(x, segment_take(y, ids)), x.dtype());
  const Tensor share = c.g[0] / maximum(sum_segments(chosen, ids, y), 1);
  return segment_gradients(c, chosen * segment_take(share, ids));
}

TANDEM_INLINE LeadingRows::LeadingRows(const char* op, const Tensor& data, const Tensor& numbers)
    : x(data), ids(numbers) {
  const int rank = ids.rank();
  bool fits = rank <= x.rank();
  for (int i = 0; fits && i < rank; ++i) {
    const i64 a = x.shape().dim(i), b = ids.shape().dim(i);
    fits = a == b || a == none || b == none;
  }
  if (!fits)
    errors::raise<errors::InvalidArgumentError>(
        op, "the ids must have the shape of x's leading axes: " + to_string(x.spec()) + " x " + to_string(ids.spec()));
  if (rank == 0) x = expand_dims(x, 0), ids = expand_dims(ids, 0);
  if (rank > 1) x = collapse_leading(x, rank), ids = collapse_leading(ids, rank);
}
TANDEM_INLINE Tensor as_rows(const Tensor& v, int rank) {
  Dims dims{-1};
  for (int i = 1; i < rank; ++i) dims.push_back(1);
  return rank == 1 ? v : reshape(v, dims);
}

// For ids without gaps between equal ones: the product of the elements before (reverse: after) each one in its
// segment. Needs no division.
TANDEM_INLINE Tensor product_before(const Tensor& x, const Tensor& ids, bool reverse) {
  const Tensor number = ids + 1;  // shift fills with 0, which is not the number of a segment
  const Tensor starts = as_rows(not_equal(number, shift(number, 0, reverse)), x.rank());
  return linear_scan(where(starts, 0, shift(x, 0, reverse)), where(starts, ones_like(x), 0), 0, reverse);
}
TANDEM_INLINE Tensor product_of_others(const Tensor& x, const Tensor& ids) {
  return product_before(x, ids, false) * product_before(x, ids, true);
}
TANDEM_INLINE Grads segment_prod_gradient(const GradCall& c) {
  return {segment_take(c.g[0], c.in[1]) * product_of_others(c.in[0], c.in[1]), Gradient()};
}
TANDEM_INLINE Grads unsorted_segment_prod_gradient(const GradCall& c) {
  // Dropped elements become 1: the gradients of their products, which are not used, stay finite.
  const Tensor x = where(as_rows(c.in[1] < 0, c.in[0].rank()), 1, c.in[0]), order = argsort(c.in[1]);
  const Tensor others = product_of_others(gather(x, order), gather(c.in[1], order));
  return {segment_take(c.g[0], c.in[1]) * gather(others, argsort(order)), Gradient(), Gradient()};
}

constexpr OpDef segment_row(const char* name, KernelFn kernel, KernelFn cuda, Grads (*gradient)(const GradCall&),
                            Saves saves) {
  return {.name = name,
          .input_names = "x, ids",
          .infer = &infer_sorted_segments,
          .cpu = kernel,
          .cuda = cuda,
          .gradient = gradient,
          .dtypes = dtypes::real,
          .inputs = 2,
          .saves = saves,
          .rare = {.resolve = &resolve_segments}};
}
constexpr OpDef unsorted_segment_row(const char* name, KernelFn kernel, KernelFn cuda,
                                     Grads (*gradient)(const GradCall&), Saves saves) {
  return {.name = name,
          .input_names = "x, ids, like",
          .infer = &infer_unsorted_segments,
          .cpu = kernel,
          .cuda = cuda,
          .gradient = gradient,
          .dtypes = dtypes::real,
          .inputs = 3,
          .saves = saves,
          .shape_inputs = 4};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef segment_sum_op =
    detail::segment_row("segment_sum", &detail::segment_kernel<cpu::SegmentFold::sum>, TANDEM_CUDA(&cuda::segment_sum),
                        &detail::segment_sum_gradient, Saves::inputs);
TANDEM_INLINE constexpr OpDef segment_prod_op =
    detail::segment_row("segment_prod", &detail::segment_kernel<cpu::SegmentFold::prod>,
                        TANDEM_CUDA(&cuda::segment_prod), &detail::segment_prod_gradient, Saves::inputs);
TANDEM_INLINE constexpr OpDef segment_max_op =
    detail::segment_row("segment_max", &detail::segment_kernel<cpu::SegmentFold::max>, TANDEM_CUDA(&cuda::segment_max),
                        &detail::segment_extreme_gradient, Saves::all);
TANDEM_INLINE constexpr OpDef segment_min_op =
    detail::segment_row("segment_min", &detail::segment_kernel<cpu::SegmentFold::min>, TANDEM_CUDA(&cuda::segment_min),
                        &detail::segment_extreme_gradient, Saves::all);
TANDEM_INLINE constexpr OpDef unsorted_segment_sum_op = detail::unsorted_segment_row(
    "unsorted_segment_sum", &detail::unsorted_segment_kernel<cpu::SegmentFold::sum>,
    TANDEM_CUDA(&cuda::unsorted_segment_sum), &detail::segment_sum_gradient, Saves::inputs);
TANDEM_INLINE constexpr OpDef unsorted_segment_prod_op = detail::unsorted_segment_row(
    "unsorted_segment_prod", &detail::unsorted_segment_kernel<cpu::SegmentFold::prod>,
    TANDEM_CUDA(&cuda::unsorted_segment_prod), &detail::unsorted_segment_prod_gradient, Saves::inputs);
TANDEM_INLINE constexpr OpDef unsorted_segment_max_op = detail::unsorted_segment_row(
    "unsorted_segment_max", &detail::unsorted_segment_kernel<cpu::SegmentFold::max>,
    TANDEM_CUDA(&cuda::unsorted_segment_max), &detail::segment_extreme_gradient, Saves::all);
TANDEM_INLINE constexpr OpDef unsorted_segment_min_op = detail::unsorted_segment_row(
    "unsorted_segment_min", &detail::unsorted_segment_kernel<cpu::SegmentFold::min>,
    TANDEM_CUDA(&cuda::unsorted_segment_min), &detail::segment_extreme_gradient, Saves::all);
TANDEM_INLINE constexpr OpDef segment_take_op{.name = "segment_take",
                                              .input_names = "x, ids",
                                              .infer = &detail::infer_segment_take,
                                              .cpu = &cpu::segment_take,
                                              .cuda = TANDEM_CUDA(&cuda::segment_take),
                                              .gradient = &detail::segment_take_gradient,
                                              .dtypes = dtypes::real,
                                              .inputs = 2,
                                              .saves = Saves::inputs};

namespace detail {

// A tensor with one row for each segment, of which only the shape is read.
TANDEM_INLINE Tensor segments_like(const char* op, const Dim& num, const Tensor& x) {
  const Dims dims{num};
  if (!dims.is_known()) return zeros(dims, {.dtype = DType::bool_});
  const i64 n = dims.numbers(op).dim(0);
  if (n < 0) errors::raise<errors::InvalidArgumentError>(op, "num_segments = " + std::to_string(n) + " is negative");
  return context.stager ? zeros({n}, {.dtype = DType::bool_}) : Tensor::symbol({Shape{n}, DType::bool_, x.device()});
}
TANDEM_INLINE Tensor unsorted_segments(const OpDef& op, const Tensor& x, const Tensor& ids, const Dim& num,
                                       const OpOptions& o) {
  const CallSite call(o);
  const LeadingRows rows(op.name, x, ids);
  return apply1(op, no_attrs, o, rows.x, rows.ids, segments_like(op.name, num, x));
}
// Half precision is rounded only once, at the end.
inline DType sums_dtype(DType d) { return dtypes::half_floating.has(d) ? DType::float32 : d; }
// Divides sums by the numbers of rows in their segments; integers truncate.
template <class Sum>
Tensor segment_means(const Tensor& x, const Tensor& ids, const Sum& sum, const OpOptions& o) {
  const bool whole = is_integer(x.dtype());
  const DType d = whole ? DType::int64 : sums_dtype(x.dtype());
  const Tensor counts = maximum(sum(ones_like(ids, d)), 1), sums = sum(cast(x, d));
  const Tensor divisors = as_rows(counts, sums.rank());
  if (!whole && d == x.dtype()) return divide(sums, divisors, o);
  return cast(whole ? truncatediv(sums, divisors) : divide(sums, divisors), x.dtype(), o);
}
// unsorted_segment_max and _min. In half precision, a segment without rows gets the limit of that dtype.
TANDEM_INLINE Tensor unsorted_extremes(const OpDef& op, const Tensor& x, const Tensor& ids, const Dim& num,
                                       const OpOptions& o) {
  if (!dtypes::half_floating.has(x.dtype())) return unsorted_segments(op, x, ids, num, o);
  const CallSite call(o);
  const double sign = &op == &unsorted_segment_max_op ? -1 : 1;
  const double missing = static_cast<double>(std::numeric_limits<float>::max());  // not a half-precision number
  const double limit = x.dtype() == DType::float16 ? 65504. : 0x1.fep127;
  const Tensor y = unsorted_segments(op, cast(x, DType::float32), ids, num, no_options);
  return where(equal(y, sign * missing), sign * limit, cast(y, x.dtype()), {.name = o.name, .where = o.where});
}

}  // namespace detail

TANDEM_INLINE Tensor segment_sum(const Tensor& x, const Tensor& ids, OpOptions o) {
  return apply1(segment_sum_op, no_attrs, o, x, ids);
}
TANDEM_INLINE Tensor segment_prod(const Tensor& x, const Tensor& ids, OpOptions o) {
  return apply1(segment_prod_op, no_attrs, o, x, ids);
}
TANDEM_INLINE Tensor segment_max(const Tensor& x, const Tensor& ids, OpOptions o) {
  return apply1(segment_max_op, no_attrs, o, x, ids);
}
TANDEM_INLINE Tensor segment_min(const Tensor& x, const Tensor& ids, OpOptions o) {
  return apply1(segment_min_op, no_attrs, o, x, ids);
}
TANDEM_INLINE Tensor segment_mean(const Tensor& x, const Tensor& ids, OpOptions o) {
  const detail::CallSite call(o);
  const auto sum = [&](const Tensor& t) { return segment_sum(t, ids); };
  return detail::in_name_of("segment_mean", [&] { return detail::segment_means(x, ids, sum, o); });
}
TANDEM_INLINE Tensor unsorted_segment_sum(const Tensor& x, const Tensor& ids, const Dim& num, OpOptions o) {
  return detail::unsorted_segments(unsorted_segment_sum_op, x, ids, num, o);
}
TANDEM_INLINE Tensor unsorted_segment_prod(const Tensor& x, const Tensor& ids, const Dim& num, OpOptions o) {
  return detail::unsorted_segments(unsorted_segment_prod_op, x, ids, num, o);
}
TANDEM_INLINE Tensor unsorted_segment_max(const Tensor& x, const Tensor& ids, const Dim& num, OpOptions o) {
  return detail::unsorted_extremes(unsorted_segment_max_op, x, ids, num, o);
}
TANDEM_INLINE Tensor unsorted_segment_min(const Tensor& x, const Tensor& ids, const Dim& num, OpOptions o) {
  return detail::unsorted_extremes(unsorted_segment_min_op, x, ids, num, o);
}
TANDEM_INLINE Tensor unsorted_segment_mean(const Tensor& x, const Tensor& ids, const Dim& num, OpOptions o) {
  const detail::CallSite call(o);
  const detail::LeadingRows rows("unsorted_segment_mean", x, ids);
  const Tensor like = detail::segments_like("unsorted_segment_mean", num, x);
  const auto sum = [&](const Tensor& t) { return detail::sum_segments(t, rows.ids, like); };
  return detail::in_name_of("unsorted_segment_mean", [&] { return detail::segment_means(rows.x, rows.ids, sum, o); });
}
TANDEM_INLINE Tensor unsorted_segment_sqrt_n(const Tensor& x, const Tensor& ids, const Dim& num, OpOptions o) {
  const detail::CallSite call(o);
  if (!is_floating(x.dtype()))
    errors::raise<errors::UnimplementedError>("unsorted_segment_sqrt_n",
                                              std::string("x must be floating, not ") + name(x.dtype()));
  const detail::LeadingRows rows("unsorted_segment_sqrt_n", x, ids);
  const Tensor like = detail::segments_like("unsorted_segment_sqrt_n", num, x);
  const DType d = detail::sums_dtype(x.dtype());
  return detail::in_name_of("unsorted_segment_sqrt_n", [&] {
    const Tensor sums = detail::sum_segments(cast(rows.x, d), rows.ids, like);
    const Tensor counts = maximum(detail::sum_segments(ones_like(rows.ids, d), rows.ids, like), 1);
    const Tensor divisors = detail::as_rows(sqrt(counts), sums.rank());
    return d == x.dtype() ? divide(sums, divisors, o) : cast(divide(sums, divisors), x.dtype(), o);
  });
}

}  // namespace TANDEM_NS
