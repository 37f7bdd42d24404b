// Sampling from given values: categorical, sample_with_temperature, shuffle, permutation, and stateless forms.
// Not here: numbers from a distribution (draw.hpp).
#pragma once
#include "tandem/attrs/random.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/random/generator.hpp"

namespace TANDEM_NS::random {

struct CategoricalOptions {
  TANDEM_OP_OPTIONS;
  DType dtype = DType::int64;  ///< int64 or int32
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;  ///< default: the global generator
};
struct ShuffleOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;
};

/// Draws num_samples independent classes per row, with probabilities softmax(logits).
///   logits    [b, n], float32 or float64: log-probabilities, which need not be normalized; -inf is never drawn
///   returns   [b, num_samples] of `.dtype`, on logits' device
///   throws    errors::InvalidArgumentError for a row that is all -inf or contains NaN, for n = 0, or for the wrong
///             rank
///   gradient  none (non-differentiable)
TANDEM_API Tensor categorical(const Tensor& logits, i64 num_samples, CategoricalOptions options = {});
/// Draws one class from softmax(log_p / temperature). A temperature below 1 favors likely classes; 0 returns the
/// most likely class, the first among equals.
///   log_p     [..., n], float32 or float64; a class of probability 0 (-inf) is never drawn
///   returns   shape of log_p without the last axis, int64
///   throws    errors::InvalidArgumentError for a negative temperature, and as categorical
///   gradient  none (non-differentiable)
TANDEM_API Tensor sample_with_temperature(const Tensor& log_p, double temperature, CategoricalOptions options = {});
/// Shuffles the rows of x (along axis 0); all orders are equally likely.
///   x         any dtype, rank >= 1
///   gradient  g in the inverse order
TANDEM_API Tensor shuffle(const Tensor& x, ShuffleOptions options = {});
/// Draws a random order of the integers 0 ... n - 1; all orders are equally likely.
///   returns   int64[n]
///   throws    errors::InvalidArgumentError for a negative n
///   gradient  none
TANDEM_API Tensor permutation(i64 n, ShuffleOptions options = {});

/// Draw as pure functions of their arguments: every call returns the same. Otherwise as categorical and shuffle.
///   throws    errors::InvalidArgumentError also if `.seed` or `.generator` is given
TANDEM_API Tensor stateless_categorical(const Tensor& logits, i64 num_samples, const Seed& seed,
                                        CategoricalOptions options = {});
TANDEM_API Tensor stateless_shuffle(const Tensor& x, const Seed& seed, ShuffleOptions options = {});

}  // namespace TANDEM_NS::random
namespace TANDEM_NS {
TANDEM_OPS(sample_ops, categorical, shuffle)
}  // namespace TANDEM_NS
