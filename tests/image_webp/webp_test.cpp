// WebP: round trips, files of other programs, options; damaged and hostile bytes.
#include "tandem/function.hpp"
#include "tandem/image_webp.hpp"
#include "tandem/tensor.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/hex.hpp"

namespace image_webp_webp_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using errors::InvalidArgumentError;
using testing::error_of, testing::from_hex;
using Pixels = std::vector<std::uint8_t>;

/// 2 x 3 pixels in RGB with alpha, without loss (Pillow).
const std::string lossless = from_hex(
    "524946464c000000574542505650384c3f0000002f024000102f40906dd3f9939ee21a0492365bff2cebf0644741da06ccae7fc563049236ac"
    "f942bdc6239d077007f7b617cdda402040192b8e1825a2ff315f00");
const Pixels lossless_pixels{0,   0, 0, 255, 255, 255, 255, 128, 254, 0, 0,   0,
                             191, 0, 3, 1,   108, 233, 0,   254, 191, 0, 254, 77};
/// 8 x 9 pixels in RGB (Pillow).
const std::string lossy = from_hex(
    "524946465c0000005745425056503820500000003002009d012a0900080000c01225a80274ba00035fbccb7b896000feff76151e46c4bc1b36"
    "75839d7791ae493a2fc1f8c06ed0cf14dffff0d7fe3713cccbff8571ffe370375ff87effe112bdc0400000");
/// Two frames of 4 x 4 pixels (Pillow).
const std::string animation = from_hex(
    "52494646c400000057454250565038580a00000002000000030000030000414e494d06000000000000000000414e4d464a0000000000000000"
    "0003"
    "00000300000000000000565038203200000030"
    "01009d012a0400040001402625a000037000fef2eb7ffff9b03ff6f3ff047a01ffffd2e0fffe9707fff4b83ff4a4000000414e4d4646000000"
    "00000000000003000003000000000000565038202e0000003401009d012a0400040000002625a000037000fefb55e3ffff4b83fffa5c1fffd2"
    "e0ffd2e0fffad5e557acaba000");

Tensor gradient(i64 height, i64 width, i64 channels) {
  return cast(reshape(range(height * width * channels) % 251, {height, width, channels}), uint8);
}
std::string webp(const Tensor& x, image::EncodeWebpOptions o = {}) {
  return image::encode_webp(x, o).item<std::string>();
}
Pixels bytes_of(const Tensor& t) { return t.to_vector<std::uint8_t>(); }
std::string refusal(const std::string& bytes, image::DecodeWebpOptions o = {}) {
  return error_of<InvalidArgumentError>([&] { image::decode_webp(bytes, o); });
}

TEST_CASE("WebP: files of Pillow") {
  const Tensor exact = image::decode_webp(lossless);
  CHECK(exact.shape() == Shape{2, 3, 4});
  CHECK(bytes_of(exact) == lossless_pixels);
  const Tensor rgb = image::decode_webp(lossless, {.channels = 3});
  CHECK(rgb.shape() == Shape{2, 3, 3});
  CHECK(bytes_of(rgb) == Pixels{0, 0, 0, 255, 255, 255, 254, 0, 0, 191, 0, 3, 108, 233, 0, 191, 0, 254});
  const Tensor soft = image::decode_webp(lossy);  // dwebp's numbers
  CHECK(soft.shape() == Shape{8, 9, 3});
  const Pixels pixels = bytes_of(soft);
  CHECK(Pixels(pixels.begin(), pixels.begin() + 12) == Pixels{2, 0, 4, 20, 2, 15, 50, 5, 29, 77, 4, 42});
  CHECK(reduce_sum(cast(soft, int64)).item<i64>() == 24325);
  const Tensor with_alpha = image::decode_webp(constant(lossy), {.channels = 4});  // a string scalar
  CHECK(with_alpha.shape() == Shape{8, 9, 4});
  for (const std::uint8_t a : bytes_of(slice(with_alpha, {0, 0, 3}, {8, 9, 1}))) CHECK(a == 255);
}

TEST_CASE("WebP: round trips without loss, and with little") {
  for (const i64 channels : {3, 4})
    for (const i64 width : {1, 16, 57}) {
      const Tensor x = gradient(31, width, channels);
      for (const i64 method : {0, 6})
        CHECK(bytes_of(image::decode_webp(webp(x, {.lossless = true, .method = method}))) == bytes_of(x));
      CHECK(bytes_of(image::decode_webp(webp(x, {.lossless = true, .quality = 0}))) == bytes_of(x));
    }
  const Tensor y = reshape(range(40), {40, 1, 1}), x = reshape(range(60), {1, 60, 1}), c = reshape(range(3), {1, 1, 3});
  const Tensor soft = cast((y * 2 + x * 2 + c * 10), uint8);
  const std::string good = webp(soft, {.quality = 95}), coarse = webp(soft, {.quality = 5});
  CHECK(coarse.size() < good.size());
  CHECK(image::psnr(image::decode_webp(good), soft, 255).item<float>() > 35);
  CHECK(image::is_webp(good));
  CHECK(!image::is_webp("RIFF"));
  CHECK(!image::is_webp("RIFF....WAVE"));
}

