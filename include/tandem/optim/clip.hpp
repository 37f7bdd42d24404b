// Gradient clipping: by value, by norm, and by global norm (Pascanu et al. 2013).
#pragma once
#include <vector>

#include "tandem/base/axes.hpp"
#include "tandem/base/location.hpp"
#include "tandem/core/indexed_slices.hpp"

namespace TANDEM_NS {

struct ClipByNormOptions {
  TANDEM_OP_OPTIONS;
  Axes axes = {};  ///< one norm for each position along the other axes; none: one norm of the whole tensor
};
/// Scales a tensor to a Euclidean norm of at most c: t * c / max(|t|, c). A tensor whose norm is at most c is
/// unchanged. One with a NaN or an infinite element becomes NaN, as with clip_by_global_norm; a finite one never does,
/// also if the squares of its elements overflow. The norm of float16 and bfloat16 is computed in float32.
///   t         floating; returns the same shape. throws errors::InvalidArgumentError unless c > 0
///   gradient  exact
TANDEM_API Tensor clip_by_norm(const Tensor& t, double clip_norm, ClipByNormOptions options = {});
/// Scales each gradient on its own. Unset gradients stay unset; a sparse gradient counts its values, equal rows one by
/// one. The options of optimizers add these up first.
TANDEM_API std::vector<Gradient> clip_by_norm(const std::vector<Gradient>& gradients, double clip_norm);

struct ClippedGradients {
  std::vector<Gradient> gradients;
  Tensor norm;  ///< scalar: the global norm before clipping
};
struct ClipByGlobalNormOptions {
  TANDEM_OP_OPTIONS;
  Tensor use_norm = {};
};
/// The Euclidean norm of all gradients, taken as one vector, scaled so that it does not overflow. Unset entries are
/// skipped; a sparse gradient contributes its values. float32, or float64 if any gradient is; their dtypes may differ.
///   throws    errors::InvalidArgumentError if no gradient is set; errors::UnimplementedError for integers
TANDEM_API Tensor global_norm(const std::vector<Gradient>& gradients, OpOptions options = {});
/// Scales all gradients by c / max(norm, c), where norm is their global norm. Unset gradients stay unset and sparse
/// ones stay sparse. A norm that is not finite makes every gradient NaN (as in TensorFlow), so that it cannot go
/// unnoticed: test .norm with is_finite() before the step. The clipping of the optimizers raises instead.
///   .use_norm  the global norm, a scalar, if it is known already
TANDEM_API ClippedGradients clip_by_global_norm(const std::vector<Gradient>& gradients, double clip_norm,
                                                ClipByGlobalNormOptions options = {});
/// Clamps every element to [lo, hi]; unset gradients stay unset.
TANDEM_API std::vector<Gradient> clip_by_value(const std::vector<Gradient>& gradients, double lo, double hi);

namespace detail {
/// The Euclidean norm of a tensor, or one for each position along the axes that are not given. float32 or float64.
TANDEM_API Tensor norm_to_clip(const Tensor& t, const Axes& axes = {});
/// c / max(norm, c); NaN for a norm that is not finite.
TANDEM_API Tensor clip_factor(const Tensor& norm, double clip_norm);
/// The norms of the gradients that are set, in order, as a vector of float32, or float64 if any gradient is; unset if
/// there are none. `each` gets those of the gradients in their own dtypes.
TANDEM_API Tensor norms_to_clip(const std::vector<Gradient>& gradients, std::vector<Tensor>* each = nullptr);
/// A gradient, dense or sparse, times a factor.
TANDEM_API Gradient scaled_to_norm(const Gradient& g, const Tensor& factor);
}  // namespace detail

}  // namespace TANDEM_NS
