// Pooling layers: maxima and means of a moving window, of whole images, and of a grid of given size.
// Not here: the ops (ops/conv/pool.hpp).
#pragma once
#include <utility>

#include "tandem/layers/layer.hpp"
#include "tandem/layers/sequence_mask.hpp"
#include "tandem/ops/conv/pool.hpp"
#include "tandem/ops/reduce/reduce.hpp"

namespace TANDEM_NS::layers {

struct PoolingOptions {
  WindowSizes strides = {};  ///< default: the pool size
  Padding padding = Padding::valid;
  DataFormat data_format = DataFormat::channels_last;
};
struct GlobalPoolingOptions {
  DataFormat data_format = DataFormat::channels_last;
  bool keepdims = false;  ///< keep the spatial axes with size 1
};
struct AdaptivePoolingOptions {
  DataFormat data_format = DataFormat::channels_last;
};

namespace detail {
using Reduction = Tensor (*)(const Tensor&, ReduceOptions);

/// Pooling with a moving window, for any number of spatial axes.
class TANDEM_API Pooling : public Layer {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  using Pool = Tensor (*)(const Tensor&, nn::PoolOptions);
  Pooling(const char* layer, const char* kind, int spatial, Pool pool, const WindowSizes& pool_size,
          const PoolingOptions& options);

 private:
  const char* layer_;
  int spatial_;
  Pool pool_;
  nn::PoolOptions window_;
};
/// Pooling of all spatial axes.
class TANDEM_API GlobalPooling : public Layer {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  GlobalPooling(const char* layer, const char* kind, int spatial, Reduction reduction, GlobalPoolingOptions options)
      : Layer(kind), layer_(layer), spatial_(spatial), reduction_(reduction), options_(options) {}

  const char* layer_;
  int spatial_;
  Reduction reduction_;
  GlobalPoolingOptions options_;
};
/// Pooling to a grid of given size.
class TANDEM_API AdaptivePooling : public Layer {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  AdaptivePooling(const char* layer, const char* kind, int spatial, Reduction reduction, const WindowSizes& output_size,
                  AdaptivePoolingOptions options);

 private:
  const char* layer_;
  int spatial_;
  Reduction reduction_;
  Shape output_;
  DataFormat data_format_;
};
}  // namespace detail

/// Maxima of a moving window over images, for each channel: MaxPooling2D(2), MaxPooling2D({3, 2}, {.strides = 2}).
///   x         [n, h, w, c], or [n, c, h, w] with DataFormat::nchw; real numbers
///   returns   [n, oh, ow, c] (or [n, c, oh, ow]); sizes as nn::max_pool
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank or an option with the wrong number
///             of entries; in that of the op as nn::max_pool
class MaxPooling2D : public detail::Pooling {
 public:
  explicit MaxPooling2D(WindowSizes pool_size = 2, PoolingOptions options = {})
      : Pooling("MaxPooling2D", "max_pooling2d", 2, &nn::max_pool, pool_size, options) {}
};
/// As MaxPooling2D, for sequences [n, length, c].
class MaxPooling1D : public detail::Pooling {
 public:
  explicit MaxPooling1D(WindowSizes pool_size = 2, PoolingOptions options = {})
      : Pooling("MaxPooling1D", "max_pooling1d", 1, &nn::max_pool, pool_size, options) {}
};
/// As MaxPooling2D, for volumes [n, d, h, w, c].
class MaxPooling3D : public detail::Pooling {
 public:
  explicit MaxPooling3D(WindowSizes pool_size = 2, PoolingOptions options = {})
      : Pooling("MaxPooling3D", "max_pooling3d", 3, &nn::max_pool, pool_size, options) {}
};
/// Means of a moving window over images, of its elements that are inside of the image. Floating. Otherwise as
/// MaxPooling2D.
class AveragePooling2D : public detail::Pooling {
 public:
  explicit AveragePooling2D(WindowSizes pool_size = 2, PoolingOptions options = {})
      : Pooling("AveragePooling2D", "average_pooling2d", 2, &nn::avg_pool, pool_size, options) {}
};
/// As AveragePooling2D, for sequences [n, length, c].
class AveragePooling1D : public detail::Pooling {
 public:
  explicit AveragePooling1D(WindowSizes pool_size = 2, PoolingOptions options = {})
      : Pooling("AveragePooling1D", "average_pooling1d", 1, &nn::avg_pool, pool_size, options) {}
};
/// As AveragePooling2D, for volumes [n, d, h, w, c].
class AveragePooling3D : public detail::Pooling {
 public:
  explicit AveragePooling3D(WindowSizes pool_size = 2, PoolingOptions options = {})
      : Pooling("AveragePooling3D", "average_pooling3d", 3, &nn::avg_pool, pool_size, options) {}
};

/// Maximum over the spatial axes: [n, h, w, c] to [n, c], with .keepdims [n, 1, 1, c].
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank
class GlobalMaxPooling2D : public detail::GlobalPooling {
 public:
  explicit GlobalMaxPooling2D(GlobalPoolingOptions options = {})
      : GlobalPooling("GlobalMaxPooling2D", "global_max_pooling2d", 2, &reduce_max, options) {}
};
/// As GlobalMaxPooling2D, for sequences [n, length, c].
class GlobalMaxPooling1D : public detail::GlobalPooling {
 public:
  explicit GlobalMaxPooling1D(GlobalPoolingOptions options = {})
      : GlobalPooling("GlobalMaxPooling1D", "global_max_pooling1d", 1, &reduce_max, options) {}
};
/// As GlobalMaxPooling2D, for volumes [n, d, h, w, c].
class GlobalMaxPooling3D : public detail::GlobalPooling {
 public:
  explicit GlobalMaxPooling3D(GlobalPoolingOptions options = {})
      : GlobalPooling("GlobalMaxPooling3D", "global_max_pooling3d", 3, &reduce_max, options) {}
};
/// Mean over the spatial axes. Floating. Otherwise as GlobalMaxPooling2D.
class GlobalAveragePooling2D : public detail::GlobalPooling {
 public:
  explicit GlobalAveragePooling2D(GlobalPoolingOptions options = {})
      : GlobalPooling("GlobalAveragePooling2D", "global_average_pooling2d", 2, &reduce_mean, options) {}
};
/// As GlobalAveragePooling2D, for sequences [n, length, c].
class TANDEM_API GlobalAveragePooling1D : public detail::GlobalPooling {
 public:
  explicit GlobalAveragePooling1D(GlobalPoolingOptions options = {})
      : GlobalPooling("GlobalAveragePooling1D", "global_average_pooling1d", 1, &reduce_mean, options) {}
  using GlobalPooling::operator();
  /// The mean over the steps where `mask`, bool_ [n, length], is true; 0 where it is true nowhere. Other steps may be
  /// NaN.
  ///   throws    errors::InvalidArgumentError, in the layer's name, for another mask
  Tensor operator()(const Tensor& x, const Tensor& mask) const;
  /// For Sequential: with a mask, the mean of the steps that count. The result has no mask.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const {
    const SequenceMask steps = std::exchange(mask, {});
    return steps.is_set() ? steps.code()->average(*this, x, steps.tensor()) : (*this)(x);
  }
};
/// As GlobalAveragePooling2D, for volumes [n, d, h, w, c].
class GlobalAveragePooling3D : public detail::GlobalPooling {
 public:
  explicit GlobalAveragePooling3D(GlobalPoolingOptions options = {})
      : GlobalPooling("GlobalAveragePooling3D", "global_average_pooling3d", 3, &reduce_mean, options) {}
};

