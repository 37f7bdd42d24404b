// Definitions of ops/softmax/scores.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/operands.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/softmax/scores.hpp"

namespace TANDEM_NS::nn {

TANDEM_INLINE Tensor in_top_k(const Tensor& targets, const Tensor& predictions, i64 k, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (predictions.rank() != 2 || targets.rank() != 1 || !dtypes::index.has(targets.dtype()) ||
      !is_floating(predictions.dtype()))
    tandem::detail::raise_operands("in_top_k", "needs integer targets [batch] and predictions [batch, classes]",
                                   targets, predictions);
  const Tensor zero = tandem::detail::scalar_like(0, targets);
  const Tensor classes = tandem::detail::size_over(predictions, -1, targets.dtype());
  const Tensor valid = logical_and(greater_equal(targets, zero), less(targets, classes));
  const Tensor score = gather(predictions, where(valid, targets, zero), {.axis = 1, .batch_dims = 1});
  const Tensor better = count_nonzero(greater(predictions, expand_dims(score, -1)), -1);
  const Tensor finite = reduce_all(is_finite(predictions), -1);
  return logical_and(logical_and(valid, finite), less(better, tandem::detail::scalar_like(k, better)), o);
}

TANDEM_INLINE Tensor log_poisson_loss(const Tensor& targets, const Tensor& log_input, LogPoissonLossOptions o) {
  const tandem::detail::CallSite call(o);
  if (!targets.shape().is_compatible_with(log_input.shape()))
    tandem::detail::raise_operands("log_poisson_loss", "shapes of targets and log_input differ", targets, log_input);
  const Tensor loss = subtract(exp(log_input), log_input * targets, {o.name, o.where});
  if (!o.compute_full_loss) return loss;
  const Tensor one = tandem::detail::scalar_like(1, targets), zero = tandem::detail::scalar_like(0, targets);
  const Tensor small = less_equal(targets, one), t = where(small, one, targets);
  const Tensor stirling = t * log(t) - t + log(t * (2 * 3.14159265358979323846)) * 0.5;
  return loss + where(small, zero, stirling);
}

}  // namespace TANDEM_NS::nn
