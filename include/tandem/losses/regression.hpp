// Losses of real values: squared, absolute and relative errors, Huber, log-cosh, Poisson, cosine similarity; as classes
// and as functions, which return one loss per example. The formulas are those of Keras.
#pragma once
#include "tandem/losses/loss.hpp"

namespace TANDEM_NS::losses {

/// Mean of (y_pred - y_true)^2 over the last axis.
///   y_true    numbers or bool_, shape of y_pred (never broadcast)
///   y_pred    floating, [..., n]
///   returns   [...], dtype of y_pred
///   throws    errors::InvalidArgumentError if shapes differ or y_pred is not floating
///   gradient  exact, to both; so for all functions of this file
TANDEM_API Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});
/// Mean of |y_pred - y_true| over the last axis. Otherwise as mean_squared_error.
TANDEM_API Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});
/// Mean of 100 |y_true - y_pred| / max(|y_true|, 1e-7) over the last axis. Otherwise as mean_squared_error.
TANDEM_API Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});
/// Mean of (log(1 + y_pred) - log(1 + y_true))^2 over the last axis, both at least 1e-7. Otherwise as
/// mean_squared_error.
TANDEM_API Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});
/// Huber's loss, the mean over the last axis of e^2 / 2 where |e| = |y_pred - y_true| is at most delta, else of delta
/// (|e| - delta / 2). Otherwise as mean_squared_error.
///   throws  errors::InvalidArgumentError also if delta is not positive
TANDEM_API Tensor huber(const Tensor& y_true, const Tensor& y_pred, double delta = 1, OpOptions = {});
/// Mean of log(cosh(y_pred - y_true)) over the last axis; without overflow, and accurate for small errors too.
/// Otherwise as mean_squared_error.
TANDEM_API Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});
/// Poisson loss: the mean of y_pred - y_true log(y_pred + 1e-7) over the last axis. Otherwise as mean_squared_error.
TANDEM_API Tensor poisson(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});
/// Minus the cosine of the angle between y_true and y_pred along an axis, so that smaller is better: -1 is the same
/// direction, 0 orthogonal or a zero vector. Returns their shape without the axis. Otherwise as mean_squared_error.
TANDEM_API Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred, int axis = -1, OpOptions = {});

/// Squared error: mean_squared_error of each example, reduced as Loss says. Loss has the arguments and errors.
struct TANDEM_API MeanSquaredError : Loss {
  explicit MeanSquaredError(LossOptions = {});
};
/// Absolute error: mean_absolute_error of each example.
struct TANDEM_API MeanAbsoluteError : Loss {
  explicit MeanAbsoluteError(LossOptions = {});
};
/// Relative error in percent: mean_absolute_percentage_error of each example.
struct TANDEM_API MeanAbsolutePercentageError : Loss {
  explicit MeanAbsolutePercentageError(LossOptions = {});
};
/// Squared error of logarithms: mean_squared_logarithmic_error of each example.
struct TANDEM_API MeanSquaredLogarithmicError : Loss {
  explicit MeanSquaredLogarithmicError(LossOptions = {});
};
/// Logarithm of the hyperbolic cosine: log_cosh of each example.
struct TANDEM_API LogCosh : Loss {
  explicit LogCosh(LossOptions = {});
};
/// Poisson loss: poisson of each example.
struct TANDEM_API Poisson : Loss {
  explicit Poisson(LossOptions = {});
};

struct HuberOptions {
  double delta = 1;  ///< where the loss becomes linear
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};
};
/// Huber's loss: huber of each example.
struct TANDEM_API Huber : Loss {
  explicit Huber(HuberOptions = {});
};

struct CosineSimilarityOptions {
  int axis = -1;
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};
};
/// Minus the cosine similarity: cosine_similarity of each example.
struct TANDEM_API CosineSimilarity : Loss {
  explicit CosineSimilarity(CosineSimilarityOptions = {});
};

}  // namespace TANDEM_NS::losses
