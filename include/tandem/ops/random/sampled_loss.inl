// Definitions of ops/random/sampled_loss.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/random/sampled_loss.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/softmax/cross_entropy.hpp"

namespace TANDEM_NS {
namespace detail {

// The arguments of the sampled losses.
struct SampledLoss {
  const char* op;
  const Tensor &weights, &biases, &labels, &inputs;
  i64 num_sampled, num_classes, num_true;
  bool remove_accidental_hits;
};
TANDEM_INLINE void check_sampled_loss(const SampledLoss& l) {
  const auto fits = [](i64 dim, i64 n) { return dim == n || dim == none || n == none; };
  const Shape &w = l.weights.shape(), &b = l.biases.shape(), &y = l.labels.shape(), &x = l.inputs.shape();
  const bool ranks = w.rank() == 2 && b.rank() == 1 && y.rank() == 2 && x.rank() == 2;
  if (!ranks || !fits(w.dim(0), l.num_classes) || !fits(b.dim(0), l.num_classes) || !fits(y.dim(1), l.num_true) ||
      !fits(y.dim(0), x.dim(0)) || !fits(w.dim(1), x.dim(1)) || !dtypes::floating.has(l.weights.dtype()) ||
      l.biases.dtype() != l.weights.dtype() || l.inputs.dtype() != l.weights.dtype())
    errors::raise<errors::InvalidArgumentError>(
        l.op, "needs weights [" + std::to_string(l.num_classes) + ", d], biases [" + std::to_string(l.num_classes) +
                  "], labels [b, " + std::to_string(l.num_true) + "] and inputs [b, d] of the weights' dtype, not " +
                  to_string(l.weights.spec()) + ", " + to_string(l.biases.spec()) + ", " + to_string(l.labels.spec()) +
                  ", " + to_string(l.inputs.spec()));
  if (l.num_true < 1 || l.num_sampled < 1)
    errors::raise<errors::InvalidArgumentError>(l.op, "num_true = " + std::to_string(l.num_true) +
                                                          " and num_sampled = " + std::to_string(l.num_sampled) +
                                                          " must be 1 or more");
}
TANDEM_INLINE random::Candidates candidates_for(const SampledLoss& l, const std::optional<random::Candidates>& given,
                                                const random::CandidateSamplerOptions& o) {
  if (!given) return random::log_uniform_candidate_sampler(l.labels, l.num_true, l.num_sampled, true, l.num_classes, o);
  if (o.seed || o.generator)
    errors::raise<errors::InvalidArgumentError>(l.op,
                                                "draws nothing if .sampled_values is given: omit .seed and "
                                                ".generator");
  if (!given->sampled.shape().is_compatible_with(Shape{l.num_sampled}))
    errors::raise<errors::InvalidArgumentError>(l.op, "num_sampled is " + std::to_string(l.num_sampled) +
                                                          ", but .sampled_values has " +
                                                          to_string(given->sampled.spec()));
  return *given;
}

/// Logits minus the logarithms of expected counts.
struct SampledLogits {
  Tensor of_true, of_sampled;  // [b, num_true], [b, num_sampled]
};
TANDEM_INLINE SampledLogits sampled_logits(const SampledLoss& l, const random::Candidates& c) {
  const DType dtype = l.weights.dtype();
  const Tensor true_weights = gather(l.weights, l.labels), true_biases = gather(l.biases, l.labels);
  const Tensor products = reduce_sum(expand_dims(l.inputs, 1) * true_weights, -1);
  const Tensor weights = gather(l.weights, c.sampled), biases = gather(l.biases, c.sampled);
  SampledLogits r{products + true_biases - cast(log(c.true_expected), dtype),
                  matmul(l.inputs, weights, {.transpose_b = true}) + biases - cast(log(c.sampled_expected), dtype)};
  if (l.remove_accidental_hits) {
    const Tensor same = equal(expand_dims(cast(l.labels, DType::int64), -1), c.sampled);
    r.of_sampled = where(reduce_any(same, 1), -1e30, r.of_sampled);  // e^-1e30 is 0
  }
  return r;
}

}  // namespace detail

TANDEM_INLINE Tensor nn::nce_loss(const Tensor& weights, const Tensor& biases, const Tensor& labels,
                                  const Tensor& inputs, i64 num_sampled, i64 num_classes, NceLossOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::SampledLoss l{
      "nn::nce_loss", weights, biases, labels, inputs, num_sampled, num_classes, o.num_true, o.remove_accidental_hits};
  tandem::detail::check_sampled_loss(l);
  const auto [of_true, of_sampled] = tandem::detail::sampled_logits(
      l, tandem::detail::candidates_for(l, o.sampled_values, {{}, o.where, o.seed, o.generator}));
  const Tensor labels_of_true = zeros_like(of_true) + 1 / static_cast<double>(o.num_true);
  const Tensor true_costs = reduce_sum(sigmoid_cross_entropy_with_logits(labels_of_true, of_true), -1);
  return add(true_costs, reduce_sum(softplus(of_sampled), -1), {.name = o.name, .where = o.where});
}
TANDEM_INLINE Tensor nn::sampled_softmax_loss(const Tensor& weights, const Tensor& biases, const Tensor& labels,
                                              const Tensor& inputs, i64 num_sampled, i64 num_classes,
                                              SampledSoftmaxLossOptions o) {
  const tandem::detail::CallSite call(o);
  const tandem::detail::SampledLoss l{
      "nn::sampled_softmax_loss", weights, biases, labels, inputs, num_sampled, num_classes, o.num_true,
      o.remove_accidental_hits};
  tandem::detail::check_sampled_loss(l);
  const auto [of_true, of_sampled] = tandem::detail::sampled_logits(
      l, tandem::detail::candidates_for(l, o.sampled_values, {{}, o.where, o.seed, o.generator}));
  const Tensor all = reduce_logsumexp(concat({of_true, of_sampled}, -1), -1);
  return subtract(all, reduce_mean(of_true, -1), {.name = o.name, .where = o.where});
}

}  // namespace TANDEM_NS
