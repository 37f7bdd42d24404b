// Schedules: learning rates as functions of the step. Each is a value, to be passed as the learning rate of an
// optimizer, `Adam({.learning_rate = optimizers::schedules::CosineDecay(1e-3, 10000)})`, or to be called.
#pragma once
#include <concepts>
#include <optional>
#include <vector>

#include "tandem/base/location.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/optim/learning_rate.hpp"

namespace TANDEM_NS::optimizers::schedules {

namespace detail {
TANDEM_API Tensor step_of(const Tensor& step);
TANDEM_API Tensor step_of(double step);
TANDEM_API Tensor rate_for(const Tensor& rate, DType step);
}  // namespace detail

/// What all schedules have: s(step), the learning rate after `step` completed steps. It is computed in float64, by ops,
/// so that it works in traced functions as well.
///   step      a number or a real tensor of any shape, not negative
///   returns   the rates: same shape; float64 if step is a float64 tensor, otherwise float32
///   throws    errors::InvalidArgumentError for a step that is not real. The constructors throw it for numbers of
///             steps that are not positive, and for rates that are negative
template <class Derived>
class Schedule {
 public:
  Tensor operator()(const Tensor& step) const {
    return detail::rate_for(self().rate(detail::step_of(step)), step.dtype());
  }
  template <tandem::detail::Rate R>
  Tensor operator()(R step) const {
    return detail::rate_for(self().rate(detail::step_of(static_cast<double>(step))), DType::float32);
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

struct StaircaseOptions {
  TANDEM_OP_OPTIONS;
  bool staircase = false;  ///< rounds step / decay_steps down: the rate changes every decay_steps steps only
};
/// initial * decay_rate^(step / decay_steps)
class TANDEM_API ExponentialDecay : public Schedule<ExponentialDecay> {
 public:
  ExponentialDecay(double initial_learning_rate, double decay_steps, double decay_rate, StaircaseOptions options = {});
  /// In float64; what the base class calls.
  Tensor rate(const Tensor& step) const;

 private:
  double initial_, steps_, factor_;
  bool staircase_;
};
/// initial / (1 + decay_rate * step / decay_steps)
class TANDEM_API InverseTimeDecay : public Schedule<InverseTimeDecay> {
 public:
  InverseTimeDecay(double initial_learning_rate, double decay_steps, double decay_rate, StaircaseOptions options = {});
  Tensor rate(const Tensor& step) const;

 private:
  double initial_, steps_, factor_;
  bool staircase_;
};

/// values[0] up to and including step boundaries[0], values[1] up to boundaries[1], ..., the last value afterwards.
///   boundaries  increasing; one fewer than values
class TANDEM_API PiecewiseConstantDecay : public Schedule<PiecewiseConstantDecay> {
 public:
  PiecewiseConstantDecay(std::vector<double> boundaries, std::vector<double> values, OpOptions options = {});
  Tensor rate(const Tensor& step) const;

 private:
  std::vector<double> boundaries_, values_;
};

struct PolynomialDecayOptions {
  TANDEM_OP_OPTIONS;
  double end_learning_rate = 0.0001;
  double power = 1;
  bool cycle = false;  ///< from decay_steps on, decays from a smaller rate over 2, 3, ... times as many steps
};
/// (initial - end) * (1 - min(step, decay_steps) / decay_steps)^power + end. With `.cycle`, decay_steps is replaced by
/// its smallest multiple that is not below step.
class TANDEM_API PolynomialDecay : public Schedule<PolynomialDecay> {
 public:
  PolynomialDecay(double initial_learning_rate, double decay_steps, PolynomialDecayOptions options = {});
  Tensor rate(const Tensor& step) const;

 private:
  double initial_, steps_, end_, power_;
  bool cycle_;
};

struct CosineDecayOptions {
  TANDEM_OP_OPTIONS;
  double alpha = 0;                          ///< the last rate, as a part of the first one
  std::optional<double> warmup_target = {};  ///< the rate at the end of the warm-up
  double warmup_steps = 0;                   ///< of no effect without warmup_target, as in Keras
};
/// initial * ((1 - alpha) (1 + cos(pi p)) / 2 + alpha) with p = min(step, decay_steps) / decay_steps. With
/// `.warmup_target`, the rate first rises linearly from initial to the target during warmup_steps; the decay follows,
/// from the target. Source: Loshchilov & Hutter, "SGDR", 2016.
class TANDEM_API CosineDecay : public Schedule<CosineDecay> {
 public:
  CosineDecay(double initial_learning_rate, double decay_steps, CosineDecayOptions options = {});
  Tensor rate(const Tensor& step) const;

 private:
  double initial_, steps_, alpha_, target_, warmup_steps_;
  bool warms_up_;
};

struct CosineDecayRestartsOptions {
  TANDEM_OP_OPTIONS;
  double t_mul = 2;  ///< each period has t_mul times as many steps as the one before; at least 1
  double m_mul = 1;  ///< each period begins with m_mul times the rate of the one before
  double alpha = 0;  ///< the lowest rate, as a part of the initial one
};
/// Cosine decay that starts again after first_decay_steps, then after t_mul times as many steps, and so on. Source:
/// Loshchilov & Hutter, "SGDR", 2016.
class TANDEM_API CosineDecayRestarts : public Schedule<CosineDecayRestarts> {
 public:
  CosineDecayRestarts(double initial_learning_rate, double first_decay_steps, CosineDecayRestartsOptions options = {});
  Tensor rate(const Tensor& step) const;

 private:
  double initial_, steps_, longer_, lower_, alpha_;
};

struct WarmUpOptions {
  TANDEM_OP_OPTIONS;
  double initial_learning_rate = 0;
};
/// A linear rise from initial_learning_rate to the first rate of another schedule, during warmup_steps; then that
/// schedule, from its beginning.
///   after   a schedule, a number or a Variable
class TANDEM_API WarmUp : public Schedule<WarmUp> {
 public:
  WarmUp(LearningRate after, double warmup_steps, WarmUpOptions options = {});
  Tensor rate(const Tensor& step) const;

 private:
  LearningRate after_;
  double steps_, initial_;
};

}  // namespace TANDEM_NS::optimizers::schedules
