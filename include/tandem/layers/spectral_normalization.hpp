// SpectralNormalization: a layer whose kernel is divided by its largest singular value. Not here: the normalization of
// what layers return (normalization.hpp).
#pragma once
#include <utility>
#include <vector>

#include "tandem/layers/layer.hpp"
#include "tandem/layers/sequence_mask.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::layers {

namespace detail {
/// The Variable of a layer itself whose name is "embeddings" or ends in "kernel".
///   throws  errors::InvalidArgumentError if there is none, or more than one
TANDEM_API Variable kernel_of(const Module& layer);
/// Power iterations from u [1, n], then divides the kernel [..., n] by what they say of its largest singular value. A
/// kernel of zeros stays, and one whose rows are all orthogonal to u.
TANDEM_API void divide_by_spectral_norm(const Variable& kernel, const Variable& u, i64 iterations);
}  // namespace detail

struct SpectralNormalizationOptions {
  i64 power_iterations = 1;  ///< for each call in training; positive
};
/// Spectral normalization: in training, each call first divides the kernel of a layer, as a matrix [..., n] with the
/// other axes as one, by its largest singular value, so that the layer's Lipschitz constant is near to 1. The value is
/// u' W v after power iterations, v = W u / |W u|, u = W' v / |W' v|, which go on from call to call. As in Keras, the
/// Variable itself is divided, gradients do not pass through the division, and otherwise the layer runs as it is. A
/// frozen layer (set_trainable(false)) never changes.
///   layer     has one kernel: Dense, EinsumDense, Embedding, a convolution or its transposed form, ...
///   x         as the layer
///   returns   what the layer does
///   throws    errors::InvalidArgumentError for a layer without a kernel, or with several, or for .power_iterations
///             below 1; as the layer
///   variables those of the layer; vector_u [1, n], which is not trainable
///   source    Miyato et al. 2018, "Spectral Normalization for Generative Adversarial Networks"
template <class L>
class SpectralNormalization : public Layer {
 public:
  explicit SpectralNormalization(L layer, SpectralNormalizationOptions options = {})
      : Layer("spectral_normalization"),
        iterations_(detail::positive("SpectralNormalization", "power_iterations", options.power_iterations)) {
    layer_.push_back(std::move(layer));
    add_module(layer_[0]);
  }
  auto operator()(const Tensor& x, const CallOptions& call = {}) const {
    const InCall here(*this);
    const training_scope scope(call.is_training_layer());  // for the layer, too
    normalize(x);
    return layer_[0](x);
  }
  /// For Sequential: the mask of the layer's result.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    const InCall here(*this);
    const training_scope scope(CallOptions().is_training_layer());
    normalize(x);
    return layers::call_with_mask(layer_[0], x, mask);
  }
  const L& layer() const { return layer_[0]; }

 private:
  void normalize(const Tensor& x) const {
    if (!is_built()) build(x);
    if (is_training() && !is_frozen())
      detail::divide_by_spectral_norm(detail::kernel_of(layer_[0]), variable(0), iterations_);
  }
  void build(const Tensor& x) const {
    check_registered();
    {
      const tandem::detail::DryRun specs_only;  // makes the weights of the layer
      layer_[0](Tensor::symbol(x.spec()));
    }
    const Variable kernel = detail::kernel_of(layer_[0]);
    add_weights({{"vector_u",
                  {1, kernel.shape().dim(-1)},
                  initializers::TruncatedNormal(0, 0.02),
                  kernel.dtype(),
                  {},
                  {},
                  false}});
  }
  LeanVector<L> layer_;  // one. Not a member: a Model would take it for one of its own
  i64 iterations_;
};

}  // namespace TANDEM_NS::layers
