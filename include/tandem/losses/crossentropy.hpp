// Losses of probabilities and logits: binary, categorical and sparse categorical cross entropy, Kullback-Leibler
// divergence; as classes and as functions, which return one loss per example. The formulas are those of Keras.
// Not here: cross entropies of logits as ops (ops/softmax/cross_entropy.hpp).
#pragma once
#include <optional>

#include "tandem/losses/loss.hpp"

namespace TANDEM_NS::losses {

struct CrossentropyOptions {
  TANDEM_OP_OPTIONS;
  bool from_logits = false;    ///< y_pred has logits, not probabilities
  double label_smoothing = 0;  ///< in [0, 1]: the part of the labels that is replaced by a uniform distribution
  int axis = -1;               ///< binary: averaged over; categorical: the classes
};
struct SparseCrossentropyOptions {
  TANDEM_OP_OPTIONS;
  bool from_logits = false;
  int axis = -1;                         ///< the classes, in y_pred
  std::optional<i64> ignore_class = {};  ///< a label whose loss is 0, such as -1 or 255
};

/// Binary cross entropy, the mean of -t log(p) - (1 - t) log(1 - p) over an axis.
///   y_true    numbers or bool_ in [0, 1], shape of y_pred (never broadcast)
///   y_pred    floating, rank >= 1: probabilities, clamped to [1e-7, 1 - 1e-7] (Keras 2 also adds 1e-7 inside of the
///             logarithms), or logits
///   returns   the shape without the axis, dtype of y_pred
///   throws    errors::InvalidArgumentError if shapes differ, y_pred is not floating, or options are out of range
///   gradient  exact, to both; 0 to probabilities outside of the clamp
TANDEM_API Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred, CrossentropyOptions = {});
/// Cross entropy of distributions, -sum(t log p) over an axis. Probabilities are divided by their sum, then clamped to
/// [1e-7, 1 - 1e-7]. Otherwise as binary_crossentropy.
TANDEM_API Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred, CrossentropyOptions = {});
/// Cross entropy with integer labels, -log p[label].
///   y_true    integers in [0, classes), or .ignore_class; shape of y_pred without the axis of the classes, or with
///             size 1 there
///   y_pred    floating: probabilities, clamped to [1e-7, 1 - 1e-7], then divided by their sum, or logits
///   returns   shape of y_pred without the axis, dtype of y_pred
///   throws    errors::InvalidArgumentError for labels that are not integers or out of range, or shapes that differ
///   gradient  exact, to y_pred; 0 where the label is ignored
TANDEM_API Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                  SparseCrossentropyOptions = {});
/// Kullback-Leibler divergence, the sum of t log(t / p) over the last axis, both clamped to [1e-7, 1].
///   y_true    numbers, shape of y_pred (never broadcast)
///   y_pred    floating, [..., n]
///   returns   [...], dtype of y_pred
///   throws    errors::InvalidArgumentError if shapes differ or y_pred is not floating
///   gradient  exact, to both; 0 outside of the clamp
TANDEM_API Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});

struct CrossentropyLossOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};
};
/// Binary cross entropy: binary_crossentropy of each example, reduced as Loss says. Loss has the arguments and errors.
struct TANDEM_API BinaryCrossentropy : Loss {
  explicit BinaryCrossentropy(CrossentropyLossOptions = {});
};
/// Cross entropy of distributions or one-hot labels: categorical_crossentropy of each example.
struct TANDEM_API CategoricalCrossentropy : Loss {
  explicit CategoricalCrossentropy(CrossentropyLossOptions = {});
};

struct SparseCrossentropyLossOptions {
  bool from_logits = false;
  std::optional<i64> ignore_class = {};
  int axis = -1;
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};
};
/// Cross entropy with integer labels: sparse_categorical_crossentropy of each example. With .ignore_class,
/// sum_over_batch_size divides by the number of labels that count; 0 if there are none.
struct TANDEM_API SparseCategoricalCrossentropy : Loss {
  explicit SparseCategoricalCrossentropy(SparseCrossentropyLossOptions = {});
};

/// Kullback-Leibler divergence: kl_divergence of each example.
struct TANDEM_API KLDivergence : Loss {
  explicit KLDivergence(LossOptions = {});
};

}  // namespace TANDEM_NS::losses

namespace TANDEM_NS::detail {
/// The functions with options bound, also for metrics.
TANDEM_API PairFunction bound_binary(const losses::CrossentropyLossOptions& o);
TANDEM_API PairFunction bound_categorical(const losses::CrossentropyLossOptions& o);
TANDEM_API PairFunction bound_sparse(const losses::SparseCrossentropyLossOptions& o);
}  // namespace TANDEM_NS::detail
