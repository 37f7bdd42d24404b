// Random numbers of distributions with parameters: gamma, beta, poisson, binomial, and their stateless forms.
// Not here: uniform and normal numbers (draw.hpp), classes (sample.hpp).
#pragma once
#include "tandem/attrs/random.hpp"
#include "tandem/ops/random/draw.hpp"

namespace TANDEM_NS::random {

struct GammaOptions {
  TANDEM_OP_OPTIONS;
  Parameter beta = 1;                    ///< the rate (inverse scale)
  std::optional<DType> dtype = {};       ///< default: that of alpha or beta, float32 if both are numbers
  std::optional<i64> seed = {};          ///< selects a separate random sequence (generator.hpp)
  const Generator* generator = nullptr;  ///< default: the global generator
};
struct BetaOptions {
  TANDEM_OP_OPTIONS;
  std::optional<DType> dtype = {};  ///< default: that of a or b, float32 if both are numbers
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;
};
struct PoissonOptions {
  TANDEM_OP_OPTIONS;
  DType dtype = DType::float32;  ///< float32, float64, float16, bfloat16, int32 or int64
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;
};
struct BinomialOptions {
  TANDEM_OP_OPTIONS;
  DType dtype = DType::int32;  ///< as PoissonOptions::dtype
  std::optional<i64> seed = {};
  const Generator* generator = nullptr;
};

/// Draws gamma distributed numbers, with density proportional to x^(alpha - 1) e^(-beta x).
///   shape     of the numbers drawn for each pair of parameters
///   alpha     number or floating tensor; positive. Broadcasts with beta
///   returns   shape followed by the parameters' broadcast shape; at least the dtype's smallest normal number / beta
///   throws    errors::InvalidArgumentError for alpha or beta <= 0 or NaN, or parameters of different dtypes
///   gradient  to alpha: g times the derivative of the quantile function at the number drawn, -(dP / dalpha) / density
///             (implicit reparameterization), of first order only; to beta: as of y / beta
///   source    Marsaglia and Tsang, 2000; gradient: Figurnov, Mohamed and Mnih, 2018
TANDEM_API Tensor gamma(const Dims& shape, const Parameter& alpha, GammaOptions options = {});
/// Draws beta distributed numbers, with density proportional to x^(a - 1) (1 - x)^(b - 1): x / (x + y) of two gamma
/// distributed numbers, computed from their logarithms. Rounded to the dtype: 0 and 1 occur for small a and b. Shapes,
/// dtypes, errors and gradients to a and b as gamma.
TANDEM_API Tensor beta(const Dims& shape, const Parameter& a, const Parameter& b, BetaOptions options = {});
/// Draws Poisson distributed numbers.
///   shape     of the numbers drawn for each lam
///   lam       number or floating tensor: the mean, not negative
///   returns   shape followed by lam's shape, of .dtype; beyond an integer dtype's range its highest number
///   throws    errors::InvalidArgumentError for lam < 0 or NaN, or another dtype
///   gradient  none (non-differentiable)
///   source    Hormann, "The transformed rejection method for generating Poisson random variables", 1993
TANDEM_API Tensor poisson(const Dims& shape, const Parameter& lam, PoissonOptions options = {});
/// Draws binomially distributed numbers: how many of `counts` trials succeed.
///   counts    number or tensor of integers or floating numbers that are integers; not negative
///   probs     number or floating tensor: the probability of success, in [0, 1]. Broadcasts with counts
///   returns   shape followed by the parameters' broadcast shape, of .dtype
///   throws    errors::InvalidArgumentError for parameters outside their range, or another dtype
///   gradient  none (non-differentiable)
///   source    Hormann, "The generation of binomial random variates", 1993
TANDEM_API Tensor binomial(const Dims& shape, const Parameter& counts, const Parameter& probs,
                           BinomialOptions options = {});
/// Draw random numbers as pure functions of their arguments: every call returns the same numbers. `shape` is that of
/// the whole result, to which the parameters broadcast. Otherwise as the functions without a seed.
///   throws    errors::InvalidArgumentError also if `.seed` or `.generator` is given
TANDEM_API Tensor stateless_gamma(const Dims& shape, const Seed& seed, const Parameter& alpha, GammaOptions = {});
TANDEM_API Tensor stateless_poisson(const Dims& shape, const Seed& seed, const Parameter& lam, PoissonOptions = {});
TANDEM_API Tensor stateless_binomial(const Dims& shape, const Seed& seed, const Parameter& counts,
                                     const Parameter& probs, BinomialOptions = {});

}  // namespace TANDEM_NS::random
namespace TANDEM_NS {
TANDEM_OPS(distribution_ops, random_gamma, random_poisson, random_binomial)
}  // namespace TANDEM_NS
