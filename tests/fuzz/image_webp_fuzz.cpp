// libFuzzer target: any bytes given to image::decode_webp are decoded or refused by InvalidArgumentError. The first
// byte of an input says what the others are: a file, changes of a good one, or chunks behind a header; and the options.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tandem/image_webp.hpp"
#include "tandem/tensor.hpp"

namespace {

using namespace tandem;

std::string good(unsigned kind) {
  const Tensor x = cast(reshape(range(12 * 17 * 4) % 251, {12, 17, 4}), uint8);
  const Tensor rgb = slice(x, {0, 0, 0}, {12, 17, 3});
  if (kind == 0) return image::encode_webp(x, {.lossless = true}).item<std::string>();
  if (kind == 1) return image::encode_webp(x).item<std::string>();
  return image::encode_webp(rgb, {.quality = 30}).item<std::string>();
}
std::string changed(std::string s, const std::string& changes) {
  for (std::size_t i = 0; i + 2 < changes.size(); i += 3) {
    const auto at = static_cast<unsigned char>(changes[i]) * 256u + static_cast<unsigned char>(changes[i + 1]);
    s[at % s.size()] = changes[i + 2];
  }
  return s;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!size) return 0;
  static const std::string files[] = {good(0), good(1), good(2)};
  const unsigned kind = data[0] % 8, options = data[0] / 8u;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (kind < 3) bytes = changed(files[kind], bytes);
  else if (kind == 3) bytes = std::string("RIFF\xff\xff\0\0WEBP", 12) + bytes;
  else if (kind == 4) bytes = files[0].substr(0, 25) + bytes;
  try {
    const i64 channels[] = {0, 3, 4};
    const Tensor x = image::decode_webp(bytes, {.channels = channels[options % 3], .max_pixels = 1 << 16});
    if (x.dtype() != uint8 || x.shape().rank() != 3) __builtin_trap();
  } catch (const errors::InvalidArgumentError&) {
  }
  return 0;
}
