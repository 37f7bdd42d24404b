// Normalization layers: BatchNormalization, LayerNormalization, RMSNormalization, GroupNormalization,
// UnitNormalization. Not here: the ops (ops/norm/batch_norm.hpp, layer_norm.hpp), Normalization of inputs by statistics
// of the data set (preprocessing.hpp).
#pragma once
#include "tandem/base/axes.hpp"
#include "tandem/layers/layer.hpp"
#include "tandem/layers/sequence_mask.hpp"

namespace TANDEM_NS::layers {

struct BatchNormalizationOptions {
  int axis = -1;  ///< of the channels
  double momentum = 0.99;
  double epsilon = 0.001;  ///< added to the variance
  bool center = true;      ///< add beta
  bool scale = true;       ///< multiply by gamma
  /// Whether mean and variance in training are those of the batches of all processes that train together, in a
  /// strategy's scope (distribute/strategy.hpp). Not with a mask, nor where a process divides a batch into several
  /// parts.
  bool synchronized = false;
  Initializer beta_initializer = initializers::Zeros();
  Initializer gamma_initializer = initializers::Ones();
  Initializer moving_mean_initializer = initializers::Zeros();
  Initializer moving_variance_initializer = initializers::Ones();
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};
  DType dtype = DType::float32;
};
/// Batch normalization: gamma * (x - mean) / sqrt(variance + epsilon) + beta for each channel. In training, mean and
/// population variance are those of the batch, and each call moves the averages: moving = moving * momentum + batch *
/// (1 - momentum); an empty batch leaves them. Otherwise they are the moving averages, which then do not change. A
/// frozen layer (set_trainable(false)) always infers.
///   x         floating, rank >= 2; the number of channels is fixed by the first successful call
///   returns   same shape and dtype as x
///   throws    errors::InvalidArgumentError, in the layer's name, for another dtype, axis or number of channels, or a
///             momentum outside [0, 1]; errors::UnimplementedError for `.synchronized` in training where
///             train::Trainer or MirroredStrategy::run divides the batch into parts that this process computes
///   variables gamma, beta, moving_mean, moving_variance: [channels]; the last two are not trainable, and float32 also
///             for half precision
///   source    Ioffe and Szegedy 2015, "Batch Normalization"
class TANDEM_API BatchNormalization : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit BatchNormalization(BatchNormalizationOptions options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;
  /// The same with statistics in training of the elements where `mask` is true; all elements are normalized by them. A
  /// mask that is true nowhere leaves the averages, and an unset one means all elements. An element that is not finite
  /// where the mask is false counts as 0; otherwise the mask has no effect without training.
  ///   mask      bool_; its shape is that of the first axes of x: [batch, time]
  ///   throws    errors::InvalidArgumentError, in the layer's name, for another mask
  Tensor operator()(const Tensor& x, const Tensor& mask, const CallOptions& call = {}) const;
  /// For Sequential: the result has the mask of x.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    return mask.is_set() ? mask.code()->batch_norm(*this, x, mask.tensor()) : (*this)(x);
  }

 private:
  struct Result {
    Tensor y, mean, variance;
    Tensor count = {};  // of the elements of a channel, if it is known at run time alone
  };
  int channel_axis(const Tensor& x) const;
  Weights weights_for(const Tensor& x) const;
  void check_channels(const Tensor& x, const Tensor& mean) const;
  Result by_batch(const Tensor& x, const Tensors& weights) const;
  Result by_replicas(const Tensor& x, const Tensors& weights) const;
  Result by_masked(const Tensor& x, const Tensor& mask, const Tensors& weights) const;
  Tensor by_statistics(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensors& weights) const;
  void move_averages(const Result& batch, const Tensor& is_counted) const;
  Tensor gamma(const Tensors& weights) const { return options_.scale ? weights[0] : Tensor(); }
  Tensor beta(const Tensors& weights) const { return options_.center ? weights[first_average() - 1] : Tensor(); }
  std::size_t first_average() const { return std::size_t(options_.scale) + std::size_t(options_.center); }
  BatchNormalizationOptions options_;
};

struct LayerNormalizationOptions {
  Axes axis = -1;          ///< the axes that are normalized together
  double epsilon = 0.001;  ///< added to the variance
  bool center = true;      ///< add beta
  bool scale = true;       ///< multiply by gamma
  Initializer beta_initializer = initializers::Zeros();
  Initializer gamma_initializer = initializers::Ones();
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};
  DType dtype = DType::float32;
};
/// Layer normalization: gamma * (x - mean) / sqrt(variance + epsilon) + beta over the axes of each example.
///   x         floating; its sizes on these axes are fixed by the first successful call
///   returns   same shape and dtype as x
///   throws    errors::InvalidArgumentError, in the layer's name, for an axis out of range, or one of unknown size
///             at the first call; in that of the op for one of another size
///   variables gamma, beta, with the shape of the axes
///   source    Ba, Kiros and Hinton 2016, "Layer Normalization"
class TANDEM_API LayerNormalization : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit LayerNormalization(LayerNormalizationOptions options = {})
      : Layer("layer_normalization"), options_(options) {}
  Tensor operator()(const Tensor& x) const;

 private:
  LayerNormalizationOptions options_;
};

struct RMSNormalizationOptions {
  Axes axis = -1;
  double epsilon = 1e-6;  ///< added to the mean square
  Initializer scale_initializer = initializers::Ones();
  Regularizer scale_regularizer = {};
  DType dtype = DType::float32;
};
/// Root-mean-square normalization: scale * x / sqrt(mean(x^2) + epsilon) over the axes of each example. Otherwise as
/// LayerNormalization.
///   variables scale, with the shape of the axes
///   source    Zhang and Sennrich 2019, "Root Mean Square Layer Normalization"
class TANDEM_API RMSNormalization : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit RMSNormalization(RMSNormalizationOptions options = {}) : Layer("rms_normalization"), options_(options) {}
  Tensor operator()(const Tensor& x) const;

 private:
  RMSNormalizationOptions options_;
};

struct GroupNormalizationOptions {
  i64 groups = 32;  ///< -1: as many as channels, which is instance normalization
  int axis = -1;    ///< of the channels
  double epsilon = 0.001;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = initializers::Zeros();
  Initializer gamma_initializer = initializers::Ones();
  Regularizer beta_regularizer = {};
  Regularizer gamma_regularizer = {};
  Constraint beta_constraint = {};
  Constraint gamma_constraint = {};
  DType dtype = DType::float32;
};
/// Group normalization: as layer normalization over all axes except the batch, separately for each group of adjacent
/// channels; gamma and beta are per channel.
///   x         floating, rank >= 2; the number of channels is fixed by the first successful call
///   throws    errors::InvalidArgumentError if .groups does not divide the channels, and as LayerNormalization
///   variables gamma, beta: [channels]
///   source    Wu and He 2018, "Group Normalization"
class TANDEM_API GroupNormalization : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit GroupNormalization(GroupNormalizationOptions options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  GroupNormalizationOptions options_;
};

/// Scales vectors along axes to length 1: x / sqrt(max(sum(x^2), 1e-12)). Floating.
class TANDEM_API UnitNormalization : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit UnitNormalization(Axes axis = -1) : Layer("unit_normalization"), axis_(axis) {}
  Tensor operator()(const Tensor& x) const;

 private:
  Axes axis_;
};

}  // namespace TANDEM_NS::layers
