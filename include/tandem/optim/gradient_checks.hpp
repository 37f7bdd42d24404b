// GradientChecks: a scope in which optimizers refuse gradients that are not finite. For train::Trainer.
#pragma once
#include <vector>

#include "tandem/core/context.hpp"
#include "tandem/core/indexed_slices.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS::detail {

/// Within it, apply_gradients raises for a gradient that is not finite, before it changes a Variable.
class GradientChecks {
 public:
  explicit GradientChecks(bool on) : outer_(checks_gradients) { checks_gradients = on; }
  GradientChecks(const GradientChecks&) = delete;
  GradientChecks& operator=(const GradientChecks&) = delete;
  ~GradientChecks() { checks_gradients = outer_; }

 private:
  const bool outer_;
};

/// The same gradients, of which those that are set are checked: debugging::check_numerics with the Variable's name.
TANDEM_API std::vector<Gradient> checked_gradients(const std::vector<Gradient>& gradients,
                                                   const std::vector<Variable>& variables);

}  // namespace TANDEM_NS::detail
