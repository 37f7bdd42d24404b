// Definitions of image/shapes.hpp.
#pragma once
#include "tandem/image/convert.hpp"
#include "tandem/image/shapes.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::image::impl {

TANDEM_INLINE void check_rank(const char* op, const Tensor& x) {
  if (x.rank() != 3 && x.rank() != 4)
    raise(op, "x must be [height, width, channels] or [n, height, width, channels], not " + to_string(x.spec()));
}
TANDEM_INLINE void check_rgb(const char* op, const Tensor& x) {
  const i64 channels = x.rank() ? x.shape().dim(-1) : 1;
  if (channels != 3 && channels != none) raise(op, "the last axis must have 3 channels: " + to_string(x.spec()));
}
TANDEM_INLINE void check_positive(const char* op, i64 height, i64 width) {
  if (height < 1 || width < 1)
    raise(op, "height and width must be positive, not " + std::to_string(height) + " and " + std::to_string(width));
}
TANDEM_INLINE void check_between(const char* op, const char* what, double value, double low, double high) {
  if (!(value >= low && value <= high))
    raise(op, std::string(what) + " must be in [" + tandem::detail::shortest_text(low) + ", " +
                  tandem::detail::shortest_text(high) + "], not " + tandem::detail::shortest_text(value));
}
TANDEM_INLINE Size known_size(const char* op, const Tensor& x) {
  check_rank(op, x);
  const Size size{x.shape().dim(-3), x.shape().dim(-2)};
  if (size[0] == none || size[1] == none)
    raise(op, "needs to know height and width, which this trace does not: " + to_string(x.spec()) +
                  " (call ensure_shape before, or give the signature sizes)");
  return size;
}
TANDEM_INLINE Tensor as_floats(const char* op, const Tensor& x) {
  if (dtypes::floating.has(x.dtype())) return x;
  if (!is_floating(x.dtype()) && !is_integer(x.dtype()))
    raise(op, "x must be real numbers, not " + to_string(x.spec()));
  return convert_image_dtype(x, DType::float32);
}
TANDEM_INLINE Tensor from_floats(const Tensor& x, DType dtype, const OpOptions& o) {
  return convert_image_dtype(x, dtype, {o.name, o.where, true});
}
TANDEM_INLINE Tensor draw(const char* op, double low, double high, const RandomOptions& o) {
  if (!(low < high))
    raise(op, "the lower bound " + tandem::detail::shortest_text(low) + " must be below the upper bound " +
                  tandem::detail::shortest_text(high));
  return random::uniform(Shape{}, {.minval = low, .maxval = high, .seed = o.seed, .generator = o.generator});
}

}  // namespace TANDEM_NS::image::impl
