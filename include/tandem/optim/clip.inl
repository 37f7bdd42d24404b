// Definitions of optim/clip.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/optim/clip.hpp"

namespace TANDEM_NS {

namespace detail {
inline void check_clip(const char* op, double c) {
  if (!(c > 0)) errors::raise<errors::InvalidArgumentError>(op, "the bound must be positive, not " + std::to_string(c));
}
inline Gradient map_values(const Gradient& g, const auto& f) {
  if (!g.is_set()) return g;
  if (!g.is_sparse()) return f(g.dense());
  return g.with_values(f(g.values()));
}
inline Tensor squared_norm(const Tensor& t, const Axes& axes = {}) {
  const ShapeChecks lenient(false);
  return reduce_sum(square(t), {.axis = axes, .keepdims = axes.given()});
}
}  // namespace detail

TANDEM_INLINE Tensor clip_by_norm(const Tensor& t, double clip_norm, ClipByNormOptions o) {
  const detail::CallSite call(o, "clip_by_norm");
  detail::check_clip("clip_by_norm", clip_norm);
  const Tensor squared = detail::squared_norm(t, o.axes);
  // The derivative of sqrt is infinite at 0, where nothing is clipped, so its argument is kept away from 0.
  const Tensor norm = sqrt(maximum(squared, clip_norm * clip_norm));
  return t * (clip_norm / norm);
}
TANDEM_INLINE std::vector<Gradient> clip_by_norm(const std::vector<Gradient>& gradients, double clip_norm) {
  std::vector<Gradient> r;
  for (const Gradient& g : gradients)
    r.push_back(detail::map_values(g, [&](const Tensor& t) { return clip_by_norm(t, clip_norm); }));
  return r;
}
TANDEM_INLINE Tensor global_norm(const std::vector<Gradient>& gradients, OpOptions o) {
  const detail::CallSite call(o, "global_norm");
  Tensor sum;
  for (const Gradient& g : gradients) {
    if (!g.is_set()) continue;
    const Tensor n = detail::squared_norm(g.values());
    sum = sum.is_set() ? sum + n : n;
  }
  if (!sum.is_set()) errors::raise<errors::InvalidArgumentError>("global_norm", "no gradient is set");
  return sqrt(sum, o);
}
TANDEM_INLINE ClippedGradients clip_by_global_norm(const std::vector<Gradient>& gradients, double clip_norm,
                                                   ClipByGlobalNormOptions o) {
  const detail::CallSite call(o, "clip_by_global_norm");
  detail::check_clip("clip_by_global_norm", clip_norm);
  ClippedGradients r{{}, o.use_norm.is_set() ? o.use_norm : global_norm(gradients, {o.name, o.where})};
  const Tensor finite = where(is_finite(r.norm), r.norm, r.norm - r.norm);  // infinity becomes NaN
  const Tensor scale = clip_norm / maximum(finite, clip_norm);
  for (const Gradient& g : gradients)
    r.gradients.push_back(detail::map_values(g, [&](const Tensor& t) { return t * scale; }));
  return r;
}
TANDEM_INLINE std::vector<Gradient> clip_by_value(const std::vector<Gradient>& gradients, double lo, double hi) {
  std::vector<Gradient> r;
  for (const Gradient& g : gradients)
    r.push_back(detail::map_values(g, [&](const Tensor& t) {
      return clip_by_value(t, tandem::detail::scalar_like(lo, t), tandem::detail::scalar_like(hi, t));
    }));
  return r;
}

}  // namespace TANDEM_NS