TEST_CASE("WebP: what is refused when writing") {
  const auto refused = [](const Tensor& x, image::EncodeWebpOptions o = {}) {
    return error_of<InvalidArgumentError>([&] { image::encode_webp(x, o); });
  };
  CHECK_THAT(refused(gradient(2, 2, 1)), ContainsSubstring("encode_webp: x must be uint8, [height, width, 3 or 4]"));
  CHECK_THAT(refused(zeros({2, 2, 3})), ContainsSubstring("float32[2,2,3]"));
  CHECK_THAT(refused(zeros({2, 3}, {.dtype = uint8})), ContainsSubstring("x must be uint8"));
  CHECK_THAT(refused(zeros({0, 2, 3}, {.dtype = uint8})), ContainsSubstring("1 to 16383"));
  CHECK_THAT(refused(zeros({1, 16384, 3}, {.dtype = uint8})), ContainsSubstring("1 to 16383"));
  CHECK_THAT(refused(gradient(2, 2, 3), {.quality = 101}), ContainsSubstring("quality must be 0 to 100"));
  CHECK_THAT(refused(gradient(2, 2, 3), {.quality = std::nan("")}), ContainsSubstring("quality must be"));
  CHECK_THAT(refused(gradient(2, 2, 3), {.method = 7}), ContainsSubstring("method must be 0 to 6, not 7"));
  CHECK(image::decode_webp(webp(gradient(1, 16383, 3), {.method = 0})).shape() == Shape{1, 16383, 3});
}

TEST_CASE("WebP: what is refused when reading") {
  CHECK_THAT(refusal("GIF89a"), ContainsSubstring("decode_webp: the 6 bytes are not a WebP image"));
  CHECK_THAT(refusal(animation), ContainsSubstring("the WebP image is an animation"));
  CHECK_THAT(refusal(lossless, {.max_pixels = 5}), ContainsSubstring("2 x 3 pixels, more than 5 (raise .max_pixels"));
  CHECK(image::decode_webp(lossless, {.max_pixels = 6}).size() == 24);
  CHECK_THAT(refusal(lossless, {.channels = 1}), ContainsSubstring("channels must be 0, 3 or 4, not 1"));
  CHECK_THAT(refusal(lossless, {.max_pixels = 0}), ContainsSubstring("max_pixels must be positive"));
  CHECK_THAT(error_of<InvalidArgumentError>([] { image::decode_image(lossy); }),
             ContainsSubstring("a WebP image: image::decode_webp of the component tandem::image_webp decodes it"));
  CHECK_THAT(image::try_decode(lossless).error, ContainsSubstring("image_webp"));
  const auto traced = function([](const Tensor& bytes) { return image::decode_webp(bytes); });
  CHECK_THROWS_AS(traced(constant(lossy)), errors::TraceError);
  const auto encoded = function([](const Tensor& x) { return image::encode_webp(x); });
  CHECK_THROWS_AS(encoded(gradient(2, 2, 3)), errors::TraceError);
}

TEST_CASE("WebP: truncated and damaged files are refused, or decoded to their size") {
  for (const std::string& file : {lossless, lossy, webp(gradient(20, 20, 4)), webp(gradient(33, 20, 3))}) {
    for (std::size_t n = 0; n + 2 < file.size(); ++n) {
      INFO(n << " of " << file.size() << " bytes");
      CHECK(!refusal(file.substr(0, n)).empty());
    }
    CHECK_THAT(refusal(file.substr(0, file.size() / 2)), ContainsSubstring("the WebP image ends early"));
    for (std::size_t i = 12; i < file.size(); ++i)
      for (const char change : {'\x01', '\x80', '\xff'}) {
        std::string damaged = file;
        damaged[i] = static_cast<char>(damaged[i] ^ change);
        try {
          const Tensor x = image::decode_webp(damaged, {.max_pixels = 1 << 20});
          CHECK(x.size() > 0);
        } catch (const InvalidArgumentError& e) {
          CHECK_THAT(e.what(), ContainsSubstring("decode_webp: the "));
        }
      }
  }
}

TEST_CASE("WebP: a header that promises much is refused before memory is allocated") {
  // VP8X says 16,777,216 x 1 pixels; VP8L 16,384 x 16,384.
  const std::string canvas = from_hex("524946461e00000057454250565038580a00000000000000ffffff000000");
  CHECK(!refusal(canvas + std::string(40, '\0')).empty());
  const std::string large = from_hex("524946461a000000574542505650384c0d0000002fffffff0f") + std::string(9, '\0');
  CHECK_THAT(refusal(large), ContainsSubstring("16384 x 16384 pixels, more than 67108864"));
}

}  // namespace image_webp_webp_test
