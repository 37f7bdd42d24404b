// Activations as layers: Activation, ReLU, LeakyReLU, PReLU, ELU, Softmax.
// Not here: the ops (ops/pointwise/activation.hpp), the activation option of layers (layers/activations.hpp).
#pragma once
#include <optional>
#include <vector>

#include "tandem/layers/activations.hpp"
#include "tandem/layers/layer.hpp"
#include "tandem/layers/sequence_mask.hpp"

namespace TANDEM_NS::layers {

/// An activation is a function of one Tensor, so Sequential holds it as it is: layers::Activation(nn::tanh).
using tandem::Activation;

struct ReLUOptions {
  std::optional<double> max_value = {};  ///< default: no bound
  double negative_slope = 0;
  double threshold = 0;
};
/// Rectified linear unit: x where x >= threshold, negative_slope * (x - threshold) below it, and at most max_value.
///   x         real numbers (floating unless all options have their defaults)
///   throws    errors::InvalidArgumentError for a negative max_value or negative_slope
class TANDEM_API ReLU : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit ReLU(ReLUOptions options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  ReLUOptions options_;
};

struct LeakyReLUOptions {
  double negative_slope = 0.3;
};
/// Leaky rectified linear unit: x where x > 0, else negative_slope * x. Floating.
class TANDEM_API LeakyReLU : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit LeakyReLU(LeakyReLUOptions options = {}) : Layer("leaky_re_lu"), options_(options) {}
  Tensor operator()(const Tensor& x) const;

 private:
  LeakyReLUOptions options_;
};

struct PReLUOptions {
  Initializer alpha_initializer = initializers::Zeros();
  Regularizer alpha_regularizer = {};
  Constraint alpha_constraint = {};
  std::vector<int> shared_axes = {};  ///< axes along which elements have one slope; the batch is axis 0
  DType dtype = DType::float32;
};
/// Leaky rectified linear unit with learned slopes: x where x > 0, else alpha * x.
///   x         [n, ...]; its sizes, except on .shared_axes, are fixed by the first successful call
///   throws    errors::InvalidArgumentError, in the layer's name, for an axis out of range or an unknown size that is
///             not shared
///   variables alpha: the shape of an example, with 1 for .shared_axes
///   source    He et al. 2015, "Delving Deep into Rectifiers"
class TANDEM_API PReLU : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit PReLU(PReLUOptions options = {}) : Layer("p_re_lu"), options_(options) {}
  Tensor operator()(const Tensor& x) const;

 private:
  Shape alpha_shape(const Tensor& x) const;
  PReLUOptions options_;
};

struct ELUOptions {
  double alpha = 1;
};
/// Exponential linear unit: x where x > 0, else alpha * (e^x - 1). Floating.
class TANDEM_API ELU : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit ELU(ELUOptions options = {}) : Layer("elu"), options_(options) {}
  Tensor operator()(const Tensor& x) const;

 private:
  ELUOptions options_;
};

struct SoftmaxOptions {
  int axis = -1;
};
/// Softmax along an axis. Floating.
class TANDEM_API Softmax : public Layer {
 public:
  explicit Softmax(SoftmaxOptions options = {}) : Layer("softmax"), options_(options) {}
  Tensor operator()(const Tensor& x) const;
  /// Softmax over the elements where `mask`, bool_, which broadcasts to x's shape, is true; 0 elsewhere. Where it is
  /// true nowhere, all elements count.
  Tensor operator()(const Tensor& x, const Tensor& mask) const;
  /// For Sequential: a mask of x's rank is that of the elements; the result keeps it.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    const bool of_elements = mask.is_set() && mask.tensor().rank() == x.rank();
    return of_elements ? mask.code()->softmax(*this, x, mask.tensor()) : (*this)(x);
  }

 private:
  SoftmaxOptions options_;
};

}  // namespace TANDEM_NS::layers
