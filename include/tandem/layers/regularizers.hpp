// Penalties on weights, added to the loss through Module::losses().
#pragma once
#include "tandem/module/regularizer.hpp"

namespace TANDEM_NS {

namespace detail {
/// In a call of TimeDistributed, its input: the rows of what its layer computes are steps, and penalties of outputs are
/// divided by the number of examples. Null elsewhere.
extern TANDEM_API constinit thread_local const Tensor* examples_of_steps;
TANDEM_API Tensor penalty_l1(const Tensor& x, double l1, double);
TANDEM_API Tensor penalty_l2(const Tensor& x, double, double l2);
TANDEM_API Tensor penalty_l1_l2(const Tensor& x, double l1, double l2);
TANDEM_API Tensor penalty_orthogonal(const Tensor& x, double factor, double columns);
constexpr Regularizer weighted(Regularizer::Weighted f, double l1, double l2) {
  return {f, l1, l2, &penalty_per_example};
}
}  // namespace detail

namespace regularizers {

/// What OrthogonalRegularizer makes orthogonal to each other.
enum class OrthogonalMode : std::uint8_t { rows, columns };

/// l1 * sum |x|.
constexpr Regularizer L1(double l1 = 0.01) { return tandem::detail::weighted(&tandem::detail::penalty_l1, l1, 0); }
/// l2 * sum x^2, without the factor 1/2 of nn::l2_loss.
constexpr Regularizer L2(double l2 = 0.01) { return tandem::detail::weighted(&tandem::detail::penalty_l2, 0, l2); }
/// l1 * sum |x| + l2 * sum x^2.
constexpr Regularizer L1L2(double l1 = 0, double l2 = 0) {
  return tandem::detail::weighted(&tandem::detail::penalty_l1_l2, l1, l2);
}
/// factor times the mean of the magnitudes of the cosines between all pairs of rows, or of columns, of a matrix; 0 for
/// a single one. A row of zeros has the cosine 0.
///   throws  errors::InvalidArgumentError, at the call, for a weight that is not of rank 2
///   source  Keras 3, OrthogonalRegularizer
constexpr Regularizer OrthogonalRegularizer(double factor = 0.01, OrthogonalMode mode = OrthogonalMode::rows) {
  return tandem::detail::weighted(&tandem::detail::penalty_orthogonal, factor,
                                  mode == OrthogonalMode::columns ? 1. : 0.);
}

}  // namespace regularizers
}  // namespace TANDEM_NS
