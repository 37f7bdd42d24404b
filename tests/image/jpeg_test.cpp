// JPEG: what is written can be read, options, parts, orientation, CMYK; truncated and hostile bytes.
#include "tandem/function.hpp"
#include "tests/image/pictures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using namespace pictures;
using errors::InvalidArgumentError;
using testing::error_of;

namespace {

std::string jpeg(const Tensor& x, image::EncodeJpegOptions o = {}) { return text_of(image::encode_jpeg(x, o)); }
// With an APP1 segment of EXIF data that holds an orientation, in either byte order.
std::string oriented(const std::string& file, int orientation, bool big) {
  const std::string n = from_hex("0" + std::to_string(orientation));
  std::string exif = from_hex("457869660000");
  exif += big ? from_hex(
                    "4d4d002a00000008"
                    "0001"
                    "0112"
                    "0003"
                    "00000001"
                    "00") +
                    n +
                    from_hex(
                        "0000"
                        "00000000")
              : from_hex(
                    "49492a0008000000"
                    "0100"
                    "1201"
                    "0300"
                    "01000000") +
                    n +
                    from_hex(
                        "000000"
                        "00000000");
  const std::size_t size = exif.size() + 2;
  return file.substr(0, 2) + from_hex("ffe1") + static_cast<char>(size >> 8) + static_cast<char>(size & 255) + exif +
         file.substr(2);
}

}  // namespace

TEST_CASE("encode_jpeg, decode_jpeg: a picture comes back nearly the same") {
  const Tensor x = smooth(40, 57, 3), gray = smooth(40, 57, 1);
  for (const bool progressive : {false, true})
    for (const bool downsampling : {false, true}) {
      const std::string file =
          jpeg(x, {.progressive = progressive, .optimize_size = true, .chroma_downsampling = downsampling});
      const Tensor y = image::decode_jpeg(file);
      CHECK(y.spec() == x.spec());
      CHECK(psnr(x, y) > (downsampling ? 40 : 45));
      CHECK(image::extract_jpeg_shape(file).to_vector<std::int32_t>() == std::vector<std::int32_t>{40, 57, 3});
    }
  CHECK(psnr(gray, image::decode_jpeg(jpeg(gray))) > 45);
  CHECK(jpeg(x, {.quality = 30}).size() < jpeg(x).size());
  CHECK(jpeg(x, {.chroma_downsampling = false}).size() > jpeg(x).size());
  CHECK(jpeg(x, {.optimize_size = true}).size() < jpeg(x).size());
  CHECK(psnr(x, image::decode_jpeg(jpeg(x, {.quality = 10}))) < psnr(x, image::decode_jpeg(jpeg(x))));
}

TEST_CASE("encode_jpeg: the density stands in the header") {
  const std::string file =
      jpeg(smooth(8, 8, 1), {.density_unit = image::DensityUnit::cm, .x_density = 118, .y_density = 300});
  CHECK(file.substr(6, 5) == std::string("JFIF\0", 5));
  CHECK(file.substr(13, 5) == from_hex("020076012c"));
}

TEST_CASE("decode_jpeg: channels, ratio, upscaling, transforms") {
  const std::string file = jpeg(smooth(40, 57, 3)), gray = jpeg(smooth(40, 57, 1));
  CHECK(image::decode_jpeg(file, {.channels = 1}).shape() == Shape{40, 57, 1});
  const Tensor colored = image::decode_jpeg(gray, {.channels = 3});
  CHECK(colored.shape() == Shape{40, 57, 3});
  CHECK(psnr(colored, image::grayscale_to_rgb(image::decode_jpeg(gray))) == INFINITY);
  for (const i64 ratio : {2, 4, 8})
    CHECK(image::decode_jpeg(file, {.ratio = ratio}).shape() == Shape{40 / ratio, (57 + ratio - 1) / ratio, 3});
  const Tensor x = image::decode_jpeg(file);
  const Tensor plain = image::decode_jpeg(file, {.fancy_upscaling = false});
  CHECK(psnr(x, plain) < INFINITY);
  CHECK(psnr(x, plain) > 35);
  CHECK(psnr(x, image::decode_jpeg(file, {.dct_method = image::DctMethod::integer_fast})) > 40);
  CHECK_THROWS_AS(image::decode_jpeg(file, {.ratio = 3}), InvalidArgumentError);
  CHECK_THROWS_AS(image::decode_jpeg(file, {.channels = 2}), InvalidArgumentError);
  CHECK_THROWS_AS(image::decode_jpeg(file, {.acceptable_fraction = 1.5}), InvalidArgumentError);
}

