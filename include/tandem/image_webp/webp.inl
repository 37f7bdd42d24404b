// Definitions of image_webp/webp.hpp, by libwebp.
#pragma once
#if !__has_include(<webp/decode.h>)
#error "tandem/image_webp.hpp needs libwebp (Debian: libwebp-dev) in header-only mode, and a program that links webp"
#endif
#include <webp/decode.h>
#include <webp/encode.h>

#include <memory>
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/image/codec_kernels.hpp"
#include "tandem/image_webp/webp.hpp"
#include "tandem/ops/create/constant.hpp"

namespace TANDEM_NS::image {
namespace impl {

// Raises for what libwebp has returned, unless that is success.
inline void check_webp(VP8StatusCode status) {
  const auto damaged = [](const char* what) { raise("decode_webp", std::string("the WebP image ") + what); };
  switch (status) {
    case VP8_STATUS_OK: return;
    case VP8_STATUS_OUT_OF_MEMORY:
      errors::raise<errors::ResourceExhaustedError>("decode_webp", "libwebp has no memory for the image");
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED: damaged("ends early"); break;
    case VP8_STATUS_UNSUPPORTED_FEATURE: damaged("has a feature that libwebp cannot decode"); break;
    default: damaged("is damaged");
  }
}
// The encoded bytes are freed at the end.
struct WebpBytes : WebPMemoryWriter {
  WebpBytes() { WebPMemoryWriterInit(this); }
  WebpBytes(const WebpBytes&) = delete;
  ~WebpBytes() { WebPMemoryWriterClear(this); }
};
struct WebpPicture : WebPPicture {
  WebpPicture() {
    if (!WebPPictureInit(this)) raise("encode_webp", "libwebp cannot be used: another version of it is loaded");
  }
  WebpPicture(const WebpPicture&) = delete;
  ~WebpPicture() { WebPPictureFree(this); }
};

inline WebPConfig webp_config(const EncodeWebpOptions& o) {
  if (!(o.quality >= 0 && o.quality <= 100))
    raise("encode_webp", "quality must be 0 to 100, not " + std::to_string(o.quality));
  if (o.method < 0 || o.method > 6) raise("encode_webp", "method must be 0 to 6, not " + std::to_string(o.method));
  WebPConfig config;
  if (!WebPConfigInit(&config)) raise("encode_webp", "libwebp cannot be used: another version of it is loaded");
  config.quality = static_cast<float>(o.quality);
  config.method = static_cast<int>(o.method);
  config.lossless = o.lossless;
  config.exact = o.lossless;  // keeps the colors of transparent pixels
  return config;
}
inline Extent checked_webp_extent(const Tensor& x) {
  tandem::detail::check_value("encode_webp", x);
  const Shape& shape = x.shape();
  if (x.dtype() != DType::uint8 || shape.rank() != 3 || (shape.dim(2) != 3 && shape.dim(2) != 4))
    raise("encode_webp", "x must be uint8, [height, width, 3 or 4], not " + to_string(x.spec()));
  for (int axis = 0; axis < 2; ++axis)
    if (shape.dim(axis) < 1 || shape.dim(axis) > WEBP_MAX_DIMENSION)
      raise("encode_webp", "height and width must be 1 to 16383: " + to_string(shape));
  return {shape.dim(0), shape.dim(1), shape.dim(2)};
}

}  // namespace impl

TANDEM_INLINE bool is_webp(std::string_view contents) {
  return contents.size() >= 12 && contents.substr(0, 4) == "RIFF" && contents.substr(8, 4) == "WEBP";
}
TANDEM_INLINE Tensor decode_webp(std::string_view contents, DecodeWebpOptions o) {
  const tandem::detail::CallSite call(o, "decode_webp");
  if (o.channels != 0 && o.channels != 3 && o.channels != 4)
    impl::raise("decode_webp", "channels must be 0, 3 or 4, not " + std::to_string(o.channels));
  if (o.max_pixels < 1) impl::raise("decode_webp", "max_pixels must be positive");
  if (!is_webp(contents))
    impl::raise("decode_webp",
                "the " + std::to_string(contents.size()) + " bytes are not a WebP image: they do not begin as one");
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config))
    impl::raise("decode_webp", "libwebp cannot be used: another version of it is loaded");
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(contents.data());
  impl::check_webp(WebPGetFeatures(bytes, contents.size(), &config.input));
  if (config.input.has_animation) impl::raise("decode_webp", "the WebP image is an animation, which cannot be decoded");
  const i64 height = config.input.height, width = config.input.width;
  impl::check_pixels("decode_webp", height, width, o.max_pixels);
  const i64 channels = o.channels ? o.channels : config.input.has_alpha ? 4 : 3;
  const Tensor r = Tensor::allocate({Shape{height, width, channels}, DType::uint8, {}});
  config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = static_cast<std::uint8_t*>(r.raw());
  config.output.u.RGBA.stride = static_cast<int>(width * channels);
  config.output.u.RGBA.size = static_cast<std::size_t>(height * width * channels);
  impl::check_webp(WebPDecode(bytes, contents.size(), &config));
  return r;
}
TANDEM_INLINE Tensor decode_webp(const Tensor& contents, DecodeWebpOptions o) {
  const tandem::detail::CallSite call(o, "decode_webp");
  return decode_webp(contents.item<std::string>(), o);
}

TANDEM_INLINE Tensor encode_webp(const Tensor& x, EncodeWebpOptions o) {
  const tandem::detail::CallSite call(o, "encode_webp");
  const WebPConfig config = impl::webp_config(o);
  const impl::Extent e = impl::checked_webp_extent(x);
  const Tensor host = x.cpu();
  const auto pixels = host.to_vector<std::uint8_t>();
  impl::WebpPicture picture;
  impl::WebpBytes bytes;
  picture.use_argb = config.lossless;
  picture.width = static_cast<int>(e.width), picture.height = static_cast<int>(e.height);
  const int stride = static_cast<int>(e.width * e.channels);
  const bool is_there = e.channels == 4 ? WebPPictureImportRGBA(&picture, pixels.data(), stride)
                                        : WebPPictureImportRGB(&picture, pixels.data(), stride);
  picture.writer = &WebPMemoryWrite, picture.custom_ptr = &bytes;
  if (!is_there || !WebPEncode(&config, &picture)) {
    const bool full = picture.error_code <= VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY;
    if (full) errors::raise<errors::ResourceExhaustedError>("encode_webp", "libwebp has no memory for the image");
    impl::raise("encode_webp", "libwebp cannot write the image: error " + std::to_string(picture.error_code));
  }
  return constant(std::string(reinterpret_cast<const char*>(bytes.mem), bytes.size));
}

}  // namespace TANDEM_NS::image
