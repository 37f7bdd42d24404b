// LearningRate: a number, a Variable, or a schedule, that is, a function of the step count.
#pragma once
#include <concepts>
#include <type_traits>
#include <utility>

#include "tandem/core/scope.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS {

class LearningRate;

namespace detail {

// A number passed by position; {} does not match.
template <class R>
concept Rate = std::is_arithmetic_v<R> && !std::same_as<R, bool>;
// A function of the step count: ExponentialDecay(...), or a lambda. (Variables and tensors are callable, too: v(i).)
template <class F>
concept RateFunction = !Rate<F> && !std::same_as<F, LearningRate> && !std::derived_from<F, Variable> &&
                       !std::derived_from<F, Tensor> && std::is_invocable_r_v<Tensor, const F&, const Tensor&>;

/// Checks what a schedule has returned; float32 or float64.
TANDEM_API Tensor checked_rate(const Tensor& rate);
/// A float64 scalar on the host: the completed steps before the step with this number, from 1 on.
TANDEM_API Tensor completed_steps(const Tensor& number);
/// Assigns the rate to a float32 Variable and returns it.
TANDEM_API Tensor kept_rate(const Tensor& rate, const Variable& in);

// The functions are called here, so that a program without schedules does not compile them.
struct RateClosure : Opaque {
  virtual Tensor at(const Tensor& step) const = 0;
  virtual Tensor next(const Tensor& number, const Variable& keep) const = 0;
  const char* kind() const override { return "learning rate"; }
};
template <class F>
struct RateClosureOf final : RateClosure {
  explicit RateClosureOf(F f) : function(std::move(f)) {}
  Tensor at(const Tensor& step) const override { return function(step); }
  Tensor next(const Tensor& number, const Variable& keep) const override {
    const DeviceScope host(Device{});
    return kept_rate(checked_rate(function(completed_steps(number))), keep);
  }
  const F function;
};

}  // namespace detail

/// The learning rate of an optimizer.
///   number    constant until the optimizer's learning_rate() is assigned to; must not be negative
///   Variable  a scalar, float32 or float64, shared with the optimizer
///   schedule  one of optimizers::schedules, or any function Tensor(const Tensor& step), which is called at each step
///             with the number of completed steps, a float64 scalar, and returns a real scalar. A function that is
///             traced calls it once, with a symbolic step.
class TANDEM_API LearningRate {
 public:
  template <detail::Rate R>
  LearningRate(R value) : value_(static_cast<double>(value)) {}
  LearningRate(const Variable& variable) : variable_(variable) {}
  template <detail::RateFunction F>
  LearningRate(F schedule) : schedule_(new detail::RateClosureOf<F>(std::move(schedule))) {}

  /// The number; 0 for a Variable or a schedule.
  double number() const { return value_; }
  /// The Variable; unset otherwise.
  const Variable& variable() const { return variable_; }
  bool is_schedule() const { return static_cast<bool>(schedule_); }
  /// The rate after `step` completed steps; that of a number or a Variable is a scalar.
  ///   step      a float64 tensor; read by schedules only
  Tensor operator()(const Tensor& step) const;
  /// For optimizers: the rate of the step with this number (int64, from 1 on), of a schedule; also assigned to `keep`.
  Tensor next(const Tensor& number, const Variable& keep) const { return schedule_->next(number, keep); }
  /// Raises errors::InvalidArgumentError in the name of `owner` for a negative or NaN number, and for a Variable that
  /// is not a scalar, of another dtype, or not on the host.
  void check(const char* owner) const;

 private:
  double value_ = 0;
  Variable variable_;
  Ref<detail::RateClosure> schedule_;
};

}  // namespace TANDEM_NS
