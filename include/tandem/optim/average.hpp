// Averages of weights over training steps: exponential moving average, running mean (stochastic weight averaging).
#pragma once
#include <vector>

#include "tandem/base/location.hpp"
#include "tandem/module/module.hpp"
#include "tandem/optim/slots.hpp"

namespace TANDEM_NS {

/// The base class of averages of weights. Copies are handles to the same averages. A Module: train::Checkpoint saves
/// the averages under the paths of their weights, "ema/model/hidden/kernel/average".
///
///   const ExponentialMovingAverage ema(0.999);
///   for (...) adam.minimize(loss, weights), ema.apply(weights);
///   {
///     const auto scope = ema.swap_in();
///     evaluate(model);  // with the averages as weights
///   }
class TANDEM_API WeightAverage : public Module {
 public:
  /// Exchanges the weights' values for their averages during its lifetime; the values come back at its end, whatever
  /// has been assigned to the weights in between.
  class TANDEM_API Swap {
   public:
    Swap(const Swap&) = delete;
    Swap& operator=(const Swap&) = delete;
    TANDEM_INLINE ~Swap();

   private:
    friend class WeightAverage;
    Swap() = default;
    explicit Swap(const WeightAverage& average);
    std::vector<Variable> weights_;
    std::vector<Tensor> values_;
  };

  /// Updates the averages of these Variables with their current values. An average begins with the value that its
  /// Variable has at the first call. Works in traced functions, too.
  ///   throws  errors::InvalidArgumentError if a Variable is not floating; nothing is changed then
  void apply(const std::vector<Variable>& variables) const;
  /// The average of a Variable, itself a Variable that is not trainable; float32 for one of half precision.
  ///   throws  errors::NotFoundError if apply() has not been called with it
  Variable average(const Variable& variable) const;
  /// Whether a Variable has an average.
  bool has_average(const Variable& variable) const { return !slots_->find(variable).empty(); }
  /// Creates the averages now, with the current values, as required before a checkpoint is read.
  void build(const std::vector<Variable>& variables) const;
  /// Uses the averages as weights, in all Variables that have one, until the returned object is destroyed.
  ///   throws  errors::FailedPreconditionError while a function is traced, or if there are no averages
  Swap swap_in() const { return Swap(*this); }
  /// Assigns the averages to their weights for good, at the end of training.
  void assign_averages() const;
  /// The number of calls of apply(), an int64 scalar; those that raised are not counted.
  const Variable& iterations() const { return iterations_; }

 protected:
  explicit WeightAverage(const char* kind);
  /// The part of the new value in the next average: a scalar, float32 or float64. n: the number of this call, from 1.
  virtual Tensor weight_of(const Tensor& n) const = 0;
  WeightAverage(const WeightAverage&) = default;
  WeightAverage& operator=(const WeightAverage&) = default;
  TANDEM_INLINE virtual ~WeightAverage();

 private:
  Span<const Variable> state_of(const Variable& variable) const;
  std::vector<std::vector<Variable>> averaged(const char* caller) const;
  Variable iterations_;
  Ref<detail::Slots> slots_;
};

struct ExponentialMovingAverageOptions {
  TANDEM_OP_OPTIONS;
  Variable num_updates = {};  ///< an integer scalar n, such as an optimizer's iterations(): the decay of a call is then
                              ///< min(decay, (1 + n) / (10 + n)), so that averages follow faster in the beginning
};
/// Exponential moving average: average = decay * average + (1 - decay) * value.
///   decay   in [0, 1), close to 1: .999
///   throws  errors::InvalidArgumentError for another decay
class TANDEM_API ExponentialMovingAverage : public WeightAverage {
 public:
  explicit ExponentialMovingAverage(double decay, ExponentialMovingAverageOptions options = {});

 protected:
  TANDEM_INLINE Tensor weight_of(const Tensor& n) const override;

 private:
  double decay_;
  Variable num_updates_;
};

/// The mean of the values at all calls of apply() (stochastic weight averaging, Izmailov et al. 2018). Call it once an
/// epoch towards the end of training, with the same Variables each time. Batch normalization needs new statistics for
/// the averaged weights.
class TANDEM_API StochasticWeightAverage : public WeightAverage {
 public:
  StochasticWeightAverage();

 protected:
  TANDEM_INLINE Tensor weight_of(const Tensor& n) const override;
};

}  // namespace TANDEM_NS
