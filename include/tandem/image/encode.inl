// Definitions of image/encode.hpp.
#pragma once
#include "tandem/image/codec_kernels.hpp"
#include "tandem/image/encode.hpp"

namespace TANDEM_NS {
namespace image::impl {

// The result: one string. Checks the image, whose sizes may not be known yet.
inline Specs infer_encoded(const InferCall& c, DTypes dtypes, i64 most_channels, i64 most_pixels) {
  const Spec& x = c.spec(0);
  if (x.shape.rank() != 3) tandem::detail::raise_specs(c, "x must be one image, [height, width, channels]");
  if (!dtypes.has(x.dtype)) tandem::detail::raise_specs(c, "x has a dtype that the format does not have");
  const i64 channels = x.shape.dim(2);
  if (channels != none && (channels < 1 || channels > most_channels || (most_channels == 3 && channels == 2)))
    tandem::detail::raise_specs(c, most_channels == 3 ? "channels must be 1 or 3" : "channels must be 1 to 4");
  for (int axis = 0; axis < 2; ++axis)
    if (x.shape.dim(axis) == 0 || x.shape.dim(axis) > most_pixels)
      tandem::detail::raise_specs(c, "height and width must be 1 to " + std::to_string(most_pixels));
  return Specs(Spec{Shape{}, DType::string, {}});
}
inline Extent extent_of(const Operand& x) { return {x.shape().dim(0), x.shape().dim(1), x.shape().dim(2)}; }

TANDEM_INLINE Specs infer_encode_jpeg(const InferCall& c) {
  const auto& a = c.get<rules::EncodeImageAttrs>();
  Specs r = infer_encoded(c, dtypes_of(DType::uint8), 3, 65500);
  if (a.quality < 0 || a.quality > 100) raise(c.op.name, "quality must be 0 to 100, not " + std::to_string(a.quality));
  for (const i64 density : {a.x_density, a.y_density})
    if (density < 1 || density > 65535)
      raise(c.op.name, "densities must be 1 to 65535, not " + std::to_string(density));
  const i64 channels = c.spec(0).shape.dim(2), wanted = a.format == JpegFormat::grayscale ? 1 : 3;
  if (a.format != JpegFormat::automatic && channels != none && channels != wanted)
    tandem::detail::raise_specs(c, "the format needs " + std::to_string(wanted) + " channels");
  return r;
}
TANDEM_INLINE void encode_jpeg_kernel(const KernelCall& c) {
  *c.out[0].as<Bytes>() =
      Bytes(write_jpeg(extent_of(c.in[0]), c.in[0].as<const std::uint8_t>(), c.attrs.get<rules::EncodeImageAttrs>()));
}
TANDEM_INLINE Specs infer_encode_png(const InferCall& c) {
  const i64 level = c.get<rules::EncodeImageAttrs>().compression;
  if (level < -1 || level > 9) raise(c.op.name, "compression must be -1 to 9, not " + std::to_string(level));
  return infer_encoded(c, dtypes_of(DType::uint8, DType::uint16), 4, 0x7fffffff / 8);
}
TANDEM_INLINE void encode_png_kernel(const KernelCall& c) {
  const bool is_16_bit = c.in[0].spec->dtype == DType::uint16;
  *c.out[0].as<Bytes>() =
      Bytes(write_png(extent_of(c.in[0]), is_16_bit, c.in[0].as<const void>(), c.attrs.get<rules::EncodeImageAttrs>()));
}

}  // namespace image::impl

TANDEM_INLINE constexpr OpDef encode_jpeg_op{.name = "encode_jpeg",
                                             .infer = &image::impl::infer_encode_jpeg,
                                             .cpu = &image::impl::encode_jpeg_kernel,
                                             .dtypes = dtypes_of(DType::uint8),
                                             .host_inputs = 0xffff,
                                             .flags = {.non_differentiable = true},
                                             .attrs = &detail::attr_type<rules::EncodeImageAttrs>};
TANDEM_INLINE constexpr OpDef encode_png_op{.name = "encode_png",
                                            .infer = &image::impl::infer_encode_png,
                                            .cpu = &image::impl::encode_png_kernel,
                                            .dtypes = dtypes_of(DType::uint8, DType::uint16),
                                            .host_inputs = 0xffff,
                                            .flags = {.non_differentiable = true},
                                            .attrs = &detail::attr_type<rules::EncodeImageAttrs>};

namespace image {

TANDEM_INLINE Tensor encode_jpeg(const Tensor& x, EncodeJpegOptions o) {
  const rules::EncodeImageAttrs a{o.format,        o.density_unit,        o.progressive,
                                  o.optimize_size, o.chroma_downsampling, o.quality,
                                  o.x_density,     o.y_density,           -1};
  return apply1(encode_jpeg_op, a, {o.name, o.where}, x);
}
TANDEM_INLINE Tensor encode_png(const Tensor& x, EncodePngOptions o) {
  rules::EncodeImageAttrs a{};
  a.compression = o.compression;
  return apply1(encode_png_op, a, {o.name, o.where}, x);
}

}  // namespace image
}  // namespace TANDEM_NS
