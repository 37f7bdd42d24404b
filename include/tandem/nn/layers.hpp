// Dense and Embedding. A layer owns its Variables and creates them at its first call; copies of a layer share them.
#pragma once
#include <optional>

#include "tandem/core/module.hpp"
#include "tandem/nn/activation.hpp"
#include "tandem/nn/initializers.hpp"

namespace TANDEM_NS::layers {

namespace detail {
inline i64 positive(const char* layer, const char* what, i64 n) {
  if (n <= 0)
    errors::raise<errors::InvalidArgumentError>(layer,
                                                std::string(what) + " must be positive, not " + std::to_string(n));
  return n;
}
}  // namespace detail

/// The base class of layers.
class TANDEM_API Layer : public Module {
 public:
  Layer() = default;

 protected:
  using Module::Module;
};

struct DenseOptions {
  Activation activation = Activation::linear;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  DType dtype = DType::float32;
};
/// Fully connected layer: activation(x W + b) over the last axis.
///   x         [..., n], rank 1 or more; n is fixed by the first successful call
///   returns   [..., units]
///   throws    errors::InvalidArgumentError if x's last axis or dtype differs from the kernel's
///   variables kernel [n, units], bias [units]
class TANDEM_API Dense : public Layer {
 public:
  explicit Dense(i64 units, DenseOptions options = {});
  /// Dense(4, nn::relu), as in Keras.
  Dense(i64 units, Activation activation, DenseOptions options = {})
      : Dense(units, (options.activation = activation, options)) {}
  Tensor operator()(const Tensor& x) const;
  /// Creates the variables now, for inputs with n features.
  void build(i64 n) const;

 private:
  void build_for(const Tensor& x) const;
  i64 units_;
  DenseOptions options_;
};

struct EmbeddingOptions {
  Initializer embeddings_initializer = initializers::RandomUniform(-0.05, 0.05);
  DType dtype = DType::float32;
};
/// Embedding lookup: maps ids [...] (int32 or int64, in [0, input_dim)) to rows of a table, [..., output_dim]. The
/// gradient of the table is row-sparse.
///   throws    errors::InvalidArgumentError for an id out of range, with its position
///   variables embeddings [input_dim, output_dim]
class TANDEM_API Embedding : public Layer {
 public:
  Embedding(i64 input_dim, i64 output_dim, EmbeddingOptions options = {});
  Tensor operator()(const Tensor& ids) const;
};

}  // namespace TANDEM_NS::layers
