// Hinge losses, of maximum-margin classifiers; as classes and as functions, which return one loss per example. The
// formulas are those of Keras.
#pragma once
#include "tandem/losses/loss.hpp"

namespace TANDEM_NS::losses {

/// Mean of max(1 - y_true y_pred, 0) over the last axis.
///   y_true    -1 or 1; labels that are all 0 or 1 become -1 and 1
///   y_pred    floating, [..., n]; scores
///   returns   [...], dtype of y_pred
///   throws    errors::InvalidArgumentError if shapes differ or y_pred is not floating
///   gradient  exact, to both
TANDEM_API Tensor hinge(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});
/// Mean of max(1 - y_true y_pred, 0)^2 over the last axis. Otherwise as hinge.
TANDEM_API Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});
/// max(neg - pos + 1, 0), with pos the sum of y_true y_pred and neg the maximum of (1 - y_true) y_pred over the last
/// axis.
///   y_true    0 or 1, one-hot. Otherwise as hinge
TANDEM_API Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});

/// Hinge loss: hinge of each example, reduced as Loss says. Loss has the arguments and errors.
struct TANDEM_API Hinge : Loss {
  explicit Hinge(LossOptions = {});
};
/// Squared hinge loss: squared_hinge of each example.
struct TANDEM_API SquaredHinge : Loss {
  explicit SquaredHinge(LossOptions = {});
};
/// Hinge loss of one-hot labels: categorical_hinge of each example.
struct TANDEM_API CategoricalHinge : Loss {
  explicit CategoricalHinge(LossOptions = {});
};

}  // namespace TANDEM_NS::losses
