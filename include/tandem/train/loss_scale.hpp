// LossScale: a factor of the loss that keeps small gradients in half precision from becoming zero.
#pragma once
#include <vector>

#include "tandem/module/module.hpp"
#include "tandem/optim/optimizer.hpp"

namespace TANDEM_NS::train {

class GradientAccumulator;

namespace detail {
/// Whether the gradients that are set are finite, a bool scalar.
TANDEM_API Tensor are_finite(const std::vector<Gradient>& gradients);
/// Whether it is true in all processes of the replication; in this one, if there is none.
TANDEM_API Tensor true_in_all(const Tensor& here);
}  // namespace detail

struct LossScaleOptions {
  double initial = 32768;   ///< the first factor
  i64 growth_steps = 2000;  ///< the factor doubles after so many steps without an infinite gradient; 0: it is constant
};

/// A dynamic factor of the loss (Micikevicius et al. 2018, "Mixed Precision Training"). The gradients of loss * scale
/// are divided by the scale; where one of them is infinite or NaN, the step changes no weight, and the scale is halved,
/// down to 1. Copies are handles to the same scale.
///   throws  errors::InvalidArgumentError for an initial factor below 1 or a negative growth_steps
class TANDEM_API LossScale : public Module {
 public:
  explicit LossScale(LossScaleOptions options = {});
  /// The present factor, a float32 scalar.
  Tensor value() const { return variable(0).read_value(); }
  /// Takes whether the gradients of a step were finite, a bool scalar.
  void update(const Tensor& finite) const;
  /// For a step of one's own: the loss times the factor, in the loss's dtype, whose gradients apply_gradients() takes.
  ///
  ///   GradientTape tape;
  ///   const Tensor loss = ..., scaled = scale.scaled(loss);
  ///   scale.apply_gradients(adam, tape.gradient(scaled, weights), weights);
  Tensor scaled(const Tensor& loss) const;
  /// Divides the gradients of scaled(loss) by the factor and hands them to the optimizer, unless one of them is
  /// infinite or NaN, here or in another of several processes; then update(). A batch that is left out is not counted
  /// by a GradientAccumulator.
  ///   throws  as the apply_gradients of the optimizer
  void apply_gradients(const Optimizer& optimizer, const std::vector<Gradient>& gradients,
                       const std::vector<Variable>& variables) const;
  void apply_gradients(const GradientAccumulator& optimizer, const std::vector<Gradient>& gradients,
                       const std::vector<Variable>& variables) const;
  /// Divides gradients of scaled(loss) by the factor.
  void unscale(std::vector<Gradient>& gradients) const;
  /// The number of steps that were left out, an int64 scalar.
  Tensor skipped() const { return variable(2).read_value(); }

 private:
  i64 growth_steps_;
};

}  // namespace TANDEM_NS::train
