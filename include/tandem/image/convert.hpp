// Images of other dtypes. Part of the component tandem::image.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::image {

struct ConvertImageDtypeOptions {
  TANDEM_OP_OPTIONS;
  bool saturate = false;  ///< no effect: what is out of range is clamped in any case, never wrapped around
};
/// Converts an image to another dtype and scales its values: integers use [0, max], floating numbers [0, 1]. To
/// integers: x * (max + 1/2), rounded toward zero and clamped. Between integers: divided or multiplied by a power of 2.
///   x         real numbers, any shape
///   returns   `dtype`, shape of x
///   throws    errors::InvalidArgumentError if either dtype is not one of real numbers
///   gradient  between floating dtypes: g; otherwise none
TANDEM_API Tensor convert_image_dtype(const Tensor& x, DType dtype, ConvertImageDtypeOptions = {});

}  // namespace TANDEM_NS::image
