// Activations by name, for layers.
#pragma once
#include "tandem/core/tensor.hpp"
#include "tandem/ops/linalg/dense.hpp"

namespace TANDEM_NS {

enum class Activation { linear, relu, tanh, sigmoid, softmax, gelu, elu, selu, swish, softplus };

/// f(x) for the activation's f; softmax over the last axis.
TANDEM_API Tensor activate(Activation f, const Tensor& x);

/// The activation that a product's kernel can apply on the way out; none where it cannot.
constexpr nn::DenseActivation fused(Activation f) {
  switch (f) {
    case Activation::relu: return nn::DenseActivation::relu;
    case Activation::tanh: return nn::DenseActivation::tanh;
    case Activation::sigmoid: return nn::DenseActivation::sigmoid;
    default: return nn::DenseActivation::none;
  }
}

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_LAYERS
#include "tandem/ops/nn/softmax.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/exp.hpp"

namespace TANDEM_NS {
TANDEM_INLINE Tensor activate(Activation f, const Tensor& x) {
  switch (f) {
    case Activation::linear: return x;
    case Activation::relu: return nn::relu(x);
    case Activation::tanh: return tandem::tanh(x);
    case Activation::sigmoid: return tandem::sigmoid(x);
    case Activation::softmax: return nn::softmax(x);
    case Activation::gelu: return nn::gelu(x);
    case Activation::elu: return nn::elu(x);
    case Activation::selu: return nn::selu(x);
    case Activation::swish: return nn::swish(x);
    case Activation::softplus: return softplus(x);
  }
  __builtin_unreachable();
}
}  // namespace TANDEM_NS
#endif
