// Definitions of losses/hinge.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/losses/hinge.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"

namespace TANDEM_NS {

namespace detail {
// max(1 - t p, 0); labels 0 and 1 become -1 and 1, if there are no others.
TANDEM_INLINE Tensor margins(const Pair& x) {
  const Tensor& t = x.y_true;
  Axes all = Axes::none();
  for (int i = 0; i < t.rank(); ++i) all.push_back(i);
  const Tensor is_binary = reduce_all(logical_or(equal(t, 0), equal(t, 1)), {.axis = all});
  return maximum(1 - where(is_binary, 2 * t - 1, t) * x.y_pred, 0);
}
}  // namespace detail

namespace losses {

TANDEM_INLINE Tensor hinge(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("hinge", y_true, y_pred);
  return x.mean(tandem::detail::margins(x));
}
TANDEM_INLINE Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("squared_hinge", y_true, y_pred);
  return x.mean(square(tandem::detail::margins(x)));
}
TANDEM_INLINE Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::Pair x = tandem::detail::checked_pair("categorical_hinge", y_true, y_pred);
  const Tensor pos = reduce_sum(x.y_true * x.y_pred, -1), neg = reduce_max((1 - x.y_true) * x.y_pred, -1);
  return x.result(maximum(neg - pos + 1, 0));
}

TANDEM_INLINE Hinge::Hinge(LossOptions o) : Loss("Hinge", &hinge, o) {}
TANDEM_INLINE SquaredHinge::SquaredHinge(LossOptions o) : Loss("SquaredHinge", &squared_hinge, o) {}
TANDEM_INLINE CategoricalHinge::CategoricalHinge(LossOptions o) : Loss("CategoricalHinge", &categorical_hinge, o) {}

}  // namespace losses
}  // namespace TANDEM_NS
