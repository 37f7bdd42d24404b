// Definitions of losses/sparse.hpp.
#pragma once
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/losses/sparse.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/softmax/ctc.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::losses {

namespace detail {
TANDEM_INLINE void check_robustness(const char* function, double q) {
  if (!(q > 0 && q < 1))
    errors::raise<errors::InvalidArgumentError>(function,
                                                "q must be in (0, 1), not " + tandem::detail::shortest_text(q));
}
}  // namespace detail

TANDEM_INLINE Tensor categorical_generalized_cross_entropy(const Tensor& y_true, const Tensor& y_pred, double q,
                                                           OpOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const function = "categorical_generalized_cross_entropy";
  detail::check_robustness(function, q);
  if (!is_floating(y_pred.dtype()))
    errors::raise<errors::InvalidArgumentError>(
        function, "y_pred must be floating, not " + to_string(y_pred.spec()) + "; cast it, for example to float32");
  const Tensor labels = tandem::detail::checked_labels(function, y_true, y_pred);
  const int classes = y_pred.rank() - 1;
  const Tensor p = tandem::detail::widened(gather(y_pred, labels, {.axis = classes, .batch_dims = classes}));
  return cast((1 - pow(p, q)) / q, y_pred.dtype());
}
TANDEM_INLINE Tensor ctc(const Tensor& y_true, const Tensor& y_pred, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (y_true.rank() != 2 || !is_integer(y_true.dtype()) || y_pred.rank() != 3)
    errors::raise<errors::InvalidArgumentError>(
        "ctc", "needs integer labels [batch, labels] and logits [batch, steps, classes], not " +
                   to_string(y_true.spec()) + " and " + to_string(y_pred.spec()));
  const Tensor labels = cast(y_true, DType::int64), counts = cast(not_equal(labels, 0), DType::int64);
  const Tensor lengths = reduce_sum(counts, 1);
  return nn::ctc_loss(labels, y_pred, lengths, full_like(lengths, y_pred.shape()[1]), {.logits_time_major = false});
}

TANDEM_INLINE CategoricalGeneralizedCrossEntropy::CategoricalGeneralizedCrossEntropy(
    GeneralizedCrossEntropyLossOptions o)
    : Loss("CategoricalGeneralizedCrossEntropy",
           [q = o.q](const Tensor& t, const Tensor& p) { return categorical_generalized_cross_entropy(t, p, q); },
           {o.reduction, o.name}) {
  detail::check_robustness("CategoricalGeneralizedCrossEntropy", o.q);
}
TANDEM_INLINE CTC::CTC(LossOptions o) : Loss("CTC", &ctc, o) {}

}  // namespace TANDEM_NS::losses
