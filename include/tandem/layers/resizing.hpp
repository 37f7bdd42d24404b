// Layers that prepare images: Resizing, RandomFlip. They have no weights.
// Not here: zero padding, cropping, enlarging by whole numbers (padding.hpp), Rescaling (preprocessing.hpp).
#pragma once
#include <optional>

#include "tandem/layers/padding.hpp"

namespace TANDEM_NS::layers {

struct ResizingOptions {
  Interpolation interpolation = Interpolation::bilinear;  ///< or Interpolation::nearest
  bool crop_to_aspect_ratio = false;  ///< cut off what would be distorted, on both sides; needs known sizes
  DataFormat data_format = DataFormat::channels_last;
};
/// Resizes images: [n, h, w, c] to [n, height, width, c]. Pixel i of a size o lies at (i + 1/2) h / o - 1/2 of the
/// input; a smaller image is not smoothed. The values are those of tf.image.resize.
///   x         real numbers; h and w may be unknown
///   returns   bilinear: x's dtype, float32 for integers; nearest: x's dtype
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank, an image without pixels, a size
///             below 1, or sizes that .crop_to_aspect_ratio does not know
///   gradient  to x
class TANDEM_API Resizing : public Layer {
 public:
  Resizing(i64 height, i64 width, const ResizingOptions& options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor cropped(const Tensor& x) const;
  i64 height_, width_;
  ResizingOptions options_;
};

/// The directions in which RandomFlip flips.
enum class FlipMode : std::uint8_t { horizontal, vertical, horizontal_and_vertical };
struct RandomFlipOptions {
  std::optional<i64> seed = {};  ///< selects a separate random sequence (random/generator.hpp)
  DataFormat data_format = DataFormat::channels_last;
};
/// Flips each image [n, h, w, c] with a probability of 1/2, in training only; both directions are drawn separately.
///   x         any dtype
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank
///   gradient  to x
class TANDEM_API RandomFlip : public Layer {
 public:
  explicit RandomFlip(FlipMode mode = FlipMode::horizontal_and_vertical, const RandomFlipOptions& options = {})
      : Layer("random_flip"), mode_(mode), options_(options) {}
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  FlipMode mode_;
  RandomFlipOptions options_;
};

}  // namespace TANDEM_NS::layers
