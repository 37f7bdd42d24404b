// Colors: gray, HSV, YIQ, YUV, Lab. Part of the component tandem::image. Not here: changes of hue and saturation
// (adjust.hpp).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::image {

/// Converts RGB to gray: 0.2989 R + 0.587 G + 0.114 B.
///   x         real numbers, [..., 3]; integers are computed as convert_image_dtype does
///   returns   dtype of x, [..., 1]
///   throws    errors::InvalidArgumentError for another last axis or dtype
///   gradient  exact, for floating dtypes
TANDEM_API Tensor rgb_to_grayscale(const Tensor& x, OpOptions = {});
/// Repeats a gray channel three times.
///   x         any dtype, [..., 1]
///   returns   dtype of x, [..., 3]
///   throws    errors::InvalidArgumentError for another last axis
///   gradient  the sum over the channels
TANDEM_API Tensor grayscale_to_rgb(const Tensor& x, OpOptions = {});
/// Converts RGB to hue, saturation and value, all in [0, 1] for colors in [0, 1]. Black has saturation 0, gray hue 0.
///   x         floating, [..., 3]
///   returns   shape and dtype of x
///   throws    errors::InvalidArgumentError for another last axis or dtype
///   gradient  exact, except where channels are equal
TANDEM_API Tensor rgb_to_hsv(const Tensor& x, OpOptions = {});
/// Converts hue, saturation and value to RGB. Otherwise as rgb_to_hsv.
TANDEM_API Tensor hsv_to_rgb(const Tensor& x, OpOptions = {});
/// Converts RGB to NTSC's YIQ or PAL's YUV and back: linear maps, in [0, 1] for Y.
///   x         floating, [..., 3]
///   returns   shape and dtype of x
///   throws    errors::InvalidArgumentError for another last axis or dtype
///   gradient  exact
TANDEM_API Tensor rgb_to_yiq(const Tensor& x, OpOptions = {});
TANDEM_API Tensor yiq_to_rgb(const Tensor& x, OpOptions = {});
TANDEM_API Tensor rgb_to_yuv(const Tensor& x, OpOptions = {});
TANDEM_API Tensor yuv_to_rgb(const Tensor& x, OpOptions = {});
/// Converts sRGB (IEC 61966-2-1) to CIE L*a*b* of the white point D65, in which distances are those that people see:
/// L is in [0, 100], a and b are around 0.
///   x         floating, [..., 3], in [0, 1]; half precision is computed in float32
///   returns   shape and dtype of x
///   throws    errors::InvalidArgumentError for another last axis or dtype
///   gradient  exact
TANDEM_API Tensor rgb_to_lab(const Tensor& x, OpOptions = {});
/// Converts L*a*b* to sRGB; colors that sRGB does not have are outside of [0, 1]. Otherwise as rgb_to_lab.
TANDEM_API Tensor lab_to_rgb(const Tensor& x, OpOptions = {});

namespace impl {
/// Hues in [0, 1), and the least and the largest channel, [..., 1] each. Colors may have any range.
struct HueRange {
  Tensor hue, least, most;
};
TANDEM_API HueRange hue_of(const Tensor& x);
/// The color of hues [..., 1] whose channels reach from 0 to 1, [..., 3].
TANDEM_API Tensor pure_color(const Tensor& hue);
}  // namespace impl

}  // namespace TANDEM_NS::image
