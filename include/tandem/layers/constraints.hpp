// Constraints on weights, to which optimizers project them after each update: the options .kernel_constraint,
// .bias_constraint, ... of layers, and .constraint of a Variable. Not here: penalties (regularizers.hpp).
#pragma once
#include "tandem/core/constraint.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_API Tensor limit_norm(const Tensor& w, const Constraint::Settings& settings);
TANDEM_API Tensor limit_norm_both_ways(const Tensor& w, const Constraint::Settings& settings);
TANDEM_API Tensor set_norm_to_one(const Tensor& w, const Constraint::Settings& settings);
TANDEM_API Tensor limit_to_positive(const Tensor& w);
/// Settings of a constraint of this name.
///   throws  errors::InvalidArgumentError for a bound that is negative or not a number, bounds in the wrong order, or a
///           rate outside of [0, 1]
TANDEM_API Constraint::Settings norm_settings(const char* name, const Constraint::Settings& settings);
}  // namespace detail

/// The formulas are those of Keras. A norm is Euclidean, along `axes`, with one for each position along the others: of
/// the kernel [in, out] of Dense along axis 0, the weights of each unit; of filters [height, width, in, out] along
/// {0, 1, 2}; of embeddings [ids, size] along 1, each vector. 1e-7 is added to each norm that is divided by.
///
/// The constraint of a weight is applied after the whole update, and only where the weight had a gradient. It applies
/// to all of the weight, as in Keras, also where the gradient is row-sparse. Assignments, initial values and
/// checkpoints are taken as they are; the Variables of a loaded graph have no constraints.
namespace constraints {

/// Scales weights down whose norm exceeds max_value.
///   throws  errors::InvalidArgumentError for a bound that is negative or NaN
inline Constraint MaxNorm(double max_value = 2, Axes axes = 0) {
  return {&tandem::detail::limit_norm,
          tandem::detail::norm_settings("MaxNorm", {.max_value = max_value, .axes = axes})};
}
/// Sets negative weights to 0.
constexpr Constraint NonNeg() { return {&tandem::detail::limit_to_positive}; }
/// Scales weights to norm 1.
inline Constraint UnitNorm(Axes axes = 0) { return {&tandem::detail::set_norm_to_one, {.axes = axes}}; }
/// Scales weights to a norm in [min_value, max_value]. The new norm is rate times that one plus (1 - rate) times the
/// old one.
///   throws  errors::InvalidArgumentError for a bound that is negative or NaN, bounds in the wrong order, or a rate
///           outside of [0, 1]
inline Constraint MinMaxNorm(double min_value = 0, double max_value = 1, double rate = 1, Axes axes = 0) {
  return {&tandem::detail::limit_norm_both_ways,
          tandem::detail::norm_settings("MinMaxNorm", {min_value, max_value, rate, axes})};
}

}  // namespace constraints
}  // namespace TANDEM_NS
