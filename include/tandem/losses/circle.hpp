// Circle loss, of all pairs of examples in a batch; as a class and as a function. The formula is that of Keras.
#pragma once
#include "tandem/losses/loss.hpp"

namespace TANDEM_NS::losses {

struct CircleOptions {
  TANDEM_OP_OPTIONS;
  Tensor ref_labels = {};       ///< integers [references]; default: y_true
  Tensor ref_embeddings = {};   ///< [references, d], dtype of y_pred; default: y_pred
  bool remove_diagonal = true;  ///< example i and reference i, which are the same by default, are not a positive pair
  double gamma = 80;            ///< the scale of similarities; positive
  double margin = 0.4;          ///< how far a pair may be from its ideal distance; in [0, 1]
};
/// Circle loss of each example: log(1 + sum(e^(gamma w_n (1 - margin - d))) sum(e^(-gamma w_p (margin - d)))), where
/// the first sum is over the references of other labels, the second over those of the same label. d = max(1 - x . r, 0)
/// is the cosine distance of vectors of length 1, w_n = max(1 + margin - d, 0), w_p = margin + d. As in Keras, and
/// unlike the paper, the gradient is that of these weights, too.
///   y_true    integers [n], or [n, 1]
///   y_pred    floating [n, d]: vectors of length 1 (layers::UnitNormalization); not normalized here
///   returns   [n], dtype of y_pred; 0 for an example without references of the same label, or without others
///   throws    errors::InvalidArgumentError for other shapes or dtypes, references without labels or the reverse, a
///             gamma that is not positive, or a margin outside of [0, 1]
///   gradient  to y_pred and .ref_embeddings
///   source    Sun et al. 2020, "Circle Loss: A Unified Perspective of Pair Similarity Optimization"; Keras 3
TANDEM_API Tensor circle(const Tensor& y_true, const Tensor& y_pred, CircleOptions = {});

struct CircleLossOptions {
  double gamma = 80;
  double margin = 0.4;
  bool remove_diagonal = true;
  Reduction reduction = Reduction::sum_over_batch_size;
  Name name = {};
};
/// Circle loss: circle of each example. As in Keras, the mean is that of the losses that are not 0. A sample weight of
/// 0 takes out an example's own loss; in the pairs of the others it stays.
struct TANDEM_API Circle : Loss {
  explicit Circle(CircleLossOptions = {});
};

}  // namespace TANDEM_NS::losses
