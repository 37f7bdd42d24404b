// Definitions of ops/nn/recipes.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/nn/recipes.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS {
namespace detail {
[[noreturn]] TANDEM_INLINE void raise_operands(const char* op, const std::string& what, const Tensor& a,
                                               const Tensor& b) {
  errors::raise<errors::InvalidArgumentError>(op, what + ": " + to_string(a.spec()) + " x " + to_string(b.spec()));
}
}  // namespace detail

namespace nn {

TANDEM_INLINE Tensor bias_add(const Tensor& x, const Tensor& bias, BiasAddOptions o) {
  const tandem::detail::CallSite call(o);
  const int rank = x.rank(), axis = o.data_format == DataFormat::channels_first ? 1 : rank - 1;
  if (rank < 2 || !bias.shape().is_compatible_with({x.shape().dim(axis)}))
    tandem::detail::raise_operands("bias_add", "needs an input of rank 2 or more and a bias for each channel", x, bias);
  const bool known = bias.shape().is_fully_defined() && x.shape().dim(axis) != none;
  const Tensor spread = axis == rank - 1 && known ? bias : tandem::detail::along_axes(bias, 1u << axis, x);
  return add(x, spread, {o.name, o.where});
}

TANDEM_INLINE Tensor crelu(const Tensor& x, CreluOptions o) {
  const tandem::detail::CallSite call(o);
  return concat({relu(x), relu(negative(x))}, o.axis, {o.name, o.where});
}

TANDEM_INLINE Tensor last_relevant(const Tensor& outputs, const Tensor& lengths, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (outputs.rank() < 2 || lengths.rank() != 1 || !dtypes::index.has(lengths.dtype()))
    tandem::detail::raise_operands("last_relevant", "needs outputs [batch, time, ...] and integer lengths [batch]",
                                   outputs, lengths);
  using debugging::impl::Relation;
  const debugging::AssertOptions in_range{.where = o.where, .message = "lengths must be in [0, time]"};
  const Tensor time = tandem::detail::size_over(outputs, 1, lengths.dtype());
  debugging::impl::sign("last_relevant", Relation::greater_equal, lengths, in_range);
  debugging::impl::compared("last_relevant", Relation::less_equal, lengths, time, in_range);
  const Tensor zero = tandem::detail::scalar_like(0, lengths), one = tandem::detail::scalar_like(1, lengths);
  // A length of 0 reads step 0, which must exist.
  std::vector<std::pair<i64, i64>> more(static_cast<std::size_t>(outputs.rank()));
  more[1].second = 1;
  const bool exists = outputs.shape().dim(1) > 0;
  const Tensor rows = gather(exists ? outputs : pad(outputs, more), maximum(lengths - one, zero),
                             {.name = o.name, .where = o.where, .axis = 1, .batch_dims = 1});
  const Tensor runs = tandem::detail::along_axes(greater(lengths, zero), 1u, rows.rank());
  return where(runs, rows, tandem::detail::scalar_like(0, rows));
}

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

}  // namespace nn
}  // namespace TANDEM_NS