/// Means over a grid of windows that covers an image of any size: with output size o, window i of an axis of size n has
/// the elements from floor(i n / o) up to but excluding ceil((i + 1) n / o), as in PyTorch and Keras 3.
///   x         [n, h, w, c], or [n, c, h, w] with DataFormat::nchw; floating; h and w must be known in a trace
///   returns   [n, output_size..., c] (or [n, c, output_size...])
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank or an empty or unknown size
class AdaptiveAveragePooling2D : public detail::AdaptivePooling {
 public:
  explicit AdaptiveAveragePooling2D(WindowSizes output_size, AdaptivePoolingOptions options = {})
      : AdaptivePooling("AdaptiveAveragePooling2D", "adaptive_average_pooling2d", 2, &reduce_mean, output_size,
                        options) {}
};
/// As AdaptiveAveragePooling2D, for sequences [n, length, c].
class AdaptiveAveragePooling1D : public detail::AdaptivePooling {
 public:
  explicit AdaptiveAveragePooling1D(WindowSizes output_size, AdaptivePoolingOptions options = {})
      : AdaptivePooling("AdaptiveAveragePooling1D", "adaptive_average_pooling1d", 1, &reduce_mean, output_size,
                        options) {}
};
/// As AdaptiveAveragePooling2D, for volumes [n, d, h, w, c].
class AdaptiveAveragePooling3D : public detail::AdaptivePooling {
 public:
  explicit AdaptiveAveragePooling3D(WindowSizes output_size, AdaptivePoolingOptions options = {})
      : AdaptivePooling("AdaptiveAveragePooling3D", "adaptive_average_pooling3d", 3, &reduce_mean, output_size,
                        options) {}
};
/// Maxima in place of means. Real numbers. Otherwise as AdaptiveAveragePooling2D.
class AdaptiveMaxPooling2D : public detail::AdaptivePooling {
 public:
  explicit AdaptiveMaxPooling2D(WindowSizes output_size, AdaptivePoolingOptions options = {})
      : AdaptivePooling("AdaptiveMaxPooling2D", "adaptive_max_pooling2d", 2, &reduce_max, output_size, options) {}
};
/// As AdaptiveMaxPooling2D, for sequences [n, length, c].
class AdaptiveMaxPooling1D : public detail::AdaptivePooling {
 public:
  explicit AdaptiveMaxPooling1D(WindowSizes output_size, AdaptivePoolingOptions options = {})
      : AdaptivePooling("AdaptiveMaxPooling1D", "adaptive_max_pooling1d", 1, &reduce_max, output_size, options) {}
};
/// As AdaptiveMaxPooling2D, for volumes [n, d, h, w, c].
class AdaptiveMaxPooling3D : public detail::AdaptivePooling {
 public:
  explicit AdaptiveMaxPooling3D(WindowSizes output_size, AdaptivePoolingOptions options = {})
      : AdaptivePooling("AdaptiveMaxPooling3D", "adaptive_max_pooling3d", 3, &reduce_max, output_size, options) {}
};

}  // namespace TANDEM_NS::layers
