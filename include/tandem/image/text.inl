// Definitions of image/text.hpp.
#pragma once
#include <algorithm>

#include "tandem/core/scope.hpp"
#include "tandem/image/convert.hpp"
#include "tandem/image/font.hpp"
#include "tandem/image/text.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/compare.hpp"

namespace TANDEM_NS::image {

namespace impl {

// The pixels that a text covers, bool_ [height, width, 1].
class TextMask {
 public:
  TextMask(const Size& size, i64 scale)
      : size_(size), scale_(scale), mask_(Tensor::allocate({{size[0], size[1], 1}, DType::bool_, {}})) {
    std::fill_n(static_cast<bool*>(mask_.raw()), mask_.size(), false);
  }
  void write(std::string_view text, i64 y, i64 x) {
    i64 at = x;
    for (const char c : text) {
      if (c == '\n') {
        y += glyph_size * scale_, at = x;
      } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {  // the first byte of a character
        draw(c, y, at);
        at += glyph_size * scale_;
      }
    }
  }
  const Tensor& tensor() const { return mask_; }

 private:
  void draw(char c, i64 y, i64 x) {
    if (y >= size_[0] || x >= size_[1] || y + glyph_size * scale_ <= 0 || x + glyph_size * scale_ <= 0) return;
    for (int row = 0; row < glyph_size; ++row)
      for (int column = 0; column < glyph_size; ++column)
        if (has_ink(c, row, column)) fill_square(y + row * scale_, x + column * scale_);
  }
  void fill_square(i64 y, i64 x) {
    const i64 left = std::clamp<i64>(x, 0, size_[1]), right = std::clamp<i64>(x + scale_, 0, size_[1]);
    for (i64 row = std::max<i64>(y, 0); row < std::min(y + scale_, size_[0]); ++row)
      std::fill_n(static_cast<bool*>(mask_.raw()) + row * size_[1] + left, right - left, true);
  }
  Size size_;
  i64 scale_;
  Tensor mask_;
};

}  // namespace impl

TANDEM_INLINE Tensor draw_text(const Tensor& image, std::string_view text, i64 y, i64 x, const DrawTextOptions& o) {
  constexpr const char* op = "draw_text";
  const tandem::detail::CallSite call(o, op);
  const Size size = impl::known_size(op, image);
  if (!is_floating(image.dtype()) && !is_integer(image.dtype()))
    impl::raise(op, "the image must be real numbers, not " + to_string(image.spec()));
  constexpr i64 most = i64{1} << 30;
  if (o.scale < 1 || o.scale > most) impl::raise(op, "scale must be positive, not " + std::to_string(o.scale));
  if (std::min(y, x) < -most || std::max(y, x) > most)
    impl::raise(op, "a corner at " + std::to_string(y) + ", " + std::to_string(x) + " is too far away");
  if (!o.color.empty() && static_cast<i64>(o.color.size()) != image.shape().dim(-1))
    impl::raise(op, "needs a color for each channel, but has " + std::to_string(o.color.size()) + ": " +
                        to_string(image.spec()));
  const Tensor color =
      o.color.empty() ? convert_image_dtype(constant(1.f), image.dtype()) : constant(o.color, {.dtype = image.dtype()});
  impl::TextMask mask(size, o.scale);
  mask.write(text, y, x);
  return where(mask.tensor(), color, image, {o.name, o.where});
}

}  // namespace TANDEM_NS::image
