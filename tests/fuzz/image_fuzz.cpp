// libFuzzer target: any bytes given to the decoders of tandem::image are decoded or refused by InvalidArgumentError.
// The first byte of an input says what the others are: a file, or changes of a good one; and with which options it is
// read.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tandem/image.hpp"
#include "tandem/tensor.hpp"
#include "tests/support/hex.hpp"

namespace {

using namespace tandem;

constexpr i64 most = 1 << 16;  // pixels

template <class F>
void attempt(const F& f) {
  try {
    f();
  } catch (const errors::InvalidArgumentError&) {
  }
}
std::string changed(std::string s, const std::string& changes) {
  for (std::size_t i = 0; i + 2 < changes.size(); i += 3) {
    const auto at = static_cast<unsigned char>(changes[i]) * 256u + static_cast<unsigned char>(changes[i + 1]);
    s[at % s.size()] = changes[i + 2];
  }
  return s;
}
// A GIF of four frames: interlaced; transparent in part, and erased; restored.
std::string animation() {
  return testing::from_hex(
      "47494638396104000200810000000000ff000000ff000000ff2c00000000040002004002058c3830e2500021f90409000001"
      "002c01000000020002000002038cb8140021f9040c000000002c0000010003000100000203dca802002c02000000010001000002024c0100"
      "3b");
}
std::string good(unsigned format) {
  const Tensor x = cast(reshape(range(12 * 17 * 3) % 251, {12, 17, 3}), uint8);
  if (format == 0) return image::encode_jpeg(x).item<std::string>();
  if (format == 1) return image::encode_jpeg(x, {.progressive = true}).item<std::string>();
  if (format == 3) return animation();
  return image::encode_png(x, {.compression = 0}).item<std::string>();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!size) return 0;
  static const std::string files[] = {good(0), good(1), good(2), good(3)};
  const unsigned kind = data[0], options = kind >> 3;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (kind % 8 < 3) bytes = changed(files[kind % 8], bytes);
  else if (kind % 8 == 3) bytes = "BM" + bytes;
  else if (kind % 8 == 4) bytes = changed(files[3], bytes);
  else if (kind % 8 == 5) bytes = files[3].substr(0, 25) + bytes;  // a header, and any frames
  const bool odd = options & 1;
  attempt([&] { image::decode_image(bytes, {.channels = odd ? 3 : 0, .max_pixels = most}); });
  attempt([&] {
    image::decode_jpeg(bytes, {.ratio = odd ? 4 : 1,
                               .fancy_upscaling = odd,
                               .try_recover_truncated = (options & 2) != 0,
                               .acceptable_fraction = 0,
                               .orient = (options & 4) != 0,
                               .max_pixels = most});
  });
  attempt([&] { image::decode_and_crop_jpeg(bytes, {1, 2, 5, 7}, {.max_pixels = most}); });
  attempt(
      [&] { image::decode_png(bytes, {.channels = options % 5, .dtype = odd ? uint16 : uint8, .max_pixels = most}); });
  attempt([&] { image::decode_bmp(bytes, {.channels = odd ? 3 : 0, .max_pixels = most}); });
  attempt([&] { image::decode_gif(bytes, {.max_pixels = most}); });
  attempt([&] { image::extract_jpeg_shape(bytes); });
  return 0;
}
