// SequenceMask: the mask of a sequence's steps on its way through the layers of Sequential, and call_with_mask, which
// passes it through one layer. Not here: what recurrent layers do with a mask (rnn_steps.hpp).
#pragma once
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::layers {

class BatchNormalization;
class GlobalAveragePooling1D;
class Softmax;

namespace detail {
struct RnnMaskCode;

/// What layers do with a mask. It is reached only through masks, so programs without masks do not compile it.
struct MaskCode {
  const RnnMaskCode* rnn;
  Tensor (*not_zero)(const Tensor& ids);
  Tensor (*reversed)(const Tensor& mask, bool time_major);
  Tensor (*any_inner)(const Tensor& mask);  // over all axes but the first two
  // x with 0 in place of what is not finite and does not count; checks the mask for the layer
  Tensor (*finite)(const char* layer, const Tensor& x, const Tensor& mask);
  Tensor (*average)(const GlobalAveragePooling1D&, const Tensor& x, const Tensor& mask);
  Tensor (*softmax)(const Softmax&, const Tensor& x, const Tensor& mask);
  Tensor (*batch_norm)(const BatchNormalization&, const Tensor& x, const Tensor& mask);
};
TANDEM_API extern const MaskCode mask_code;
}  // namespace detail

/// Which steps of a sequence count: bool_ [batch, time], or nothing (all of them). Sequential passes it from layer to
/// layer, as Keras does.
class SequenceMask {
 public:
  constexpr SequenceMask() = default;
  SequenceMask(const Tensor& mask) : SequenceMask(mask, &detail::mask_code) {}
  SequenceMask(const Tensor& mask, const detail::MaskCode* code) : mask_(mask), code_(mask.is_set() ? code : nullptr) {}

  bool is_set() const { return code_ != nullptr; }
  const Tensor& tensor() const { return mask_; }
  /// The code of layers for it, or null without a mask.
  const detail::MaskCode* code() const { return code_; }
  /// x with 0 in place of NaN and infinities in steps that do not count: 0 times the gradient of such a step is NaN in
  /// the gradients of weights. Other elements stay, as in Keras.
  ///   throws  errors::InvalidArgumentError, in the layer's name, if the mask is not bool_ with the first sizes of x
  Tensor finite(const char* layer, const Tensor& x) const { return is_set() ? code_->finite(layer, x, mask_) : x; }
  /// Another mask, with the code of this one.
  SequenceMask with(const Tensor& mask) const { return {mask, code_}; }
  /// The mask of the steps in the opposite order.
  SequenceMask reversed(bool time_major) const { return is_set() ? with(code_->reversed(mask_, time_major)) : *this; }

 private:
  Tensor mask_;
  const detail::MaskCode* code_ = nullptr;
};

/// Calls a layer for the steps of x that `mask` says, and sets `mask` to that of the result. A layer of one's own says
/// what it does with masks by one of these members; without any, its result has no mask, as in Keras:
///
///   static constexpr bool supports_masking = true;     // each step of the result is computed from the same step of x
///   Tensor compute_mask(const Tensor& x) const;        // it makes a mask, as Embedding does
///   // it reads the mask of x and sets that of the result
///   Tensor call_with_mask(const Tensor& x, layers::SequenceMask& mask) const;
template <class L>
Tensor call_with_mask(const L& layer, const Tensor& x, SequenceMask& mask) {
  if constexpr (requires { layer.call_with_mask(x, mask); }) {
    return layer.call_with_mask(x, mask);
  } else if constexpr (requires { layer.compute_mask(x); }) {
    Tensor y = layer(x);
    mask = layer.compute_mask(x);
    return y;
  } else {
    if constexpr (!requires { requires L::supports_masking; }) mask = {};
    return layer(x);
  }
}

}  // namespace TANDEM_NS::layers
