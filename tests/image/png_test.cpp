// PNG and BMP: round trips, files of other programs, conversions of channels and widths; damaged and hostile bytes.
#include <sys/resource.h>

#include <algorithm>

#include "tandem/function.hpp"
#include "tests/image/pictures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using namespace pictures;
using errors::InvalidArgumentError;
using testing::error_of;
using Words = std::vector<std::uint16_t>;

namespace {

std::string png(const Tensor& x, i64 compression = -1) {
  return text_of(image::encode_png(x, {.compression = compression}));
}
Pixels bytes_of(const Tensor& t) { return t.to_vector<std::uint8_t>(); }

std::string big_endian(std::uint32_t n) {
  std::string r;
  for (int shift = 24; shift >= 0; shift -= 8) r += static_cast<char>(n >> shift & 255);
  return r;
}
std::string chunk(const std::string& type_and_data) {
  std::uint32_t crc = ~0u;
  for (const char c : type_and_data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
  }
  return big_endian(static_cast<std::uint32_t>(type_and_data.size() - 4)) + type_and_data + big_endian(~crc);
}
// 258 n + 1 letters "a", packed by zlib's format into 13 bits for 258 of them.
std::string packed(int n) {
  std::string bits = "11010010001";                     // one block, of fixed codes: 110; "a": 10010001
  for (int i = 0; i < n; ++i) bits += "1100010100000";  // 258 times the byte before
  bits += "0000000";                                    // the end
  std::string r = from_hex("7801");
  for (std::size_t at = 0; at < bits.size(); at += 8) {
    int byte = 0;
    for (std::size_t i = at; i < std::min(at + 8, bits.size()); ++i) byte |= (bits[i] - '0') << (i - at);
    r += static_cast<char>(byte);
  }
  std::uint32_t low = 1, high = 0;
  for (int i = 0; i < 258 * n + 1; ++i) low = (low + 'a') % 65521, high = (high + low) % 65521;
  return r + big_endian(high << 16 | low);
}
std::string with_chunks(const std::string& file, const std::string& chunks) {
  constexpr std::size_t header = 8 + 25;
  return file.substr(0, header) + chunks + file.substr(header);
}
long peak_megabytes() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return use.ru_maxrss / 1024;
}

}  // namespace

TEST_CASE("encode_png, decode_png: a round trip is exact") {
  for (const DType dtype : {uint8, uint16})
    for (i64 channels = 1; channels <= 4; ++channels) {
      CAPTURE(name(dtype), channels);
      const Tensor x = testing::numbered({5, 7, channels}, dtype, dtype == uint16 ? 60000 : 100);
      const Tensor y = image::decode_png(png(x), {.dtype = dtype});
      CHECK(y.spec() == x.spec());
      CHECK(testing::misplaced(y, x, [&](const testing::Index& at) { return testing::place(x.shape(), at); }) == 0);
    }
  CHECK(bytes_of(image::decode_png(png(image_i()))) == colors);
  CHECK(bytes_of(image::decode_image(png(image_i()))) == colors);
  CHECK(png(smooth(60, 60, 3), 9).size() < png(smooth(60, 60, 3), 0).size());
}

TEST_CASE("decode_png: channels and widths are converted") {
  const std::string file = png(image_i());
  // 0.299 R + 0.587 G + 0.114 B, rounded down: 254 R = 75.9, 191 G = 112.1, {3, 108, 233} = 90.9
  CHECK(bytes_of(image::decode_png(file, {.channels = 1})) == Pixels{0, 255, 75, 112, 90, 112, 75, 255, 0});
  const Pixels with_alpha = bytes_of(image::decode_png(file, {.channels = 4}));
  CHECK(with_alpha.size() == 36);
  CHECK(Pixels(with_alpha.end() - 24, with_alpha.end() - 16) == Pixels{0, 191, 0, 255, 3, 108, 233, 255});
  CHECK(bytes_of(image::decode_png(file, {.channels = 2})) ==
        Pixels{0, 255, 255, 255, 75, 255, 112, 255, 90, 255, 112, 255, 75, 255, 255, 255, 0, 255});
  Words wide;
  for (const std::uint8_t c : colors) wide.push_back(static_cast<std::uint16_t>(c * 257));
  CHECK(image::decode_png(file, {.dtype = uint16}).to_vector<std::uint16_t>() == wide);
  CHECK(bytes_of(image::decode_png(png(constant(wide, {.shape = {3, 3, 3}})))) == colors);
  CHECK(bytes_of(image::decode_png(png(constant(Pixels{7, 9}, {.shape = {1, 2, 1}})), {.channels = 3})) ==
        Pixels{7, 7, 7, 9, 9, 9});
}

