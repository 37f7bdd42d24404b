// Losses with integer labels beside the cross entropy: CategoricalGeneralizedCrossEntropy, which is robust to wrong
// labels, and CTC, of label sequences; as classes and as functions. The formulas are those of Keras. Not here:
// SparseCategoricalCrossentropy (crossentropy.hpp), CTC as an op (ops/softmax/ctc.hpp).
#pragma once
#include "tandem/losses/loss.hpp"

namespace TANDEM_NS::losses {

/// Generalized cross entropy, (1 - p[label]^q) / q: between cross entropy (q near 0) and absolute error (q near 1).
///   y_true    integers in [0, classes); shape of y_pred without the last axis, or with size 1 there
///   y_pred    floating [..., classes]: probabilities, neither clamped nor normalized
///   returns   shape of y_pred without the last axis, dtype of y_pred
///   throws    errors::InvalidArgumentError for labels that are not integers or out of range, shapes that differ, or
///             a q outside of (0, 1)
///   gradient  exact, to y_pred; infinite where p[label] is 0
///   source    Zhang and Sabuncu 2018, "Generalized Cross Entropy Loss for Training Deep Neural Networks with Noisy
///             Labels"; Keras 3
TANDEM_API Tensor categorical_generalized_cross_entropy(const Tensor& y_true, const Tensor& y_pred, double q = 0.5,
                                                        OpOptions = {});
/// Connectionist temporal classification: nn::ctc_loss with blanks of class 0, which also pad the labels.
///   y_true    integers [batch, labels], in [1, classes); 0 behind the last label of a row
///   y_pred    floating [batch, steps, classes]: logits; all sizes must be known
///   returns   [batch], dtype of y_pred; infinite where the labels do not fit into the steps
///   throws    errors::InvalidArgumentError for other shapes or dtypes, a label out of range (-1 included), or a 0
///             between labels, with its position
///   gradient  to y_pred; 0 where the loss is infinite
TANDEM_API Tensor ctc(const Tensor& y_true, const Tensor& y_pred, OpOptions = {});

struct GeneralizedCrossEntropyLossOptions {
  double q = 0.5;  ///< in (0, 1)
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};
};
/// Generalized cross entropy: categorical_generalized_cross_entropy of each example. Loss has the arguments and errors;
/// the labels are integers, as in Keras.
struct TANDEM_API CategoricalGeneralizedCrossEntropy : Loss {
  explicit CategoricalGeneralizedCrossEntropy(GeneralizedCrossEntropyLossOptions = {});
};
/// CTC loss: ctc of each example.
struct TANDEM_API CTC : Loss {
  explicit CTC(LossOptions = {});
};

}  // namespace TANDEM_NS::losses
