// Definitions of optim/adafactor.hpp.
#pragma once
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/optim/adafactor.hpp"
#include "tandem/optim/check_options.hpp"

namespace TANDEM_NS {

namespace rules {
struct AdafactorAttrs {
  double beta_2_decay, epsilon_1, epsilon_2, clip_threshold;
  TANDEM_ATTRS(AdafactorAttrs, beta_2_decay, epsilon_1, epsilon_2, clip_threshold);
};
}  // namespace rules

namespace optimizers {
namespace detail {

TANDEM_INLINE Shape without_axis(const Shape& weight, int axis) {
  Shape s = weight;
  s.erase(weight.rank() + axis);
  return s;
}
TANDEM_INLINE Shape row_means(const Shape& weight) { return without_axis(weight, -1); }
TANDEM_INLINE Shape column_means(const Shape& weight) { return without_axis(weight, -2); }
inline constexpr tandem::detail::SlotKind factored_slots[] = {{.name = "r", .shape = &row_means},
                                                              {.name = "c", .shape = &column_means}};
inline constexpr tandem::detail::SlotKind unfactored_slots[] = {{.name = "v"}};

TANDEM_INLINE Span<const tandem::detail::SlotKind> adafactor_slots(const Variable& w, const Opaque*) {
  if (!w.aggregate())
    errors::raise<errors::UnimplementedError>(
        "Adafactor",
        "needs the whole of '" + w.name() + "', but other processes have parts of it (.aggregate = false)");
  if (w.rank() >= 2) return factored_slots;
  return unfactored_slots;
}
TANDEM_INLINE Tensor root_mean_square(const Tensor& x) {
  const tandem::detail::ShapeChecks lenient(false);
  return sqrt(reduce_mean(square(x)));
}
TANDEM_INLINE void adafactor_update(const tandem::detail::UpdateCall& c) {
  const auto& a = c.attrs.get<rules::AdafactorAttrs>();
  const DType dtype = tandem::detail::slot_dtype(c.state[0].dtype());
  const tandem::detail::ShapeChecks lenient(false);
  const Tensor weight = cast(c.state[0], dtype);
  const Tensor g = c.gradient.with_values(cast(c.gradient.values(), dtype)).tensor();
  const Tensor t = cast(c.step, DType::float64), rate = minimum(cast(c.lr, DType::float64), 1 / sqrt(t));
  const Tensor beta = cast(1 - pow(t, a.beta_2_decay), dtype);
  const Tensor squares = square(g) + a.epsilon_1;
  const auto moved = [&](const Variable& average, const Tensor& x) { return beta * average + (1 - beta) * x; };
  const Tensor first = moved(c.state[1], c.state.size() == 2 ? squares : reduce_mean(squares, -1));
  Tensor u, columns;
  if (c.state.size() == 2) {
    u = g / sqrt(first);
  } else {
    columns = moved(c.state[2], reduce_mean(squares, -2));
    const Tensor rows = sqrt(first) / sqrt(reduce_mean(first, {.axis = -1, .keepdims = true}));
    // The product of both roots is not formed: in float32 it can underflow to 0, and 0 / 0 is NaN.
    u = g / expand_dims(rows, -1) / expand_dims(sqrt(columns), -2);
  }
  const Tensor step = cast(rate, dtype) * maximum(root_mean_square(weight), a.epsilon_2) /
                      maximum(root_mean_square(u) / a.clip_threshold, 1);
  // Computed before the first assignment.
  const Tensor new_weight = cast(weight - step * u, c.state[0].dtype());
  c.state[1].assign(first);
  if (columns.is_set()) c.state[2].assign(columns);
  c.state[0].assign(new_weight);
}
TANDEM_INLINE tandem::detail::UpdateRule adafactor_rule(const AdafactorOptions& o) {
  const tandem::detail::CallSite call(o);
  check_common("Adafactor", o);
  check_not_negative("Adafactor", "-beta_2_decay", -o.beta_2_decay);
  check_positive("Adafactor", "epsilon_1", o.epsilon_1);
  check_not_negative("Adafactor", "epsilon_2", o.epsilon_2);
  check_positive("Adafactor", "clip_threshold", o.clip_threshold);
  return {
      .dense = nullptr, .sparse = nullptr, .slots = {}, .composite = &adafactor_update, .slots_for = &adafactor_slots};
}

}  // namespace detail

TANDEM_INLINE Adafactor::Adafactor(AdafactorOptions o)
    : Optimizer(detail::adafactor_rule(o),
                rules::AdafactorAttrs{o.beta_2_decay, o.epsilon_1, o.epsilon_2, o.clip_threshold}, o.learning_rate,
                detail::common(o)) {
  set_kind("adafactor");
}

}  // namespace optimizers
}  // namespace TANDEM_NS