TEST_CASE("decode_png: files of other programs") {
  CHECK(bytes_of(image::decode_png(palette_png)) == colors);
  CHECK(bytes_of(image::decode_png(one_bit_png)) == Pixels{255, 0, 255, 255, 0, 255, 0, 0});
  CHECK(bytes_of(image::decode_png(transparent_png)) == colors);
  const Pixels clear = bytes_of(image::decode_png(transparent_png, {.channels = 4}));
  Pixels alpha;
  for (std::size_t i = 3; i < clear.size(); i += 4) alpha.push_back(clear[i]);
  CHECK(alpha == Pixels{255, 255, 0, 255, 255, 255, 0, 255, 255});
  CHECK(image::decode_png(interlaced_png, {.dtype = uint16}).to_vector<std::uint16_t>() ==
        Words{1000, 65535, 2000, 0, 300, 32768, 65535, 7});
  CHECK(bytes_of(image::decode_png(interlaced_png)) == Pixels{3, 255, 7, 0, 1, 128, 255, 0});
  CHECK(image::decode_png(interlaced_png, {.channels = 1, .dtype = uint16}).to_vector<std::uint16_t>() ==
        Words{1000, 2000, 300, 65535});
}

TEST_CASE("decode_png: texts and profiles that unpack to gigabytes are skipped") {
  const std::string file = png(image_i()), letters = packed(30000);  // 7.7 MB
  REQUIRE(letters.size() < 50000);
  const std::string text = chunk(std::string("zTXtk\0\0", 7) + letters);
  const std::string international = chunk(std::string("iTXtk\0\1\0\0\0", 10) + letters);
  std::string bomb;
  for (int i = 0; i < 40; ++i) bomb += text + international;
  const long before = peak_megabytes();
  CHECK(bytes_of(image::decode_png(with_chunks(file, bomb))) == colors);
  CHECK(peak_megabytes() - before < 150);  // 600 if they are kept
}

TEST_CASE("decode_png: gray does not depend on a gamma") {
  const std::string file = png(image_i()), linear = with_chunks(file, chunk("gAMA" + big_endian(100000)));
  const std::string dark = with_chunks(file, chunk("gAMA" + big_endian(45455)));
  const Pixels gray = bytes_of(image::decode_png(file, {.channels = 1}));
  CHECK(bytes_of(image::decode_png(linear, {.channels = 1})) == gray);
  CHECK(bytes_of(image::decode_png(dark, {.channels = 1})) == gray);
}

TEST_CASE("decode_png: damaged bytes raise") {
  const std::string file = png(smooth(20, 20, 3));
  for (std::size_t keep = 0; keep < file.size(); keep += 13)
    CHECK_THROWS_AS(image::decode_png(file.substr(0, keep)), InvalidArgumentError);
  std::string flipped = file;
  flipped[file.size() / 2] = static_cast<char>(flipped[file.size() / 2] ^ 4);
  CHECK_THAT(error_of([&] { image::decode_png(flipped); }),
             ContainsSubstring("decode_png: the bytes are not a PNG image"));
  CHECK_THAT(error_of([&] { image::decode_png(file.substr(0, 100)); }), ContainsSubstring("the data ends early"));
  CHECK_THAT(error_of([&] { image::decode_png(file, {.max_pixels = 399}); }), ContainsSubstring("20 x 20 pixels"));
  CHECK_THROWS_AS(image::decode_png(file, {.channels = 5}), InvalidArgumentError);
  CHECK_THROWS_AS(image::decode_png(file, {.dtype = int32}), InvalidArgumentError);
}

