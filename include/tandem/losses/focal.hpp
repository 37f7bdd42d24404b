// Focal losses, cross entropies in which examples that are predicted well count less (Lin et al. 2017, "Focal Loss for
// Dense Object Detection"); as classes and as functions, which return one loss per example. The formulas are those of
// Keras. Not here: the plain cross entropies (crossentropy.hpp).
#pragma once
#include <initializer_list>
#include <vector>

#include "tandem/losses/loss.hpp"

namespace TANDEM_NS::losses {

/// Factors of classes: one number for all of them, or one for each.
struct ClassFactors {
  std::vector<double> values;

  ClassFactors(double factor) : values{factor} {}
  ClassFactors(std::initializer_list<double> list) : values(list) {}
  ClassFactors(std::vector<double> list) : values(std::move(list)) {}
};

struct BinaryFocalOptions {
  TANDEM_OP_OPTIONS;
  bool apply_class_balancing = false;  ///< multiply by alpha where the label is 1, and by 1 - alpha where it is 0
  double alpha = 0.25;
  double gamma = 2;  ///< the power of the factor; 0: plain cross entropy
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;  ///< averaged over
};
struct CategoricalFocalOptions {
  TANDEM_OP_OPTIONS;
  ClassFactors alpha = 0.25;  ///< a factor of all losses, or of each class
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;  ///< the classes
};

/// Binary focal loss: the mean of (1 - p_t)^gamma (-t log(p) - (1 - t) log(1 - p)) over an axis, with p_t = t p +
/// (1 - t) (1 - p).
///   y_true    numbers or bool_ in [0, 1], shape of y_pred (never broadcast)
///   y_pred    floating, rank >= 1: probabilities, in the logarithms clamped to [1e-7, 1 - 1e-7], or logits
///   returns   the shape without the axis, dtype of y_pred
///   throws    errors::InvalidArgumentError if shapes differ, y_pred is not floating, or options are out of range
///   gradient  exact, to both
TANDEM_API Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred, BinaryFocalOptions = {});
/// Categorical focal loss: the sum of -alpha (1 - p)^gamma t log(p) over an axis. Probabilities are divided by their
/// sum, then clamped to [1e-7, 1 - 1e-7]. Otherwise as binary_focal_crossentropy.
///   throws    also if .alpha has neither one factor nor one for each class
TANDEM_API Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                 CategoricalFocalOptions = {});

struct BinaryFocalLossOptions {
  bool apply_class_balancing = false;
  double alpha = 0.25;
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};
};
/// Binary focal loss: binary_focal_crossentropy of each example, reduced as Loss says. Loss has the arguments and
/// errors.
struct TANDEM_API BinaryFocalCrossentropy : Loss {
  explicit BinaryFocalCrossentropy(BinaryFocalLossOptions = {});
};
struct CategoricalFocalLossOptions {
  ClassFactors alpha = 0.25;
  double gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};
};
/// Categorical focal loss: categorical_focal_crossentropy of each example.
struct TANDEM_API CategoricalFocalCrossentropy : Loss {
  explicit CategoricalFocalCrossentropy(CategoricalFocalLossOptions = {});
};

}  // namespace TANDEM_NS::losses
