// Penalties on weights, added to the loss through Module::losses().
#pragma once
#include "tandem/module/regularizer.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_API Tensor penalty_l1(const Tensor& x, double l1, double);
TANDEM_API Tensor penalty_l2(const Tensor& x, double, double l2);
TANDEM_API Tensor penalty_l1_l2(const Tensor& x, double l1, double l2);
}  // namespace detail

namespace regularizers {

/// l1 * sum |x|.
constexpr Regularizer L1(double l1 = 0.01) { return {&tandem::detail::penalty_l1, l1, 0}; }
/// l2 * sum x^2, without the factor 1/2 of nn::l2_loss.
constexpr Regularizer L2(double l2 = 0.01) { return {&tandem::detail::penalty_l2, 0, l2}; }
/// l1 * sum |x| + l2 * sum x^2.
constexpr Regularizer L1L2(double l1 = 0, double l2 = 0) { return {&tandem::detail::penalty_l1_l2, l1, l2}; }

}  // namespace regularizers
}  // namespace TANDEM_NS