TEST_CASE("decode_and_crop_jpeg: the same pixels as decoding all of it") {
  for (const bool downsampling : {false, true})
    for (const bool progressive : {false, true}) {
      const std::string file =
          jpeg(smooth(150, 300, 3), {.progressive = progressive, .chroma_downsampling = downsampling});
      const Tensor all = image::decode_jpeg(file);
      for (const image::Window w : {image::Window{0, 0, 150, 300},
                                    {0, 16, 10, 20},
                                    {33, 127, 50, 100},
                                    {149, 299, 1, 1},
                                    {16, 0, 16, 300},
                                    {15, 200, 135, 100},
                                    {7, 64, 9, 64}}) {
        CAPTURE(downsampling, progressive, w[0], w[1], w[2], w[3]);
        const Tensor part = image::decode_and_crop_jpeg(file, w);
        const Tensor expected = image::crop_to_bounding_box(all, w[0], w[1], w[2], w[3]);
        CHECK(part.shape() == expected.shape());
        CHECK(part.to_vector<std::uint8_t>() == expected.to_vector<std::uint8_t>());
      }
      for (const image::Window w : {image::Window{0, 0, 151, 10},
                                    {0, 0, 0, 10},
                                    {-1, 0, 5, 5},
                                    {10, 290, 5, 11},
                                    {0, 0, i64(1) << 62, 5},
                                    {i64(1) << 62, 0, i64(1) << 62, 5}})
        CHECK_THAT(error_of([&] { image::decode_and_crop_jpeg(file, w); }),
                   ContainsSubstring("is not inside of the image of 150 x 300 pixels"));
    }
}

TEST_CASE("decode_jpeg: orientation, if asked for") {
  // The number of the quadrant that lies at the top left, top right, bottom left, bottom right.
  Pixels pixels;
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 48; ++x) pixels.push_back(static_cast<std::uint8_t>(40 + 60 * (y / 16 * 2 + x / 24)));
  const std::string file = jpeg(constant(pixels, {.shape = {32, 48, 1}}));
  const int expected[8][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {3, 2, 1, 0}, {2, 3, 0, 1},
                              {0, 2, 1, 3}, {2, 0, 3, 1}, {3, 1, 2, 0}, {1, 3, 0, 2}};
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const bool big : {false, true}) {
      CAPTURE(orientation, big);
      const std::string turned = oriented(file, orientation, big);
      const Tensor y = image::decode_jpeg(turned, {.orient = true});
      REQUIRE(y.shape() == (orientation > 4 ? Shape{48, 32, 1} : Shape{32, 48, 1}));
      const i64 h = y.shape()[0], w = y.shape()[1];
      const i64 corners[4][2] = {{2, 2}, {2, w - 3}, {h - 3, 2}, {h - 3, w - 3}};
      for (int k = 0; k < 4; ++k) {
        const int value = y.at<std::uint8_t>({corners[k][0], corners[k][1], 0});
        CHECK((value - 40 + 30) / 60 == expected[orientation - 1][k]);
      }
      CHECK(image::decode_jpeg(turned).to_vector<std::uint8_t>() == image::decode_jpeg(file).to_vector<std::uint8_t>());
    }
  CHECK(image::decode_jpeg(oriented(file, 9, true), {.orient = true}).shape() == Shape{32, 48, 1});
  CHECK_THROWS_AS(image::decode_and_crop_jpeg(file, {0, 0, 5, 5}, {.orient = true}), InvalidArgumentError);
}

TEST_CASE("decode_jpeg: CMYK becomes RGB, and is refused for gray by name") {
  const Tensor x = image::decode_jpeg(cmyk_jpeg);  // (255 - 10) * (255 - 30) / 255 = 216, ...
  CHECK(x.to_vector<std::uint8_t>() == Pixels{216, 48, 136, 216, 48, 136, 216, 48, 136, 216, 48, 136});
  CHECK_THAT(error_of([] { image::decode_jpeg(cmyk_jpeg, {.channels = 1}); }), ContainsSubstring("CMYK"));
}

