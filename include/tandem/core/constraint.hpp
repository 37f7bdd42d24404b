// Constraint: what a weight is projected to after each update. Not here: MaxNorm, NonNeg, UnitNorm, MinMaxNorm
// (layers/constraints.hpp).
#pragma once
#include <type_traits>

#include "tandem/base/axes.hpp"
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

class Constraint;
class Variable;

namespace detail {
/// What Variables and optimizers do with a constraint. Programs without one do not compile it.
struct ConstraintCode {
  /// Tries it on the initial value of a Variable.
  ///   throws  errors::InvalidArgumentError if it returns another shape or dtype
  void (*check)(const Constraint&, const Tensor& initial);
  /// Assigns to the Variable what the constraint makes of its value.
  void (*apply)(const Constraint&, const Variable&);
};
TANDEM_API extern const ConstraintCode constraint_code;
}  // namespace detail

/// A function of a weight that returns its projection, of the same shape: one of constraints::*, or a lambda without
/// captures. Optimizers apply it after each update of a Variable that has one. Without a function it does nothing.
class Constraint {
 public:
  /// The numbers of constraints::*.
  struct Settings {
    double min_value = 0, max_value = 0, rate = 1;
    Axes axes = {};
  };
  using Function = Tensor (*)(const Tensor& w);
  using Configured = Tensor (*)(const Tensor& w, const Settings&);

  constexpr Constraint() = default;
  constexpr Constraint(Configured f, const Settings& settings)
      : configured_(f), code_(&detail::constraint_code), settings_(settings) {}
  template <class F>
    requires std::is_convertible_v<F, Function>
  constexpr Constraint(const F& f) : function_(f), code_(&detail::constraint_code) {}

  Tensor operator()(const Tensor& w) const { return configured_ ? configured_(w, settings_) : function_(w); }
  explicit constexpr operator bool() const { return code_; }
  /// For Variables and optimizers; null without a function.
  constexpr const detail::ConstraintCode* code() const { return code_; }

 private:
  Function function_ = nullptr;
  Configured configured_ = nullptr;
  const detail::ConstraintCode* code_ = nullptr;
  Settings settings_;
};

}  // namespace TANDEM_NS
