// Definitions of layers/constraints.hpp.
#pragma once
#include <string>

#include "tandem/layers/constraints.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::detail {

inline constexpr double norm_floor = 1e-7;

TANDEM_INLINE Tensor norm_along(const Tensor& w, const Axes& axes) {
  return reduce_euclidean_norm(w, {.axis = axes, .keepdims = true});
}
TANDEM_INLINE Tensor limit_norm(const Tensor& w, const Constraint::Settings& s) {
  const Tensor norm = norm_along(w, s.axes);
  return w * (minimum(norm, s.max_value) / (norm + norm_floor));
}
TANDEM_INLINE Tensor limit_norm_both_ways(const Tensor& w, const Constraint::Settings& s) {
  const Tensor norm = norm_along(w, s.axes);
  const Tensor desired = s.rate * minimum(maximum(norm, s.min_value), s.max_value) + (1 - s.rate) * norm;
  return w * (desired / (norm + norm_floor));
}
TANDEM_INLINE Tensor set_norm_to_one(const Tensor& w, const Constraint::Settings& s) {
  return w / (norm_along(w, s.axes) + norm_floor);
}
TANDEM_INLINE Tensor limit_to_positive(const Tensor& w) { return maximum(w, 0); }

TANDEM_INLINE Constraint::Settings norm_settings(const char* name, const Constraint::Settings& s) {
  const auto refuse = [&](const char* what, double value) {
    errors::raise<errors::InvalidArgumentError>(name, what + (", not " + shortest_text(value)));
  };
  if (!(s.min_value >= 0)) refuse("min_value must be at least 0", s.min_value);
  if (!(s.max_value >= s.min_value))
    refuse(s.min_value > 0 ? "max_value must be at least min_value" : "max_value must be at least 0", s.max_value);
  if (!(s.rate >= 0 && s.rate <= 1)) refuse("rate must be in [0, 1]", s.rate);
  return s;
}

}  // namespace TANDEM_NS::detail