TEST_CASE("decode_jpeg: truncated files raise, or are filled if that is asked for") {
  const Tensor x = smooth(120, 100, 3);
  for (const bool progressive : {false, true}) {
    const std::string file = jpeg(x, {.progressive = progressive});
    for (const std::size_t keep : {std::size_t(0), std::size_t(2), std::size_t(100), file.size() / 2, file.size() - 3})
      CHECK_THROWS_AS(image::decode_jpeg(file.substr(0, keep)), InvalidArgumentError);
    const std::string most = file.substr(0, file.size() * 3 / 4);
    CHECK_THAT(error_of([&] { image::decode_jpeg(most); }), ContainsSubstring(".try_recover_truncated"));
    const Tensor y = image::decode_jpeg(most, {.try_recover_truncated = true, .acceptable_fraction = 0.4});
    CHECK(y.shape() == x.shape());
    if (!progressive)
      CHECK(psnr(image::crop_to_bounding_box(x, 0, 0, 40, 100), image::crop_to_bounding_box(y, 0, 0, 40, 100)) > 38);
    CHECK_THAT(error_of([&] {
                 image::decode_jpeg(file.substr(0, file.size() / 2),
                                    {.try_recover_truncated = true, .acceptable_fraction = progressive ? 1.0 : 0.9});
               }),
               progressive ? ContainsSubstring("no error") : ContainsSubstring("acceptable_fraction"));
  }
}

TEST_CASE("decode_jpeg: recovery alone takes whatever is there; a lost end mark is all of it") {
  for (const bool progressive : {false, true})
    for (const i64 height : {8, 120}) {
      CAPTURE(progressive, height);
      const std::string file = jpeg(smooth(height, 100, 3), {.progressive = progressive});
      const Pixels all = image::decode_jpeg(file).to_vector<std::uint8_t>();
      const std::string unmarked = file.substr(0, file.size() - 2);
      CHECK_THAT(error_of([&] { image::decode_jpeg(unmarked); }), ContainsSubstring("after 100 % of the lines"));
      CHECK(image::decode_jpeg(unmarked, {.try_recover_truncated = true, .acceptable_fraction = 1})
                .to_vector<std::uint8_t>() == all);
      if (progressive && height == 8) continue;  // which is mostly tables, within which it cannot end
      const std::size_t pixels = file.find(from_hex("ffda")) + 14;
      for (const std::size_t keep : {pixels, pixels + 40, (pixels + file.size()) / 2, file.size() - 50})
        CHECK(image::decode_jpeg(file.substr(0, keep), {.try_recover_truncated = true}).shape() ==
              Shape{height, 100, 3});
    }
}

TEST_CASE("decode_jpeg: acceptable_fraction counts the lines that are there, also of a part") {
  const std::string file = jpeg(smooth(160, 64, 1)), half = file.substr(0, file.size() * 6 / 10);
  const auto decode = [&](double fraction) {
    return image::decode_jpeg(half, {.try_recover_truncated = true, .acceptable_fraction = fraction});
  };
  CHECK(decode(.4).shape() == Shape{160, 64, 1});
  CHECK_THAT(error_of([&] { decode(.7); }), ContainsSubstring(".acceptable_fraction asks for more"));
  const auto part = [&](i64 top) {
    return image::decode_and_crop_jpeg(half, {top, 0, 40, 64},
                                       {.try_recover_truncated = true, .acceptable_fraction = .9});
  };
  CHECK(part(20).shape() == Shape{40, 64, 1});
  CHECK_THROWS_AS(part(120), InvalidArgumentError);
}

TEST_CASE("decode_jpeg: pixels that are damaged but complete are decoded") {
  const Tensor x = smooth(120, 100, 3);
  const std::string file = jpeg(x);
  std::string damaged = file;  // a marker amid the pixels: all behind it is lost
  damaged.replace(file.size() * 3 / 4, 2, from_hex("ffd9"));
  const Tensor y = image::decode_jpeg(damaged);
  CHECK(y.shape() == x.shape());
  CHECK(psnr(image::crop_to_bounding_box(x, 0, 0, 40, 100), image::crop_to_bounding_box(y, 0, 0, 40, 100)) > 38);
}

