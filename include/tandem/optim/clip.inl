// Definitions of optim/clip.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/optim/clip.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace detail {
inline void check_clip(const char* op, double c) {
  if (!(c > 0))
    errors::raise<errors::InvalidArgumentError>(op, "the bound must be positive, not " + detail::shortest_text(c));
}
inline Gradient map_values(const Gradient& g, const auto& f) {
  if (!g.is_set()) return g;
  if (!g.is_sparse()) return f(g.dense());
  return g.with_values(f(g.values()));
}
// float32 for half precision: in its own dtype a norm overflows or loses its digits.
TANDEM_INLINE Tensor norm_to_clip(const Tensor& t, const Axes& axes) {
  const ShapeChecks lenient(false);
  return reduce_euclidean_norm(widened(t), {.axis = axes, .keepdims = axes.given()});
}
TANDEM_INLINE Tensor norms_to_clip(const std::vector<Gradient>& gradients, std::vector<Tensor>* each) {
  std::vector<Tensor> norms;
  for (const Gradient& g : gradients)
    if (g.is_set()) norms.push_back(norm_to_clip(g.values()));
  if (norms.empty()) return {};
  if (each) *each = norms;
  DType common = norms[0].dtype();
  for (const Tensor& n : norms)
    if (n.dtype() == DType::float64) common = n.dtype();
  for (Tensor& n : norms)
    if (n.dtype() != common) n = cast(n, common);
  return stack(norms);
}
TANDEM_INLINE Tensor clip_factor(const Tensor& norm, double clip_norm) {
  return clip_norm / maximum(where(is_finite(norm), norm, norm - norm), clip_norm);  // infinity - infinity is NaN
}
// Multiplies in the wider of the two dtypes, float32 at least.
TANDEM_INLINE Tensor times_factor(const Tensor& t, const Tensor& factor) {
  if (t.dtype() == factor.dtype()) return t * factor;
  const DType wide = factor.dtype() == DType::float64 ? DType::float64 : widened(t.dtype());
  return cast(cast(t, wide) * cast(factor, wide), t.dtype());
}
TANDEM_INLINE Gradient scaled_to_norm(const Gradient& g, const Tensor& factor) {
  return map_values(g, [&](const Tensor& t) { return times_factor(t, factor); });
}
}  // namespace detail

TANDEM_INLINE Tensor clip_by_norm(const Tensor& t, double clip_norm, ClipByNormOptions o) {
  const detail::CallSite call(o, "clip_by_norm");
  detail::check_clip("clip_by_norm", clip_norm);
  return detail::times_factor(t, detail::clip_factor(detail::norm_to_clip(t, o.axes), clip_norm));
}
TANDEM_INLINE std::vector<Gradient> clip_by_norm(const std::vector<Gradient>& gradients, double clip_norm) {
  std::vector<Gradient> r;
  for (const Gradient& g : gradients)
    r.push_back(detail::map_values(g, [&](const Tensor& t) { return clip_by_norm(t, clip_norm); }));
  return r;
}
TANDEM_INLINE Tensor global_norm(const std::vector<Gradient>& gradients, OpOptions o) {
  const detail::CallSite call(o, "global_norm");
  const Tensor norms = detail::norms_to_clip(gradients);
  if (!norms.is_set()) errors::raise<errors::InvalidArgumentError>("global_norm", "no gradient is set");
  return reduce_euclidean_norm(norms, {.name = o.name, .where = o.where});
}
TANDEM_INLINE ClippedGradients clip_by_global_norm(const std::vector<Gradient>& gradients, double clip_norm,
                                                   ClipByGlobalNormOptions o) {
  const detail::CallSite call(o, "clip_by_global_norm");
  detail::check_clip("clip_by_global_norm", clip_norm);
  ClippedGradients r{{}, o.use_norm.is_set() ? detail::widened(o.use_norm) : global_norm(gradients, {o.name, o.where})};
  const Tensor scale = detail::clip_factor(r.norm, clip_norm);
  for (const Gradient& g : gradients) r.gradients.push_back(detail::scaled_to_norm(g, scale));
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
