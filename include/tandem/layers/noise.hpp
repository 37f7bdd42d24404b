// Layers that are active in training only: Dropout, SpatialDropout1D/2D/3D, GaussianNoise, GaussianDropout,
// AlphaDropout, ActivityRegularization. They train in a training_scope(true), or with {.training = true} at the call.
// Otherwise, and where there is nothing to do (a rate of 0), they return the input itself.
#pragma once
#include <optional>

#include "tandem/base/shape_arg.hpp"
#include "tandem/layers/layer.hpp"
#include "tandem/ops/data_format.hpp"

namespace TANDEM_NS::layers {

struct DropoutOptions {
  ShapeArg noise_shape = {};     ///< elements along an axis of size 1 are dropped together; `none`: x's size
  std::optional<i64> seed = {};  ///< selects a separate random sequence (random/generator.hpp)
};
/// Dropout: sets elements to 0 with probability `rate` and multiplies the others by 1 / (1 - rate).
///   x         floating, any shape
///   throws    errors::InvalidArgumentError for a rate outside [0, 1), or as nn::dropout
class TANDEM_API Dropout : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit Dropout(double rate, DropoutOptions options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  double rate_;
  DropoutOptions options_;
};

struct SpatialDropoutOptions {
  DataFormat data_format = DataFormat::channels_last;
  std::optional<i64> seed = {};
};
namespace detail {
/// Dropout of channels, for any number of spatial axes.
class TANDEM_API SpatialDropout : public Layer {
 public:
  static constexpr bool supports_masking = true;
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 protected:
  SpatialDropout(const char* layer, const char* kind, int spatial, double rate, SpatialDropoutOptions options);

 private:
  const char* layer_;
  int spatial_;
  double rate_;
  SpatialDropoutOptions options_;
};
}  // namespace detail
/// Dropout of whole channels of images [n, h, w, c].
///   throws    errors::InvalidArgumentError for a rate outside [0, 1) or another rank of x
///   source    Tompson et al. 2015, "Efficient Object Localization Using Convolutional Networks"
class SpatialDropout2D : public detail::SpatialDropout {
 public:
  explicit SpatialDropout2D(double rate, SpatialDropoutOptions options = {})
      : SpatialDropout("SpatialDropout2D", "spatial_dropout2d", 2, rate, options) {}
};
/// As SpatialDropout2D, for sequences [n, length, c].
class SpatialDropout1D : public detail::SpatialDropout {
 public:
  explicit SpatialDropout1D(double rate, SpatialDropoutOptions options = {})
      : SpatialDropout("SpatialDropout1D", "spatial_dropout1d", 1, rate, options) {}
};
/// As SpatialDropout2D, for volumes [n, d, h, w, c].
class SpatialDropout3D : public detail::SpatialDropout {
 public:
  explicit SpatialDropout3D(double rate, SpatialDropoutOptions options = {})
      : SpatialDropout("SpatialDropout3D", "spatial_dropout3d", 3, rate, options) {}
};

struct NoiseOptions {
  std::optional<i64> seed = {};
};
/// Adds normally distributed noise with mean 0.
///   throws    errors::InvalidArgumentError for a negative stddev, or an x that is not floating
class TANDEM_API GaussianNoise : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit GaussianNoise(double stddev, NoiseOptions options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  double stddev_;
  NoiseOptions options_;
};
/// Multiplies by normally distributed noise with mean 1 and variance rate / (1 - rate), which is that of dropout.
///   throws    errors::InvalidArgumentError for a rate outside [0, 1), or an x that is not floating
class TANDEM_API GaussianDropout : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit GaussianDropout(double rate, NoiseOptions options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  double rate_;
  NoiseOptions options_;
};
/// Dropout for activations of selu: sets elements to selu's limit at -infinity, and scales and shifts all of them such
/// that mean 0 and variance 1 stay.
///   throws    errors::InvalidArgumentError for a rate outside [0, 1), an x that is not floating, or a noise_shape that
///             does not broadcast to x's shape
///   source    Klambauer et al. 2017, "Self-Normalizing Neural Networks"
class TANDEM_API AlphaDropout : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit AlphaDropout(double rate, DropoutOptions options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  double rate_;
  DropoutOptions options_;
};

struct ActivityRegularizationOptions {
  double l1 = 0, l2 = 0;
};
/// Returns the input, and in training adds (l1 * sum |x| + l2 * sum x^2) / batch to losses().
class TANDEM_API ActivityRegularization : public Layer {
 public:
  static constexpr bool supports_masking = true;
  explicit ActivityRegularization(ActivityRegularizationOptions options = {})
      : Layer("activity_regularization"), options_(options) {}
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  ActivityRegularizationOptions options_;
};

}  // namespace TANDEM_NS::layers