TEST_CASE("decode_jpeg: bytes that are not an image, and images that are too large") {
  CHECK_THAT(error_of([] { image::decode_jpeg("hello"); }), ContainsSubstring("decode_jpeg: the bytes are not a JPEG"));
  CHECK_THAT(error_of([] { image::decode_jpeg(""); }), ContainsSubstring("decode_jpeg"));
  std::string file = jpeg(smooth(16, 16, 1));
  const std::size_t size = file.find(from_hex("ffc0")) + 5;
  file.replace(size, 4, from_hex("ffdcffdc"));  // 65500 x 65500 pixels
  CHECK_THAT(error_of([&] { image::decode_jpeg(file); }), ContainsSubstring("more than 67108864"));
  CHECK_THAT(error_of([&] { image::decode_jpeg(jpeg(smooth(16, 16, 1)), {.max_pixels = 255}); }),
             ContainsSubstring("16 x 16 pixels, more than 255"));
  CHECK(image::is_jpeg(file));
  CHECK(!image::is_jpeg("GIF89a"));
  CHECK_THROWS_AS(image::extract_jpeg_shape("GIF89a"), InvalidArgumentError);
  CHECK_THROWS_AS(image::decode_jpeg(constant({"a", "b"})), InvalidArgumentError);
}

TEST_CASE("encode_jpeg: wrong operands") {
  CHECK_THROWS_AS(image::encode_jpeg(smooth(4, 4, 2)), InvalidArgumentError);
  CHECK_THROWS_AS(image::encode_jpeg(smooth(4, 4, 4)), InvalidArgumentError);
  CHECK_THROWS_AS(image::encode_jpeg(zeros({4, 4})), errors::OpError);
  CHECK_THROWS_AS(image::encode_jpeg(zeros({0, 4, 3}, {.dtype = uint8})), InvalidArgumentError);
  CHECK_THROWS_AS(image::encode_jpeg(zeros({1, 65501, 1}, {.dtype = uint8})), InvalidArgumentError);
  CHECK_THROWS_AS(image::encode_jpeg(smooth(4, 4, 3), {.quality = 101}), InvalidArgumentError);
  CHECK_THROWS_AS(image::encode_jpeg(smooth(4, 4, 3), {.x_density = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(image::encode_jpeg(smooth(4, 4, 3), {.format = image::JpegFormat::grayscale}), InvalidArgumentError);
}

TEST_CASE("decode_jpeg, encode_jpeg: in a traced function") {
  const auto f = function([](const Tensor& bytes) { return image::decode_jpeg(bytes, {.channels = 3}); });
  for (const i64 n : {17, 24}) {
    const Tensor bytes = image::encode_jpeg(smooth(n, 30, 3));
    CHECK(f(bytes).to_vector<std::uint8_t>() == image::decode_jpeg(bytes).to_vector<std::uint8_t>());
  }
  const auto g = function([](const Tensor& x) { return image::encode_jpeg(x); });
  CHECK(text_of(g(smooth(20, 20, 3))) == jpeg(smooth(20, 20, 3)));
}

TEST_CASE("photographs: the pixels of TensorFlow, and 35 dB after quality 95") {
  struct Photograph {
    const char* name;
    Shape shape;
    i64 sum, small_sum, gray_sum;  // of tf.io.decode_jpeg's pixels; with ratio 4; with channels 1
  };
  for (const Photograph& p : {Photograph{"airplane_from_above.jpg", {717, 1024, 3}, 192621160, 12080745, 65593487},
                              Photograph{"alpine_landscape.jpg", {484, 1024, 3}, 125932514, 7870951, 43282429}}) {
    const std::string file = photograph(p.name);
    if (file.empty()) TANDEM_SKIP("no photographs beside the project");
    const auto sum = [](const Tensor& t) { return reduce_sum(cast(t, int64)).item<i64>(); };
    const Tensor x = image::decode_jpeg(file);
    CHECK(x.shape() == p.shape);
    CHECK(sum(x) == p.sum);
    CHECK(sum(image::decode_jpeg(file, {.ratio = 4})) == p.small_sum);
    CHECK(sum(image::decode_jpeg(file, {.channels = 1})) == p.gray_sum);
    CHECK(psnr(x, image::decode_jpeg(jpeg(x))) >= 35);
    CHECK(psnr(image::decode_resize_jpeg(file, {224, 224}), image::resize(x, {224, 224}, {.antialias = true})) >= 35);
  }
}
