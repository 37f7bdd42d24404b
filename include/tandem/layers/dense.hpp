// Dense: a fully connected layer.
#pragma once
#include "tandem/layers/activations.hpp"
#include "tandem/layers/layer.hpp"

namespace TANDEM_NS::layers {

struct DenseOptions {
  tandem::Activation activation = tandem::Activation::linear;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};  ///< of the layer's output, divided by the batch size
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  DType dtype = DType::float32;
};
/// Fully connected layer: activation(x W + b) over the last axis.
///   x         [..., n], rank 1 or more; n is fixed by the first successful call
///   returns   [..., units]
///   throws    errors::InvalidArgumentError if x's last axis or dtype differs from the kernel's
///   variables kernel [n, units], bias [units]
class TANDEM_API Dense : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit Dense(i64 units, DenseOptions options = {});
  /// Dense(4, nn::relu), as in Keras.
  Dense(i64 units, tandem::Activation activation, DenseOptions options = {})
      : Dense(units, detail::with_activation(std::move(options), activation)) {}
  Tensor operator()(const Tensor& x) const;
  /// Creates the variables now, for inputs with n features.
  void build(i64 n) const;

 private:
  Weights weights_for(i64 n) const;
  i64 units_;
  DenseOptions options_;
};

}  // namespace TANDEM_NS::layers
