// Clipping of gradients: by value, by norm, by the norm of all together (Pascanu et al. 2013).
#pragma once
#include <vector>

#include "tandem/core/indexed_slices.hpp"

namespace TANDEM_NS {

/// t * c / max(|t|, c), |t| the Euclidean norm: a tensor whose norm is at most c stays as it is.
///   t         floating; returns the same shape. throws errors::InvalidArgumentError unless c > 0
///   gradient  exact
TANDEM_API Tensor clip_by_norm(const Tensor& t, double clip_norm);

struct ClippedGradients {
  std::vector<Gradient> gradients;
  Tensor norm;  ///< scalar: the norm before clipping
};
/// The Euclidean norm of all tensors as one vector; unset entries count as nothing, of a sparse one its values.
TANDEM_API Tensor global_norm(const std::vector<Gradient>& gradients);
/// Every gradient times c / max(norm, c), norm their global norm. Unset ones stay unset; a norm that is not finite
/// makes all NaN, so that it cannot pass unseen. Sparse gradients stay sparse.
TANDEM_API ClippedGradients clip_by_global_norm(const std::vector<Gradient>& gradients, double clip_norm);
/// Every element into [lo, hi]; unset gradients stay unset.
TANDEM_API std::vector<Gradient> clip_by_value(const std::vector<Gradient>& gradients, double lo, double hi);

}  // namespace TANDEM_NS
