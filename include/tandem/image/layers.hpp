// Layers that augment images, with Keras 3's semantics: they change images in training, and pass them on otherwise.
// Part of the component tandem::image. Not here: Resizing, RandomFlip, Rescaling, Cropping (tandem/layers.hpp).
#pragma once
#include <optional>

#include "tandem/image/transform.hpp"
#include "tandem/layers/layer.hpp"

namespace TANDEM_NS::layers {

/// The bounds of a random amount: {lower, upper}, or one number f for {-f, f}.
struct AmountRange {
  AmountRange(double f) : lower(-f), upper(f) {}
  AmountRange(double low, double high) : lower(low), upper(high) {}
  double lower, upper;
};

/// Cuts out the middle of images, [height, width, channels] or [n, height, width, channels], in training or not. Images
/// that are smaller are enlarged first, without distortion.
///   returns  height x width pixels; dtype of x, float32 for enlarged integers
///   throws   errors::InvalidArgumentError, in the layer's name, for another rank, a size below 1 or sizes that a trace
///            does not know
class TANDEM_API CenterCrop : public Layer {
 public:
  CenterCrop(i64 height, i64 width);
  Tensor operator()(const Tensor& x) const;

 private:
  i64 height_, width_;
};

struct RandomCropOptions {
  std::optional<i64> seed = {};  ///< selects a separate random sequence (random::Generator)
};
/// Cuts out a random part in training, one place for a batch, and the middle otherwise. Otherwise as CenterCrop, and
/// unlike Keras: images are enlarged as far as needed, never shrunk. Outside of training, and for smaller images, Keras
/// documents the largest part of that aspect ratio, resized.
class TANDEM_API RandomCrop : public Layer {
 public:
  RandomCrop(i64 height, i64 width, const RandomCropOptions& options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  i64 height_, width_;
  RandomCropOptions options_;
};

struct RandomTransformOptions {
  image::FillMode fill_mode = image::FillMode::reflect;
  image::Sampling interpolation = image::Sampling::bilinear;
  double fill_value = 0;  ///< with FillMode::constant
  std::optional<i64> seed = {};
};
/// Turns each image by a random angle around its center.
///   factor   parts of a full turn; positive: counter-clockwise
///   x        real numbers, [height, width, channels] or [n, height, width, channels]
///   returns  dtype and shape of x
///   throws   errors::InvalidArgumentError, in the layer's name, for another rank or dtype, bounds that are not in
///            order, or sizes that a trace does not know
///   gradient to x
class TANDEM_API RandomRotation : public Layer {
 public:
  explicit RandomRotation(AmountRange factor, const RandomTransformOptions& options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  AmountRange factor_;
  RandomTransformOptions options_;
};
/// Shifts each image by random parts of its height and width; positive: down and to the right. Otherwise as
/// RandomRotation.
class TANDEM_API RandomTranslation : public Layer {
 public:
  RandomTranslation(AmountRange height_factor, AmountRange width_factor, const RandomTransformOptions& options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  AmountRange height_, width_;
  RandomTransformOptions options_;
};
/// Zooms each image around its center by random parts, in (-1, 1]: 0.2 shows 20 % more of it, -0.2 less. Without a
/// width_factor the aspect ratio stays. Otherwise as RandomRotation.
class TANDEM_API RandomZoom : public Layer {
 public:
  explicit RandomZoom(AmountRange height_factor, std::optional<AmountRange> width_factor = {},
                      const RandomTransformOptions& options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  AmountRange height_;
  std::optional<AmountRange> width_;
  RandomTransformOptions options_;
};

struct RandomColorOptions {
  double lowest = 0;  ///< the range of the values, to which the result is clamped
  double highest = 255;
  std::optional<i64> seed = {};
};
/// Moves the pixels of each image away from the means of its channels, or toward them: (x - mean) * amount + mean.
///   factor   one number f: amounts in [1 - f, 1 + f); {low, high}, as in Keras: in [1 - low, 1 + high), so that
///            {.2, .2} is .2; a negative low counts as its opposite, where Keras begins at 1 - low, above 1
///   x        real numbers, [height, width, channels] or [n, height, width, channels]
///   returns  shape of x; its dtype, float32 for integers
///   throws   errors::InvalidArgumentError, in the layer's name, for another rank or dtype, or bounds that are not in
///   order gradient to x
class TANDEM_API RandomContrast : public Layer {
 public:
  explicit RandomContrast(AmountRange factor, const RandomColorOptions& options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  AmountRange amount_;
  RandomColorOptions options_;
};
/// Adds a random part of the range of values to each image, between -1 and 1. Otherwise as RandomContrast.
class TANDEM_API RandomBrightness : public Layer {
 public:
  explicit RandomBrightness(AmountRange factor, const RandomColorOptions& options = {});
  Tensor operator()(const Tensor& x, const CallOptions& call = {}) const;

 private:
  AmountRange factor_;
  RandomColorOptions options_;
};

}  // namespace TANDEM_NS::layers
