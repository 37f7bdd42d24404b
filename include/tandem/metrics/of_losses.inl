// Definitions of metrics/of_losses.hpp.
#pragma once
#include <cmath>

#include "tandem/core/scope.hpp"
#include "tandem/metrics/of_losses.hpp"
#include "tandem/metrics/rule.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/softmax/cross_entropy.hpp"

namespace TANDEM_NS {

namespace detail {

// Of rank 1: one example, or one each number.
TANDEM_INLINE Ref<Opaque> mean_of_vectors(PairFunction f, int axis = -1) {
  return mean_rule({.function = std::move(f), .ignored = {{}, axis}});
}
TANDEM_INLINE Ref<Opaque> mean_of_numbers(PairFunction f, int axis = -1) {
  return mean_rule({.function = std::move(f), .by_element = true, .ignored = {{}, axis}});
}
// Of squares: those of float32 numbers beyond 1.8e19 are finite in float64 only.
TANDEM_INLINE Ref<Opaque> mean_of_squares(PairFunction f) {
  return mean_rule({.function = std::move(f), .by_element = true, .wide = true});
}

TANDEM_INLINE Tensor relative_error(const Tensor& y_true, const Tensor& y_pred, const Tensor& normalizer) {
  const Pair x = checked_pair("MeanRelativeError", y_true, y_pred);
  const Tensor n = cast(normalizer, x.y_pred.dtype());
  return div_no_nan(abs(x.y_true - x.y_pred), broadcast_like(n, x.y_pred));
}

// -ln p[label], at most -ln 1e-10.
TANDEM_INLINE Tensor symbol_loss(const Tensor& y_true, const Tensor& y_pred, bool from_logits, const Ignored& ignored) {
  Tensor labels = checked_labels("Perplexity", y_true, y_pred);
  const Tensor valid = ignored.valid("Perplexity", y_true, y_pred);
  if (valid.is_set()) labels = where(valid, labels, 0);
  if (from_logits) return minimum(nn::sparse_softmax_cross_entropy_with_logits(labels, y_pred), -std::log(1e-10));
  const Tensor p = gather(y_pred, labels, {.axis = y_pred.rank() - 1, .batch_dims = y_pred.rank() - 1});
  return -log(maximum(p, 1e-10));
}
TANDEM_INLINE Ref<Opaque> perplexity_rule(const metrics::PerplexityOptions& o) {
  const Ignored ignored{o.ignore_class};
  return mean_rule({.function = [logits = o.from_logits, ignored](
                                    const Tensor& t, const Tensor& p) { return symbol_loss(t, p, logits, ignored); },
                    .finish = Finish::exponential,
                    .ignored = ignored});
}

}  // namespace detail

namespace metrics {

#define TANDEM_MEAN_METRIC(Class, kind, function) \
  TANDEM_INLINE Class::Class(MetricOptions o) : PredictionMetric(#Class, tandem::detail::kind(function), o) {}
TANDEM_MEAN_METRIC(MeanSquaredError, mean_of_squares, &losses::mean_squared_error)
TANDEM_MEAN_METRIC(MeanAbsoluteError, mean_of_numbers, &losses::mean_absolute_error)
TANDEM_MEAN_METRIC(MeanAbsolutePercentageError, mean_of_numbers, &losses::mean_absolute_percentage_error)
TANDEM_MEAN_METRIC(MeanSquaredLogarithmicError, mean_of_numbers, &losses::mean_squared_logarithmic_error)
TANDEM_MEAN_METRIC(LogCoshError, mean_of_numbers, &losses::log_cosh)
TANDEM_MEAN_METRIC(Poisson, mean_of_numbers, &losses::poisson)
TANDEM_MEAN_METRIC(Hinge, mean_of_numbers, &losses::hinge)
TANDEM_MEAN_METRIC(SquaredHinge, mean_of_squares, &losses::squared_hinge)
TANDEM_MEAN_METRIC(KLDivergence, mean_of_vectors, &losses::kl_divergence)
TANDEM_MEAN_METRIC(CategoricalHinge, mean_of_vectors, &losses::categorical_hinge)
#undef TANDEM_MEAN_METRIC

TANDEM_INLINE RootMeanSquaredError::RootMeanSquaredError(MetricOptions o)
    : PredictionMetric("RootMeanSquaredError",
                       tandem::detail::mean_rule({.function =
                                                      [](const Tensor& y_true, const Tensor& y_pred) {
                                                        const tandem::detail::Pair x = tandem::detail::checked_pair(
                                                            "RootMeanSquaredError", y_true, y_pred);
                                                        return squared_difference(x.y_pred, x.y_true);
                                                      },
                                                  .finish = tandem::detail::Finish::root,
                                                  .wide = true}),
                       o) {}
TANDEM_INLINE MeanRelativeError::MeanRelativeError(const Tensor& normalizer, MetricOptions o)
    : PredictionMetric("MeanRelativeError",
                       tandem::detail::mean_of_vectors([normalizer](const Tensor& y_true, const Tensor& y_pred) {
                         return tandem::detail::relative_error(y_true, y_pred, normalizer);
                       }),
                       o) {}
TANDEM_INLINE CosineSimilarity::CosineSimilarity(CosineSimilarityOptions o)
    : PredictionMetric("CosineSimilarity",
                       tandem::detail::mean_rule({.function =
                                                      [axis = o.axis](const Tensor& y_true, const Tensor& y_pred) {
                                                        return -losses::cosine_similarity(y_true, y_pred, axis);
                                                      },
                                                  .ignored = {{}, o.axis},
                                                  .wide = true}),
                       {o.name, o.dtype}) {}
TANDEM_INLINE BinaryCrossentropy::BinaryCrossentropy(CrossentropyOptions o)
    : PredictionMetric("BinaryCrossentropy",
                       tandem::detail::mean_of_numbers(
                           tandem::detail::bound_binary({o.from_logits, o.label_smoothing, o.axis}), o.axis),
                       {o.name, o.dtype}) {}
TANDEM_INLINE CategoricalCrossentropy::CategoricalCrossentropy(CrossentropyOptions o)
    : PredictionMetric("CategoricalCrossentropy",
                       tandem::detail::mean_of_vectors(
                           tandem::detail::bound_categorical({o.from_logits, o.label_smoothing, o.axis}), o.axis),
                       {o.name, o.dtype}) {}
TANDEM_INLINE SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(SparseCrossentropyOptions o)
    : PredictionMetric(
          "SparseCategoricalCrossentropy",
          tandem::detail::mean_rule({.function = tandem::detail::bound_sparse({o.from_logits, o.ignore_class, o.axis}),
                                     .ignored = {o.ignore_class, o.axis}}),
          {o.name, o.dtype}) {}

TANDEM_INLINE Perplexity::Perplexity(PerplexityOptions o)
    : PredictionMetric("Perplexity", tandem::detail::perplexity_rule(o), {o.name, o.dtype}) {}
TANDEM_INLINE Tensor Perplexity::bits() const {
  const tandem::detail::CallSite call(no_options);
  const Tensor x = result();
  return log(x) / std::log(2.);
}

}  // namespace metrics
}  // namespace TANDEM_NS
