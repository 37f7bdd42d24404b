// Layers that change the size of images: zero padding, cropping, upsampling. They have no weights.
// Not here: the ops (ops/shape/tile.hpp, slice.hpp), resizing to any size (resizing.hpp).
#pragma once
#include <initializer_list>
#include <utility>
#include <vector>

#include "tandem/layers/layer.hpp"
#include "tandem/ops/conv/window.hpp"
#include "tandem/ops/data_format.hpp"

namespace TANDEM_NS::layers {

/// The borders of an image: one number for all of them; one for each spatial axis, {h, w}; or {before, after} of each
/// spatial axis, {{top, bottom}, {left, right}}. For a sequence {a, b} means before and after.
class Borders {
 public:
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  Borders(I all) : numbers_{static_cast<i64>(all)} {}
  Borders(std::initializer_list<i64> numbers) : numbers_(numbers) {}
  Borders(std::initializer_list<std::pair<i64, i64>> pairs) : pairs_(pairs) {}

  /// {before, after} of each spatial axis.
  ///   throws  errors::InvalidArgumentError, in the layer's name, for another number of entries or a negative one
  TANDEM_API std::vector<std::pair<i64, i64>> pairs(const char* layer, int spatial) const;

 private:
  std::vector<i64> numbers_;
  std::vector<std::pair<i64, i64>> pairs_;
};
struct ImageOptions {
  DataFormat data_format = DataFormat::channels_last;
};

namespace detail {
TANDEM_API Tensor upsample_bilinear(const Tensor& x, const Shape& size, DataFormat format);
}  // namespace detail

/// How UpSampling2D makes new pixels. A class with constants: a program compiles only what it names.
class TANDEM_API Interpolation {
 public:
  using Function = Tensor (*)(const Tensor& x, const Shape& size, DataFormat format);
  static const Interpolation nearest;   ///< each pixel is repeated
  static const Interpolation bilinear;  ///< linear between the centers of pixels; the outer ones continue

  constexpr Interpolation(Function f) : f_(f) {}
  /// The function, or null for repetition.
  constexpr Function function() const { return f_; }

 private:
  Function f_;
};
struct UpSampling2DOptions {
  DataFormat data_format = DataFormat::channels_last;
  Interpolation interpolation = Interpolation(nullptr);  ///< default: Interpolation::nearest
};

namespace detail {
/// Zero padding, for any number of spatial axes.
class TANDEM_API ZeroPadding : public Layer {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  ZeroPadding(const char* layer, const char* kind, int spatial, const Borders& padding, ImageOptions options)
      : Layer(kind), layer_(layer), borders_(padding.pairs(layer, spatial)), options_(options) {}

 private:
  const char* layer_;
  std::vector<std::pair<i64, i64>> borders_;
  ImageOptions options_;
};
/// Cropping, for any number of spatial axes.
class TANDEM_API Cropping : public Layer {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  Cropping(const char* layer, const char* kind, int spatial, const Borders& cropping, ImageOptions options)
      : Layer(kind), layer_(layer), borders_(cropping.pairs(layer, spatial)), options_(options) {}

 private:
  const char* layer_;
  std::vector<std::pair<i64, i64>> borders_;
  ImageOptions options_;
};
/// Repetition of pixels, for any number of spatial axes.
class TANDEM_API UpSampling : public Layer {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  UpSampling(const char* layer, const char* kind, int spatial, const WindowSizes& size, UpSampling2DOptions options);

 private:
  const char* layer_;
  int spatial_;
  Shape size_;
  UpSampling2DOptions options_;
};
}  // namespace detail

/// Pads images with zeros: [n, h, w, c] to [n, top + h + bottom, left + w + right, c].
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank, number of borders or a negative one
class ZeroPadding2D : public detail::ZeroPadding {
 public:
  explicit ZeroPadding2D(const Borders& padding = 1, ImageOptions options = {})
      : ZeroPadding("ZeroPadding2D", "zero_padding2d", 2, padding, options) {}
};
/// As ZeroPadding2D, for sequences [n, length, c].
class ZeroPadding1D : public detail::ZeroPadding {
 public:
  explicit ZeroPadding1D(const Borders& padding = 1, ImageOptions options = {})
      : ZeroPadding("ZeroPadding1D", "zero_padding1d", 1, padding, options) {}
};
/// As ZeroPadding2D, for volumes [n, d, h, w, c].
class ZeroPadding3D : public detail::ZeroPadding {
 public:
  explicit ZeroPadding3D(const Borders& padding = 1, ImageOptions options = {})
      : ZeroPadding("ZeroPadding3D", "zero_padding3d", 3, padding, options) {}
};

/// Removes the borders of images: [n, top + h + bottom, left + w + right, c] to [n, h, w, c].
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank, number of borders or a negative
///             one, or if nothing is left
class Cropping2D : public detail::Cropping {
 public:
  explicit Cropping2D(const Borders& cropping = 0, ImageOptions options = {})
      : Cropping("Cropping2D", "cropping2d", 2, cropping, options) {}
};
/// As Cropping2D, for sequences [n, length, c]; by default one element at both ends, as in Keras.
class Cropping1D : public detail::Cropping {
 public:
  explicit Cropping1D(const Borders& cropping = 1, ImageOptions options = {})
      : Cropping("Cropping1D", "cropping1d", 1, cropping, options) {}
};
/// As Cropping2D, for volumes [n, d, h, w, c]; by default one element at all sides, as in Keras.
class Cropping3D : public detail::Cropping {
 public:
  explicit Cropping3D(const Borders& cropping = 1, ImageOptions options = {})
      : Cropping("Cropping3D", "cropping3d", 3, cropping, options) {}
};

/// Enlarges images: [n, h, w, c] to [n, h size[0], w size[1], c]. By default each pixel is repeated; with
/// Interpolation::bilinear the values are those of tf.image.resize.
///   x         any dtype; bilinear: real numbers
///   returns   x's dtype; bilinear: float32 for integers
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank or number of sizes
class UpSampling2D : public detail::UpSampling {
 public:
  explicit UpSampling2D(const WindowSizes& size = 2, UpSampling2DOptions options = {})
      : UpSampling("UpSampling2D", "up_sampling2d", 2, size, options) {}
};
/// As UpSampling2D, for sequences [n, length, c].
class UpSampling1D : public detail::UpSampling {
 public:
  explicit UpSampling1D(const WindowSizes& size = 2, ImageOptions options = {})
      : UpSampling("UpSampling1D", "up_sampling1d", 1, size, {options.data_format}) {}
};
/// As UpSampling2D, for volumes [n, d, h, w, c].
class UpSampling3D : public detail::UpSampling {
 public:
  explicit UpSampling3D(const WindowSizes& size = 2, ImageOptions options = {})
      : UpSampling("UpSampling3D", "up_sampling3d", 3, size, {options.data_format}) {}
};

}  // namespace TANDEM_NS::layers
