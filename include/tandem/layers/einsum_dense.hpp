// EinsumDense: a fully connected layer over any axes, by an equation of einsum. Not here: Dense, over the last axis
// (dense.hpp).
#pragma once
#include <string>

#include "tandem/layers/activations.hpp"
#include "tandem/layers/layer.hpp"

namespace TANDEM_NS::layers {

struct EinsumDenseOptions {
  tandem::Activation activation = tandem::Activation::linear;
  std::string bias_axes = {};  ///< the letters of the output's axes along which the bias differs; none: no bias
  /// Of the kernel as a matrix [inputs, outputs]: its axes that the output does not have, and those that it has.
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};  ///< of the layer's output, divided by the batch size
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  DType dtype = DType::float32;
};

namespace detail {
/// "abc,cd->abd": letters of the axes of the input, the kernel and the output, and where an ellipsis is.
struct DenseEquation {
  explicit DenseEquation(const std::string& text);
  std::string input, kernel, output;
  bool left = false, right = false;  // "...bc,cd->...bd", "abc...,cd->abd..."
};
/// The sizes of the weights for an input.
struct DenseSizes {
  Shape kernel, bias;
  Axes inputs = Axes::none(), outputs = Axes::none();  // the kernel's axes
};
}  // namespace detail

/// Fully connected layer over any axes: activation(einsum(equation, x, kernel) + bias).
///
///   layers::EinsumDense("abc,cd->abd", {none, 64}, {.bias_axes = "d"})  // Dense(64) of [batch, steps, features]
///   layers::EinsumDense("...c,chd->...hd", {8, 64})                     // to 8 heads of 64 features
///
///   equation      letters of x, the kernel and the result: "ab,bc->ac", or with "..." first, or last, in x and the
///                 result: "...b,bc->...c", "ab...,bc->ac..."
///   output_shape  the sizes of the result's letters, without the first one, the batch; with "..." first, of all
///                 letters. `none`: that of x. The first call compares them
///   x             the axes of the equation; those of the ellipsis, and those that the kernel does not have, may be of
///                 unknown size
///   throws        errors::InvalidArgumentError for an equation of another form, letters that do not match, x of
///                 another rank, size or dtype
///   variables     kernel, with the axes of the equation; with .bias_axes bias, with the result's axes from the first
///                 of these on, of size 1 where the bias does not differ
///   source        Keras 3, EinsumDense
class TANDEM_API EinsumDense : public Layer {
 public:
  EinsumDense(const std::string& equation, const Shape& output_shape, EinsumDenseOptions options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  detail::DenseSizes sizes_for(const Tensor& x) const;
  Weights weights_for(const detail::DenseSizes& sizes) const;
  void make_weights(const detail::DenseSizes& sizes) const;
  Tensor run(const Tensor& x, const Tensors& w) const;
  std::string text_;
  detail::DenseEquation equation_;
  Shape output_shape_;
  EinsumDenseOptions options_;
};

}  // namespace TANDEM_NS::layers
