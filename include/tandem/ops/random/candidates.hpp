// Candidate samplers: draw the classes that represent all classes in nn::nce_loss and nn::sampled_softmax_loss.
#pragma once
#include "tandem/attrs/random.hpp"
#include "tandem/ops/random/generator.hpp"

namespace TANDEM_NS::random {

struct CandidateSamplerOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> seed = {};          ///< selects a separate random sequence (generator.hpp)
  const Generator* generator = nullptr;  ///< default: the global generator
};
/// The result of a candidate sampler.
struct Candidates {
  Tensor sampled;           ///< int64 [num_sampled]
  Tensor true_expected;     ///< float32, shape of true_classes: expected count of each true class in the sample
  Tensor sampled_expected;  ///< float32 [num_sampled]: expected count of each sampled class
};

/// Draws classes from the log-uniform (Zipfian) distribution: P(c) = log((c + 2) / (c + 1)) / log(range_max + 1).
/// Classes must be numbered by decreasing frequency.
///   true_classes  int64 or int32 [b, num_true], values in [0, range_max)
///   unique        draw each class at most once, repeating draws until there are num_sampled different ones
///   throws        errors::InvalidArgumentError for a true class out of range, naming it; for a num_sampled that is
///                 negative or, if unique, above range_max; for a range_max below 1; if true_classes is not [b,
///                 num_true]
///   gradient      none (non-differentiable)
///   source        expected counts: num_sampled P(c); for unique draws 1 - (1 - P(c))^n, where n is the total number
///                 of draws
TANDEM_API Candidates log_uniform_candidate_sampler(const Tensor& true_classes, i64 num_true, i64 num_sampled,
                                                    bool unique, i64 range_max, CandidateSamplerOptions = {});
/// Draws classes from the uniform distribution: P(c) = 1 / range_max. Otherwise as log_uniform_candidate_sampler.
TANDEM_API Candidates uniform_candidate_sampler(const Tensor& true_classes, i64 num_true, i64 num_sampled, bool unique,
                                                i64 range_max, CandidateSamplerOptions = {});

}  // namespace TANDEM_NS::random
namespace TANDEM_NS {
TANDEM_OPS(candidate_ops, log_uniform_candidate_sampler, uniform_candidate_sampler)
}  // namespace TANDEM_NS
