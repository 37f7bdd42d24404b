// Samples of the component tandem::image.
#include "tandem/image.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/hex.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

Tensor picture(Numbers& n, i64 channels, DType dtype = uint8) { return n.whole({5, 6, channels}, 0, 256, dtype); }
// 2 x 1 pixels in 24 bits.
std::string small_bmp() {
  std::string s(62, '\0');
  s[0] = 'B', s[1] = 'M', s[10] = 54, s[14] = 40, s[18] = 2, s[22] = 1, s[26] = 1, s[28] = 24, s[55] = 7;
  return s;
}
std::string small_gif() {
  return testing::from_hex("47494638396101000100810000000000ff000000ff000000ff2c00000000010001000002024c01003b");
}
void decode_picture_calls(Numbers& n) {
  const Tensor jpeg = image::encode_jpeg(picture(n, 3)), png = image::encode_png(picture(n, 4, uint16));
  image::decode_jpeg(jpeg, {.channels = 1, .ratio = 2});
  image::decode_and_crop_jpeg(jpeg, {1, 2, 3, 2});
  image::decode_png(png, {.channels = 3, .dtype = uint16});
  image::decode_image(png);
  image::decode_image(jpeg, {.channels = 3});
  image::decode_bmp(constant(small_bmp()));
  image::decode_gif(constant(small_gif()));
}
void encode_jpeg_calls(Numbers& n) {
  image::encode_jpeg(picture(n, 3), {.quality = 80, .progressive = true});
  image::encode_jpeg(picture(n, 1));
}
void encode_png_calls(Numbers& n) {
  image::encode_png(picture(n, 2));
  image::encode_png(picture(n, 3, uint16), {.compression = 1});
}
void resize_calls(Numbers& n) {
  using image::ResizeMethod;
  for (const bool antialias : {false, true})
    back([&](const Tensor& x) { return image::resize(x, {3, 7}, {.antialias = antialias}); }, n.reals({2, 5, 4, 3}));
  back([](const Tensor& x) { return image::resize(x, {8, 3}, {.method = ResizeMethod::bicubic}); }, n.reals({4, 5, 1}));
  back([](const Tensor& x) { return image::resize(x, {6, 2}, {.method = ResizeMethod::nearest}); }, n.reals({4, 5, 2}));
  image::resize(n.reals({4, 4, 5}), {2, 3}, {.method = ResizeMethod::area, .half_pixel_centers = false});
  image::resize(picture(n, 3), {3, 3}, {.method = ResizeMethod::lanczos3, .antialias = true});
  image::resize(picture(n, 3), {9, 9}, {.method = ResizeMethod::nearest});
}

}  // namespace

tandem::Span<const Sample> image_samples() {
  static const Sample list[] = {
      {"decode_jpeg", decode_picture_calls},  {"decode_and_crop_jpeg", decode_picture_calls},
      {"decode_png", decode_picture_calls},   {"decode_bmp", decode_picture_calls},
      {"decode_image", decode_picture_calls}, {"decode_gif", decode_picture_calls},
      {"encode_jpeg", encode_jpeg_calls},     {"encode_png", encode_png_calls},
      {"image_resize", resize_calls},         {"image_resize_nearest", resize_calls},
      {"image_resize_grad", resize_calls},
  };
  return list;
}

}  // namespace samples::detail