TEST_CASE("encode_png: wrong operands") {
  CHECK_THROWS_AS(image::encode_png(zeros({4, 4, 5}, {.dtype = uint8})), InvalidArgumentError);
  CHECK_THROWS_AS(image::encode_png(zeros({4, 4}, {.dtype = uint8})), InvalidArgumentError);
  CHECK_THROWS_AS(image::encode_png(zeros({4, 0, 1}, {.dtype = uint8})), InvalidArgumentError);
  CHECK_THROWS_AS(image::encode_png(zeros({4, 4, 1})), errors::OpError);
  CHECK_THROWS_AS(image::encode_png(image_i(), {.compression = 10}), InvalidArgumentError);
}

TEST_CASE("decode_bmp: 24 bits, palettes, rows from the top; damaged bytes raise") {
  CHECK(bytes_of(image::decode_bmp(bmp)) == colors);
  CHECK(bytes_of(image::decode_image(bmp)) == colors);
  CHECK(bytes_of(image::decode_bmp(palette_bmp)) == colors);
  CHECK(image::decode_bmp(bmp, {.channels = 4}).shape() == Shape{3, 3, 4});
  std::string upside_down = bmp;
  upside_down.replace(22, 4, from_hex("fdffffff"));  // a height of -3
  CHECK(bytes_of(image::decode_bmp(upside_down)) == bytes_of(image::flip_up_down(image_i())));
  for (std::size_t keep = 0; keep < bmp.size() - 2; ++keep)
    CHECK_THROWS_AS(image::decode_bmp(bmp.substr(0, keep)), InvalidArgumentError);
  CHECK_THROWS_AS(image::decode_bmp(bmp, {.channels = 1}), InvalidArgumentError);
  const auto changed = [](std::size_t at, const char* digits) {
    std::string file = bmp;
    const std::string by = from_hex(digits);
    return file.replace(at, by.size(), by);
  };
  CHECK_THAT(error_of([&] { image::decode_bmp(changed(30, "01")); }), ContainsSubstring("compression 1"));
  CHECK_THAT(error_of([&] { image::decode_bmp(changed(28, "10")); }), ContainsSubstring("16 bits per pixel"));
  CHECK_THAT(error_of([&] { image::decode_bmp(changed(18, "ffffff7f")); }), ContainsSubstring("pixels"));
  CHECK_THAT(error_of([&] { image::decode_bmp(changed(22, "00000080")); }), ContainsSubstring("pixels"));
  CHECK_THAT(error_of([&] { image::decode_bmp(changed(10, "ffffffff")); }),
             ContainsSubstring("ends within its pixels"));
}

TEST_CASE("decode_image, try_decode: the format by the first bytes; errors as values") {
  const std::string jpeg = text_of(image::encode_jpeg(smooth(10, 12, 3)));
  CHECK(image::decode_image(jpeg).shape() == Shape{10, 12, 3});
  CHECK(image::decode_image(png(image_i()), {.channels = 1, .dtype = uint16}).spec().dtype == uint16);
  CHECK_THAT(error_of([&] { image::decode_image(jpeg, {.dtype = uint16}); }), ContainsSubstring("only PNG"));
  CHECK_THAT(error_of([] { image::decode_image("RIFF9a"); }),
             ContainsSubstring("do not begin as JPEG, PNG, BMP or GIF"));
  const image::TryDecoded good = image::try_decode(bmp), broken = image::try_decode(jpeg.substr(0, 200));
  CHECK(good.ok());
  CHECK(bytes_of(good.image) == colors);
  CHECK(!broken.ok());
  CHECK(!broken.image.is_set());
  CHECK_THAT(broken.error, ContainsSubstring("decode_image") || ContainsSubstring("decode_jpeg"));
}

TEST_CASE("decode_png, encode_png: in a traced function") {
  const auto f = function([](const Tensor& bytes) { return image::decode_image(bytes, {.channels = 3}); });
  CHECK(bytes_of(f(image::encode_png(image_i()))) == colors);
  CHECK(f(image::encode_jpeg(smooth(9, 8, 3))).shape() == Shape{9, 8, 3});
}
