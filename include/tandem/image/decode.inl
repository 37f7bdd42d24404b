// Definitions of image/decode.hpp.
#pragma once
#include <limits>

#include "tandem/core/scope.hpp"
#include "tandem/image/codec_kernels.hpp"
#include "tandem/image/decode.hpp"
#include "tandem/ops/create/constant.hpp"

namespace TANDEM_NS {
namespace image::impl {

using rules::ImageFormat;

inline ImageFormat format_of(const DecodeCall& c) {
  if (c.attrs.format != ImageFormat::any) return c.attrs.format;
  if (is_jpeg(c.bytes)) return ImageFormat::jpeg;
  if (c.bytes.substr(0, 8) == "\x89PNG\r\n\x1a\n") return ImageFormat::png;
  if (c.bytes.substr(0, 2) == "BM") return ImageFormat::bmp;
  if (is_gif(c.bytes)) return ImageFormat::gif;
  if (c.bytes.size() >= 12 && c.bytes.substr(0, 4) == "RIFF" && c.bytes.substr(8, 4) == "WEBP")
    raise(c.op, "the bytes are a WebP image: image::decode_webp of the component tandem::image_webp decodes it");
  raise(c.op, "the " + std::to_string(c.bytes.size()) + " bytes do not begin as JPEG, PNG, BMP or GIF");
}
inline void check_options(const char* op, const DecodeAttrs& a) {
  const auto check = [&](bool good, const char* what) {
    if (!good) raise(op, what);
  };
  const i64 c = a.channels;
  if (a.format == ImageFormat::jpeg) check(c == 0 || c == 1 || c == 3, "channels must be 0, 1 or 3");
  else if (a.format == ImageFormat::bmp) check(c == 0 || c == 1 || c == 3 || c == 4, "channels must be 0, 1, 3 or 4");
  else if (a.format == ImageFormat::gif) check(c == 0 || c == 3, "channels must be 0 or 3 for GIF");
  else check(c >= 0 && c <= 4, "channels must be 0 to 4");
  check(a.dtype == DType::uint8 || a.dtype == DType::uint16, "the dtype must be uint8 or uint16");
  check(a.ratio == 1 || a.ratio == 2 || a.ratio == 4 || a.ratio == 8, "ratio must be 1, 2, 4 or 8");
  check(a.acceptable_fraction >= 0 && a.acceptable_fraction <= 1, "acceptable_fraction must be in [0, 1]");
  check(a.max_pixels > 0, "max_pixels must be positive");
  check(a.window.rank() == 0 || a.window.rank() == 4, "a window has 4 numbers");
  check(a.window.rank() == 0 || !a.orient, "a window cannot be combined with .orient");
}
TANDEM_INLINE Specs infer_decode_image(const InferCall& c) {
  const auto& a = c.get<DecodeAttrs>();
  check_options(c.op.name, a);
  if (c.spec(0).shape.rank() != 0) raise(c.op.name, "contents must be a scalar, one file: " + to_string(c.spec(0)));
  return Specs(Spec{Shape{none, none, a.channels ? a.channels : none}, a.dtype, {}});
}
// Calls f(call), whose attributes are those of the format that the bytes have.
template <class F>
auto with_format(const KernelCall& c, const F& f) {
  DecodeAttrs a = c.attrs.get<DecodeAttrs>();
  const DecodeCall call{c.op, c.in[0].as<const Bytes>()->view(), a};
  a.format = format_of(call);
  check_options(c.op, a);
  if (a.format != ImageFormat::png && a.dtype == DType::uint16) raise(c.op, "only PNG images can be decoded to uint16");
  return f(call);
}
TANDEM_INLINE Specs resolve_decode_image(const KernelCall& c) {
  return with_format(c, [](const DecodeCall& call) {
    if (call.attrs.format == ImageFormat::gif) {
      const GifExtent e = gif_extent(call, 1);
      return Specs(Spec{Shape{e.height, e.width, 3}, call.attrs.dtype, {}});
    }
    const Extent e = call.attrs.format == ImageFormat::jpeg  ? jpeg_extent(call)
                     : call.attrs.format == ImageFormat::png ? png_extent(call)
                                                             : bmp_extent(call);
    return Specs(Spec{Shape{e.height, e.width, e.channels}, call.attrs.dtype, {}});
  });
}
TANDEM_INLINE void decode_image_kernel(const KernelCall& c) {
  with_format(c, [&](const DecodeCall& call) {
    auto* const to = c.out[0].as<std::uint8_t>();
    if (call.attrs.format == ImageFormat::jpeg) read_jpeg(call, to);
    else if (call.attrs.format == ImageFormat::png) read_png(call, to);
    else if (call.attrs.format == ImageFormat::gif) read_gif(call, 1, to);
    else read_bmp(call, to);
  });
}
TANDEM_INLINE Specs infer_decode_gif(const InferCall& c) {
  infer_decode_image(c);
  return Specs(Spec{Shape{none, none, none, 3}, DType::uint8, {}});
}
TANDEM_INLINE Specs resolve_decode_gif(const KernelCall& c) {
  return with_format(c, [](const DecodeCall& call) {
    const GifExtent e = gif_extent(call, std::numeric_limits<i64>::max());
    return Specs(Spec{Shape{e.frames, e.height, e.width, 3}, DType::uint8, {}});
  });
}
TANDEM_INLINE void decode_gif_kernel(const KernelCall& c) {
  with_format(
      c, [&](const DecodeCall& call) { read_gif(call, c.out[0].spec->shape.dim(0), c.out[0].as<std::uint8_t>()); });
}
inline DecodeAttrs attrs_of(ImageFormat format, i64 channels, DType dtype, i64 max_pixels) {
  return {format, dtype, DctMethod::integer_accurate, true, false, false, channels, 1, max_pixels, 1, {}};
}
inline DecodeAttrs attrs_of(const DecodeJpegOptions& o) {
  return {ImageFormat::jpeg,
          DType::uint8,
          o.dct_method,
          o.fancy_upscaling,
          o.try_recover_truncated,
          o.orient,
          o.channels,
          o.ratio,
          o.max_pixels,
          o.acceptable_fraction,
          {}};
}
// A string scalar of these bytes.
inline Tensor scalar_of(std::string_view bytes) {
  const Tensor t = Tensor::allocate({Shape{}, DType::string, {}});
  *static_cast<Bytes*>(t.raw()) = Bytes(bytes);
  return t;
}

// The definition of a decoder: they differ in their names, which errors have, and in the format among their attributes.
constexpr OpDef decoder(const char* name, Specs (*infer)(const InferCall&) = &infer_decode_image,
                        void (*kernel)(const KernelCall&) = &decode_image_kernel,
                        Specs (*resolve)(const KernelCall&) = &resolve_decode_image) {
  return {.name = name,
          .input_names = "contents",
          .infer = infer,
          .cpu = kernel,
          .dtypes = dtypes_of(DType::string),
          .host_inputs = 0xffff,
          .flags = {.non_differentiable = true},
          .attrs = &tandem::detail::attr_type<rules::DecodeImageAttrs>,
          .rare = {.resolve = resolve}};
}

}  // namespace image::impl

TANDEM_INLINE constexpr OpDef decode_jpeg_op = image::impl::decoder("decode_jpeg");
TANDEM_INLINE constexpr OpDef decode_and_crop_jpeg_op = image::impl::decoder("decode_and_crop_jpeg");
TANDEM_INLINE constexpr OpDef decode_png_op = image::impl::decoder("decode_png");
TANDEM_INLINE constexpr OpDef decode_bmp_op = image::impl::decoder("decode_bmp");
TANDEM_INLINE constexpr OpDef decode_gif_op = image::impl::decoder(
    "decode_gif", &image::impl::infer_decode_gif, &image::impl::decode_gif_kernel, &image::impl::resolve_decode_gif);
TANDEM_INLINE constexpr OpDef decode_image_op = image::impl::decoder("decode_image");

namespace image {

TANDEM_INLINE Tensor decode_jpeg(const Tensor& contents, DecodeJpegOptions o) {
  return apply1(decode_jpeg_op, impl::attrs_of(o), {o.name, o.where}, contents);
}
TANDEM_INLINE Tensor decode_and_crop_jpeg(const Tensor& contents, const Window& w, DecodeJpegOptions o) {
  impl::DecodeAttrs a = impl::attrs_of(o);
  a.window = Shape{w[0], w[1], w[2], w[3]};
  return apply1(decode_and_crop_jpeg_op, a, {o.name, o.where}, contents);
}
TANDEM_INLINE Tensor decode_png(const Tensor& contents, DecodePngOptions o) {
  return apply1(decode_png_op, impl::attrs_of(rules::ImageFormat::png, o.channels, o.dtype, o.max_pixels),
                {o.name, o.where}, contents);
}
TANDEM_INLINE Tensor decode_bmp(const Tensor& contents, DecodeBmpOptions o) {
  return apply1(decode_bmp_op, impl::attrs_of(rules::ImageFormat::bmp, o.channels, DType::uint8, o.max_pixels),
                {o.name, o.where}, contents);
}
TANDEM_INLINE Tensor decode_gif(const Tensor& contents, DecodeGifOptions o) {
  return apply1(decode_gif_op, impl::attrs_of(rules::ImageFormat::gif, 0, DType::uint8, o.max_pixels),
                {o.name, o.where}, contents);
}
TANDEM_INLINE Tensor decode_image(const Tensor& contents, DecodeImageOptions o) {
  return apply1(decode_image_op, impl::attrs_of(rules::ImageFormat::any, o.channels, o.dtype, o.max_pixels),
                {o.name, o.where}, contents);
}
TANDEM_INLINE Tensor decode_jpeg(std::string_view contents, DecodeJpegOptions o) {
  return decode_jpeg(impl::scalar_of(contents), o);
}
TANDEM_INLINE Tensor decode_and_crop_jpeg(std::string_view contents, const Window& w, DecodeJpegOptions o) {
  return decode_and_crop_jpeg(impl::scalar_of(contents), w, o);
}
TANDEM_INLINE Tensor decode_png(std::string_view contents, DecodePngOptions o) {
  return decode_png(impl::scalar_of(contents), o);
}
TANDEM_INLINE Tensor decode_bmp(std::string_view contents, DecodeBmpOptions o) {
  return decode_bmp(impl::scalar_of(contents), o);
}
TANDEM_INLINE Tensor decode_gif(std::string_view contents, DecodeGifOptions o) {
  return decode_gif(impl::scalar_of(contents), o);
}
TANDEM_INLINE Tensor decode_image(std::string_view contents, DecodeImageOptions o) {
  return decode_image(impl::scalar_of(contents), o);
}
TANDEM_INLINE TryDecoded try_decode(std::string_view contents, DecodeImageOptions o) {
  try {
    return {decode_image(contents, o), {}};
  } catch (const errors::OpError& e) {
    return {{}, e.what()};
  }
}

TANDEM_INLINE bool is_jpeg(std::string_view contents) { return contents.substr(0, 3) == "\xff\xd8\xff"; }
TANDEM_INLINE Tensor extract_jpeg_shape(std::string_view contents, OpOptions o) {
  const tandem::detail::CallSite call(o, "extract_jpeg_shape");
  const impl::Extent e = impl::jpeg_file_extent("extract_jpeg_shape", contents);
  return constant({e.height, e.width, e.channels}, {.dtype = DType::int32});
}

}  // namespace image
}  // namespace TANDEM_NS
