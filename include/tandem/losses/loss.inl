// Definitions of losses/loss.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/losses/loss.hpp"
#include "tandem/module/model.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"

namespace TANDEM_NS::losses {

TANDEM_INLINE Loss::Loss(const std::string& name, tandem::detail::PairFunction function, LossOptions options,
                         tandem::detail::Ignored ignored)
    : class_name_(name),
      name_(options.name.str(tandem::detail::snake_case("T = " + class_name_))),
      reduction_(options.reduction),
      function_(std::move(function)),
      ignored_(ignored) {}

TANDEM_INLINE Tensor Loss::reduced(Tensor losses, const Tensor& sample_weight, const Tensor& valid) const {
  using namespace tandem::detail;
  if (sample_weight.is_set()) {
    const Tensor weights = weights_like(class_name_.c_str(), sample_weight, losses);
    losses = multiply_no_nan(losses, weights);
  }
  if (reduction_ == Reduction::none) return losses;
  const Tensor sum = sum_of_all(losses);
  if (reduction_ == Reduction::sum) return sum;
  const Tensor count =
      valid.is_set() ? sum_of_all(cast(valid, losses.dtype())) : size_over(losses, Axes(), losses.dtype());
  return div_no_nan(sum, count);
}

TANDEM_INLINE Tensor Loss::operator()(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
                                      OpOptions o) const {
  const tandem::detail::CallSite call(o);
  try {
    const Tensor wide = is_floating(y_pred.dtype()) ? tandem::detail::widened(y_pred) : y_pred;
    const tandem::detail::CountedPair counted(y_true, wide, sample_weight, ignored_.axis);
    const Tensor each = function_(counted.y_true, counted.y_pred);
    const Tensor valid =
        ignored_.zero_losses ? not_equal(each, 0) : ignored_.valid(class_name_.c_str(), y_true, y_pred);
    return cast(reduced(each, sample_weight, valid), y_pred.dtype());
  } catch (errors::OpError& e) {
    e.set_context("in losses::" + class_name_);
    throw;
  }
}

}  // namespace TANDEM_NS::losses
