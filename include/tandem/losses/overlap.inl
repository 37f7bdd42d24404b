// Definitions of losses/overlap.hpp.
#pragma once
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/losses/overlap.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::losses {

namespace detail {
TANDEM_INLINE void check_tversky(const char* function, double alpha, double beta) {
  if (!(alpha >= 0 && beta >= 0))
    errors::raise<errors::InvalidArgumentError>(function, "alpha and beta must not be negative, not " +
                                                              tandem::detail::shortest_text(alpha) + " and " +
                                                              tandem::detail::shortest_text(beta));
}
}  // namespace detail

TANDEM_INLINE Tensor dice(const Tensor& y_true, const Tensor& y_pred, DiceOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("dice", y_true, y_pred);
  const auto sum = [&](const Tensor& values) { return reduce_sum(values, {.axis = o.axis}); };
  const Tensor all = sum(x.y_true) + sum(x.y_pred) + tandem::detail::probability_epsilon;
  return x.result(1 - 2 * sum(x.y_true * x.y_pred) / all);
}
TANDEM_INLINE Tensor tversky(const Tensor& y_true, const Tensor& y_pred, TverskyOptions o) {
  const tandem::detail::CallSite call(o);
  detail::check_tversky("tversky", o.alpha, o.beta);
  const tandem::detail::Pair x = tandem::detail::checked_pair("tversky", y_true, y_pred);
  const auto sum = [&](const Tensor& values) { return reduce_sum(values, {.axis = o.axis}); };
  const Tensor both = sum(x.y_true * x.y_pred);
  const Tensor missed = sum((1 - x.y_pred) * x.y_true), extra = sum(x.y_pred * (1 - x.y_true));
  return x.result(1 - both / (both + missed * o.alpha + extra * o.beta + tandem::detail::probability_epsilon));
}

TANDEM_INLINE Dice::Dice(DiceLossOptions o)
    : Loss("Dice", [axis = o.axis](const Tensor& t, const Tensor& p) { return dice(t, p, {.axis = axis}); },
           {o.reduction, o.name}) {}
TANDEM_INLINE Tversky::Tversky(TverskyLossOptions o)
    : Loss("Tversky",
           [o](const Tensor& t, const Tensor& p) {
             return tversky(t, p, {.alpha = o.alpha, .beta = o.beta, .axis = o.axis});
           },
           {o.reduction, o.name}) {
  detail::check_tversky("Tversky", o.alpha, o.beta);
}

}  // namespace TANDEM_NS::losses
