// ReduceLROnPlateau: reduces an optimizer's learning rate when a metric no longer improves.
#pragma once
#include <optional>

#include "tandem/module/module.hpp"
#include "tandem/optim/optimizer.hpp"

namespace TANDEM_NS::optimizers {

/// Whether a smaller or a larger metric is better.
enum class PlateauMode { min, max };

struct ReduceLROnPlateauOptions {
  TANDEM_OP_OPTIONS;
  double factor = 0.1;  ///< what the rate is multiplied by; in [0, 1)
  i64 patience = 10;    ///< calls without improvement after which it is; positive
  PlateauMode mode = PlateauMode::min;
  double min_delta = 1e-4;  ///< smaller improvements do not count
  i64 cooldown = 0;         ///< calls after a reduction that are not counted
  double min_lr = 0;        ///< the lowest rate
};
/// Multiplies the learning rate by a factor after `patience` metrics in a row that do not improve on the best one, as
/// the Keras callback of this name. Called on the host, once an epoch:
///   const optimizers::ReduceLROnPlateau plateau(sgd, {.patience = 5});
///   for (...) plateau.update(validation_loss);
/// A Module: its counters are saved in checkpoints.
///   throws  errors::InvalidArgumentError for an optimizer whose learning rate is a schedule, and for options outside
///           of their ranges
class TANDEM_API ReduceLROnPlateau : public Module {
 public:
  explicit ReduceLROnPlateau(const Optimizer& optimizer, ReduceLROnPlateauOptions options = {});
  /// Takes the next metric and returns whether the learning rate was reduced. NaN is not an improvement.
  bool update(double metric) const;

 private:
  bool is_better(double metric, double best) const;
  std::optional<double> reduced_rate() const;
  double factor_, min_delta_, min_lr_;
  i64 patience_, most_cooldown_;
  PlateauMode mode_;
  Variable learning_rate_, best_, wait_, cooldown_;
};

}  // namespace TANDEM_NS::optimizers
