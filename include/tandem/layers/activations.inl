// Definitions of layers/activations.hpp.
#pragma once
#include "tandem/layers/activations.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/exp.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE Tensor activate_relu(const Tensor& x) { return nn::relu(x); }
TANDEM_INLINE Tensor activate_tanh(const Tensor& x) { return tandem::tanh(x); }
TANDEM_INLINE Tensor activate_sigmoid(const Tensor& x) { return tandem::sigmoid(x); }
TANDEM_INLINE Tensor activate_softmax(const Tensor& x) { return nn::softmax(x); }
TANDEM_INLINE Tensor activate_gelu(const Tensor& x) { return nn::gelu(x); }
TANDEM_INLINE Tensor activate_elu(const Tensor& x) { return nn::elu(x); }
TANDEM_INLINE Tensor activate_selu(const Tensor& x) { return nn::selu(x); }
TANDEM_INLINE Tensor activate_swish(const Tensor& x) { return nn::swish(x); }
TANDEM_INLINE Tensor activate_softplus(const Tensor& x) { return tandem::softplus(x); }
}  // namespace detail

TANDEM_INLINE constinit const Activation Activation::linear{Function(nullptr)};
TANDEM_INLINE constinit const Activation Activation::relu{&detail::activate_relu, FusedActivation::relu};
TANDEM_INLINE constinit const Activation Activation::tanh{&detail::activate_tanh, FusedActivation::tanh};
TANDEM_INLINE constinit const Activation Activation::sigmoid{&detail::activate_sigmoid, FusedActivation::sigmoid};
TANDEM_INLINE constinit const Activation Activation::softmax{&detail::activate_softmax};
TANDEM_INLINE constinit const Activation Activation::gelu{&detail::activate_gelu};
TANDEM_INLINE constinit const Activation Activation::elu{&detail::activate_elu};
TANDEM_INLINE constinit const Activation Activation::selu{&detail::activate_selu};
TANDEM_INLINE constinit const Activation Activation::swish{&detail::activate_swish};
TANDEM_INLINE constinit const Activation Activation::softplus{&detail::activate_softplus};

}  // namespace TANDEM_NS
