// Definitions of ops/reduce/scan.hpp.
#pragma once
#include <limits>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/reduce/scan.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Specs infer_scan(const InferCall& c) {
  (void)resolve_axis(c.op.name, c.get<rules::ScanAttrs>().axis, c.spec(0).shape.rank());
  for (std::size_t i = 1; i < c.in.size(); ++i)
    if (c.spec(i).dtype != c.spec(0).dtype || !c.spec(i).shape.is_compatible_with(c.spec(0).shape))
      raise_specs(c, "shapes or dtypes differ");
  return Specs(c.spec(0));
}
TANDEM_INLINE Tensor linear_scan(const Tensor& a, const Tensor& b, int axis, bool reverse) {
  return apply1(linear_scan_op, rules::ScanAttrs{axis, false, reverse}, no_options, a, b);
}
TANDEM_INLINE Tensor shift(const Tensor& x, int axis, bool reverse) {
  return apply1(shift_op, rules::ScanAttrs{axis, false, reverse}, no_options, x);
}

TANDEM_INLINE Grads gradient_cumsum(const GradCall& c) {
  const rules::ScanAttrs& a = c.get<rules::ScanAttrs>();
  return Grads(
      Gradient(cumsum(c.g[0], {.axis = static_cast<int>(a.axis), .exclusive = a.exclusive, .reverse = !a.reverse})));
}
// dx[i] = (product before i) * r[i], where r[i] = g[i] + x[i+1] g[i+1] + x[i+1] x[i+2] g[i+2] + ... Needs no
// division.
TANDEM_INLINE Grads gradient_cumprod(const GradCall& c) {
  const rules::ScanAttrs& a = c.get<rules::ScanAttrs>();
  const int axis = static_cast<int>(a.axis);
  const Tensor& x = c.in[0];
  const bool back = !a.reverse;
  const Tensor b = a.exclusive ? shift(c.g[0], axis, back) : c.g[0];
  const Tensor r = linear_scan(shift(conj(x), axis, back), b, axis, back);
  return Grads(Gradient(times_conjugate(r, cumprod(x, {.axis = axis, .exclusive = true, .reverse = a.reverse}))));
}
TANDEM_INLINE Grads gradient_linear_scan(const GradCall& c) {
  const rules::ScanAttrs& s = c.get<rules::ScanAttrs>();
  const int axis = static_cast<int>(s.axis);
  const Tensor db = linear_scan(shift(conj(c.in[0]), axis, !s.reverse), c.g[0], axis, !s.reverse);
  return {c.needs(0) ? Gradient(times_conjugate(db, shift(c.out[0], axis, s.reverse))) : Gradient(), db};
}
TANDEM_INLINE Grads gradient_shift(const GradCall& c) {
  const rules::ScanAttrs& s = c.get<rules::ScanAttrs>();
  return Grads(Gradient(shift(c.g[0], static_cast<int>(s.axis), !s.reverse)));
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef cumsum_op{.name = "cumsum",
                                        .infer = &detail::infer_scan,
                                        .cpu = &cpu::cumsum,
                                        .cuda = TANDEM_CUDA(&cuda::cumsum),
                                        .gradient = &detail::gradient_cumsum,
                                        .dtypes = dtypes::number | DType::complex128,
                                        .saves = Saves::nothing,
                                        .attrs = &detail::attr_type<rules::ScanAttrs>};
TANDEM_INLINE constexpr OpDef cumprod_op{.name = "cumprod",
                                         .infer = &detail::infer_scan,
                                         .cpu = &cpu::cumprod,
                                         .cuda = TANDEM_CUDA(&cuda::cumprod),
                                         .gradient = &detail::gradient_cumprod,
                                         .dtypes = dtypes::number | DType::complex128,
                                         .saves = Saves::inputs,
                                         .attrs = &detail::attr_type<rules::ScanAttrs>};
TANDEM_INLINE constexpr OpDef linear_scan_op{.name = "linear_scan",
                                             .input_names = "a, b",
                                             .infer = &detail::infer_scan,
                                             .cpu = &cpu::linear_scan,
                                             .cuda = TANDEM_CUDA(&cuda::linear_scan),
                                             .gradient = &detail::gradient_linear_scan,
                                             .dtypes = dtypes::floating | dtypes::complex | DType::complex128,
                                             .inputs = 2,
                                             .attrs = &detail::attr_type<rules::ScanAttrs>};
TANDEM_INLINE constexpr OpDef shift_op{.name = "shift",
                                       .infer = &detail::infer_scan,
                                       .cpu = &cpu::shift,
                                       .cuda = TANDEM_CUDA(&cuda::shift),
                                       .gradient = &detail::gradient_shift,
                                       .dtypes = dtypes::number | DType::complex128,
                                       .saves = Saves::nothing,
                                       .attrs = &detail::attr_type<rules::ScanAttrs>};
TANDEM_INLINE constexpr OpDef cumulative_max_op{.name = "cumulative_max",
                                                .infer = &detail::infer_scan,
                                                .cpu = &cpu::cumulative_max,
                                                .cuda = TANDEM_CUDA(&cuda::cumulative_max),
                                                .dtypes = dtypes::floating,
                                                .saves = Saves::nothing,
                                                .flags = {.non_differentiable = true},
                                                .attrs = &detail::attr_type<rules::ScanAttrs>};

namespace detail {
inline Tensor scan(const OpDef& op, const Tensor& x, const ScanOptions& o) {
  return apply1(op, rules::ScanAttrs{o.axis, o.exclusive, o.reverse}, {o.name, o.where}, x);
}
}  // namespace detail
TANDEM_INLINE Tensor cumsum(const Tensor& x, ScanOptions o) { return detail::scan(cumsum_op, x, o); }
TANDEM_INLINE Tensor cumprod(const Tensor& x, ScanOptions o) { return detail::scan(cumprod_op, x, o); }
TANDEM_INLINE Tensor detail::cumulative_max(const Tensor& x, int axis, bool reverse) {
  return apply1(cumulative_max_op, rules::ScanAttrs{axis, false, reverse}, no_options, x);
}
// Keeps the sum of e^(x - m), where m is the largest element so far: if m grows from m' to m, the sum so far is
// multiplied by e^(m' - m). The result does not depend on m, which is therefore a constant to the gradient.
TANDEM_INLINE Tensor cumulative_logsumexp(const Tensor& x, ScanOptions o) {
  const detail::CallSite call(o, "cumulative_logsumexp");
  if (!is_floating(x.dtype()))
    errors::raise<errors::UnimplementedError>("cumulative_logsumexp",
                                              std::string("x must be floating, not ") + name(x.dtype()));
  resolve_axis("cumulative_logsumexp", o.axis, x.rank());
  if (dtypes::half_floating.has(x.dtype())) return cast(cumulative_logsumexp(cast(x, DType::float32), o), x.dtype());
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double highest = x.dtype() == DType::float64 ? std::numeric_limits<double>::max()
                                                     : static_cast<double>(std::numeric_limits<float>::max());
  // Finite, so that no difference is inf - inf.
  const Tensor largest = clip_by_value(detail::cumulative_max(stop_gradient(x), o.axis, o.reverse), -highest, highest);
  const Tensor before = detail::shift(largest, o.axis, o.reverse);
  const Tensor sums = detail::linear_scan(exp(minimum(before - largest, 0)), exp(x - largest), o.axis, o.reverse);
  const Tensor s = o.exclusive ? detail::shift(sums, o.axis, o.reverse) : sums, m = o.exclusive ? before : largest;
  const Tensor none_yet = equal(s, 0);
  return where(none_yet, -inf, m + log(where(none_yet, 1, s)), {.name = o.name, .where = o.where});
}

}  // namespace TANDEM_NS
