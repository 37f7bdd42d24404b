// Losses of overlap, for segmentation: Dice and Tversky; as classes and as functions. The formulas are those of Keras.
// Not here: the metrics of overlap (metrics/mean_iou.hpp).
#pragma once
#include "tandem/base/axes.hpp"
#include "tandem/losses/loss.hpp"

namespace TANDEM_NS::losses {

struct DiceOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = {};  ///< summed over; default: all axes, that of the batch too
};
struct TverskyOptions {
  TANDEM_OP_OPTIONS;
  double alpha = 0.5;  ///< the weight of what is true and not predicted (Keras' documentation: of false positives)
  double beta = 0.5;   ///< the weight of what is predicted and not true
  Axes axis = {};      ///< summed over; default: all axes
};
/// Dice loss, 1 - 2 sum(t p) / (sum(t) + sum(p) + 1e-7) over axes.
///   y_true    numbers or bool_ in [0, 1], shape of y_pred (never broadcast)
///   y_pred    floating, rank >= 1: probabilities
///   returns   the shape without the axes, dtype of y_pred; 1 where nothing is true and nothing is predicted
///   throws    errors::InvalidArgumentError if shapes differ, y_pred is not floating, or an axis is out of range
///   gradient  exact, to both
///   source    Milletari, Navab, Ahmadi 2016, "V-Net"; Keras 3
TANDEM_API Tensor dice(const Tensor& y_true, const Tensor& y_pred, DiceOptions = {});
/// Tversky loss, 1 - sum(t p) / (sum(t p) + alpha sum(t (1 - p)) + beta sum((1 - t) p) + 1e-7) over axes. With 0.5 for
/// both weights it is the Dice loss. Otherwise as dice.
///   throws    also for a negative weight
///   source    Salehi, Erdogmus, Gholipour 2017, "Tversky Loss Function for Image Segmentation"; Keras 3
TANDEM_API Tensor tversky(const Tensor& y_true, const Tensor& y_pred, TverskyOptions = {});

struct DiceLossOptions {
  Axes axis = {};
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};
};
/// Dice loss: dice, reduced as Loss says. With the default axes it is one loss for the whole batch, so that sample
/// weights need an .axis without that of the batch: Dice({.axis = {1, 2, 3}}).
struct TANDEM_API Dice : Loss {
  explicit Dice(DiceLossOptions = {});
};
struct TverskyLossOptions {
  double alpha = 0.5;
  double beta = 0.5;
  Axes axis = {};
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};
};
/// Tversky loss: tversky, reduced as Loss says; for sample weights see Dice.
struct TANDEM_API Tversky : Loss {
  explicit Tversky(TverskyLossOptions = {});
};

}  // namespace TANDEM_NS::losses
