// Draws among given values: categorical, sample_with_temperature, shuffle. Not here: numbers of a distribution
// (draw.hpp).
#pragma once
#include "tandem/ops/random/attrs.hpp"
#include "tandem/ops/random/generator.hpp"

namespace TANDEM_NS::random {

struct CategoricalOptions {
  TANDEM_OP_OPTIONS;
  DType dtype = DType::int64;  ///< int64 or int32
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;  ///< default: the global one
};
struct ShuffleOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;
};

/// num_samples independent classes a row, with the probabilities softmax(logits).
///   logits    [b, n], float32 or float64: log-probabilities that need not be normalised; -inf is never drawn
///   returns   [b, num_samples] of `.dtype`, on logits' device
///   throws    errors::InvalidArgumentError for a row of only -inf or with a NaN, for n = 0, or another rank
///   gradient  none (blocked)
TANDEM_API Tensor categorical(const Tensor& logits, i64 num_samples, CategoricalOptions options = {});
/// One class from softmax(log_p / temperature): below 1 the likely ones gain. 0 takes the most likely, the first of
/// equals.
///   log_p     [..., n], float32 or float64; a probability of 0 (-inf) is never drawn
///   returns   log_p's shape without its last axis, int64
///   throws    errors::InvalidArgumentError for a negative temperature, and as categorical
///   gradient  none (blocked)
TANDEM_API Tensor sample_with_temperature(const Tensor& log_p, double temperature, CategoricalOptions options = {});
/// The rows of x (along axis 0) in random order, every order equally likely.
///   x         any dtype, rank >= 1
///   gradient  g in the inverse order
TANDEM_API Tensor shuffle(const Tensor& x, ShuffleOptions options = {});

}  // namespace TANDEM_NS::random
namespace TANDEM_NS {
extern TANDEM_API const OpDef categorical_op, shuffle_op;
inline constexpr const OpDef* sample_ops[] = {&categorical_op, &shuffle_op};
}  // namespace TANDEM_NS
