// Candidate samplers: classes drawn to stand for all classes in nn::nce_loss and nn::sampled_softmax_loss.
#pragma once
#include "tandem/ops/random/attrs.hpp"
#include "tandem/ops/random/generator.hpp"

namespace TANDEM_NS::random {

struct CandidateSamplerOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> seed = {};          ///< a sequence of its own (generator.hpp)
  const Generator* generator = nullptr;  ///< default: the global one
};
/// What a candidate sampler gives.
struct Candidates {
  Tensor sampled;           ///< int64 [num_sampled]
  Tensor true_expected;     ///< float32, the true classes' shape: how often each is expected among the samples
  Tensor sampled_expected;  ///< float32 [num_sampled]
};

/// Draws classes with P(c) = log((c + 2) / (c + 1)) / log(range_max + 1): Zipf's law, for classes that are numbered
/// from the most frequent on.
///   true_classes  int64 or int32 [b, num_true], in [0, range_max)
///   unique        no class twice: drawn again until num_sampled different ones are there
///   throws        errors::InvalidArgumentError naming a true class out of range; for a num_sampled that is negative
///                 or, if unique, above range_max; for a range_max below 1; if true_classes is not [b, num_true]
///   gradient      none (blocked)
///   source        expected counts: num_sampled P(c); of unique draws 1 - (1 - P(c))^n after n draws in all
TANDEM_API Candidates log_uniform_candidate_sampler(const Tensor& true_classes, i64 num_true, i64 num_sampled,
                                                    bool unique, i64 range_max, CandidateSamplerOptions = {});
/// The same with P(c) = 1 / range_max.
TANDEM_API Candidates uniform_candidate_sampler(const Tensor& true_classes, i64 num_true, i64 num_sampled, bool unique,
                                                i64 range_max, CandidateSamplerOptions = {});

}  // namespace TANDEM_NS::random
namespace TANDEM_NS {
extern TANDEM_API const OpDef log_uniform_candidate_sampler_op, uniform_candidate_sampler_op;
inline constexpr const OpDef* candidate_ops[] = {&log_uniform_candidate_sampler_op, &uniform_candidate_sampler_op};
}  // namespace TANDEM_NS
