// Checks of optimizers' options. For their definitions.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/optim/options.hpp"

namespace TANDEM_NS::optimizers::detail {

/// Raises unless x is in [0, 1).
void check_share(const char* op, const char* name, double x);
void check_not_negative(const char* op, const char* name, double x);
void check_positive(const char* op, const char* name, double x);

/// Checks the options that all optimizers have.
template <class Options>
void check_common(const char* op, const Options& o) {
  o.learning_rate.check(op);
  if constexpr (requires { o.weight_decay.is_set(); }) check_not_negative(op, "weight_decay", o.weight_decay.value());
  else check_not_negative(op, "weight_decay", o.weight_decay);
  if (o.clipnorm.is_set()) check_positive(op, "clipnorm", o.clipnorm.value());
  if (o.clipvalue.is_set()) check_positive(op, "clipvalue", o.clipvalue.value());
  if (o.global_clipnorm.is_set()) check_positive(op, "global_clipnorm", o.global_clipnorm.value());
  if (o.clipnorm.is_set() + o.clipvalue.is_set() + o.global_clipnorm.is_set() > 1)
    errors::raise<errors::InvalidArgumentError>(op, "only one of clipnorm, clipvalue and global_clipnorm can be set");
}
/// And those of Adam and its kin.
template <class Options>
void check_moments(const char* op, const Options& o) {
  check_common(op, o);
  check_share(op, "beta_1", o.beta_1);
  check_share(op, "beta_2", o.beta_2);
  check_not_negative(op, "epsilon", o.epsilon);
}

template <class Options>
tandem::detail::CommonOptions common(const Options& o) {
  return {o.weight_decay, o.clipnorm, o.clipvalue, o.global_clipnorm};
}

}  // namespace TANDEM_NS::optimizers::detail
