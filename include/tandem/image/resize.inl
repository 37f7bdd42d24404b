// Definitions of image/resize.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/core/scope.hpp"
#include "tandem/image/codec_kernels.hpp"
#include "tandem/image/crop.hpp"
#include "tandem/image/resize.hpp"
#include "tandem/image/resize_kernels.hpp"
#include "tandem/image/shapes.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS {
namespace image::impl {

inline constexpr DTypes averaged = dtypes::floating | DType::uint8 | DType::uint16;

inline const OpDef& resize_op_of(ResizeMethod m) {
  return m == ResizeMethod::nearest ? image_resize_nearest_op : image_resize_op;
}
// What the shape rules of all ops check.
inline void check_resize(const InferCall& c, const Shape& x) {
  const auto& a = c.get<rules::ResizeAttrs>();
  if (x.rank() != 3 && x.rank() != 4)
    tandem::detail::raise_specs(c, "x must be [height, width, channels] or [n, height, width, channels]");
  if (a.height < 1 || a.width < 1)
    raise(c.op.name,
          "the new size must be positive, not " + std::to_string(a.height) + " x " + std::to_string(a.width));
  if (x.dim(-3) == 0 || x.dim(-2) == 0) tandem::detail::raise_specs(c, "the images have no pixels");
  const bool has_older_grid = a.method <= ResizeMethod::area;
  if (!a.half_pixel_centers && (!has_older_grid || a.antialias))
    raise(c.op.name, "half_pixel_centers = false is for bilinear, nearest, bicubic and area without antialias");
}
inline Shape resized_shape(Shape s, const rules::ResizeAttrs& a) {
  s.set(s.rank() - 3, a.height);
  s.set(s.rank() - 2, a.width);
  return s;
}
TANDEM_INLINE Specs infer_resize(const InferCall& c) {
  const auto& a = c.get<rules::ResizeAttrs>();
  check_resize(c, c.spec(0).shape);
  Specs r(c.spec(0));
  const bool is_nearest = &c.op == &image_resize_nearest_op;
  if (is_nearest != (a.method == ResizeMethod::nearest)) raise(c.op.name, "the method is another op's");
  r[0].shape = resized_shape(r[0].shape, a);
  if (!is_nearest && r[0].dtype != DType::float64) r[0].dtype = DType::float32;
  return r;
}
// Both passes, from an input of that shape to an output of that one; `backward`: with the weights the other way round.
template <class N, class S>
void resize_from(const KernelCall& c, bool backward) {
  const auto& a = c.attrs.get<rules::ResizeAttrs>();
  const Shape& x = c.in[0].shape();
  const Shape& small = backward ? c.out[0].shape() : x;
  const Spans rows(small.dim(-3), a.height, a), columns(small.dim(-2), a.width, a);
  const i64 images = x.rank() == 4 ? x.dim(0) : 1;
  const auto run = [&](const Spans& v, const Spans& h) {
    cpu::resize(
        cpu::ResizeCall<N, S>{c.in[0].as<const S>(), c.out[0].as<N>(), images, x.dim(-1), v.table(), h.table()});
  };
  if (backward) run(rows.transposed(), columns.transposed());
  else run(rows, columns);
}
// Whether there is anything to do. Sizes that a trace did not know are checked here.
inline bool has_pixels(const KernelCall& c) {
  const Shape& x = c.in[0].shape();
  if (c.out[0].size() != 0 && (x.dim(-3) == 0 || x.dim(-2) == 0))
    raise(c.op, "the images have no pixels: " + to_string(*c.in[0].spec));
  return c.out[0].size() != 0;
}
TANDEM_INLINE void resize_nearest_kernel(const KernelCall& c) {
  if (!has_pixels(c)) return;
  const auto& a = c.attrs.get<rules::ResizeAttrs>();
  const Shape& x = c.in[0].shape();
  const Spans rows(x.dim(-3), a.height, a), columns(x.dim(-2), a.width, a);
  cpu::pick_pixels(c.in[0].as<const char>(), c.out[0].as<char>(), x.rank() == 4 ? x.dim(0) : 1,
                   x.dim(-1) * static_cast<i64>(size_of(c.in[0].spec->dtype)), rows.table(), columns.table());
}
TANDEM_INLINE void resize_kernel(const KernelCall& c) {
  if (!has_pixels(c)) return;
  const DType d = c.in[0].spec->dtype;
  if (d == DType::uint8) resize_from<float, std::uint8_t>(c, false);
  else if (d == DType::uint16) resize_from<float, std::uint16_t>(c, false);
  else if (d == DType::float64) resize_from<double, double>(c, false);
  else resize_from<float, float>(c, false);
}
TANDEM_INLINE Specs infer_resize_grad(const InferCall& c) {
  const Spec &g = c.spec(0), &x = c.spec(1);
  check_resize(c, x.shape);
  if (!resized_shape(x.shape, c.get<rules::ResizeAttrs>()).is_compatible_with(g.shape))
    tandem::detail::raise_specs(c, "gradient shape does not match result shape");
  return Specs(Spec{x.shape, g.dtype, g.device});
}
TANDEM_INLINE void resize_grad_kernel(const KernelCall& c) {
  if (c.out[0].size() == 0) return;
  if (c.in[0].spec->dtype == DType::float64) resize_from<double, double>(c, true);
  else resize_from<float, float>(c, true);
}
TANDEM_INLINE Grads resize_gradient(const GradCall& c) {
  return Grads(Gradient(apply1(image_resize_grad_op, c.get<rules::ResizeAttrs>(), no_options, c.g[0], c.in[0])));
}
TANDEM_INLINE Grads resize_grad_gradient(const GradCall& c) {
  const auto& a = c.get<rules::ResizeAttrs>();
  return {Gradient(apply1(resize_op_of(a.method), a, no_options, c.g[0])), Gradient()};
}

// The largest size of the same aspect ratio that fits, as tf.image.resize rounds it: in float32.
inline Size kept_aspect(const char* op, const Tensor& x, const Size& size) {
  const auto [h, w] = known_size(op, x);
  const auto height = static_cast<float>(h), width = static_cast<float>(w);
  const float scale = std::min(static_cast<float>(size[0]) / height, static_cast<float>(size[1]) / width);
  return {static_cast<i64>(std::nearbyint(scale * height)), static_cast<i64>(std::nearbyint(scale * width))};
}

// What is cut out of an axis around its center, and the zeros before and behind it.
struct Centered {
  Slice part;
  Dim before, behind;
};
inline Centered centered(const DimValue& size, i64 target) {
  if (size.is_known()) {
    const i64 kept = std::min(size.number, target), first = (size.number - kept) / 2, before = (target - kept) / 2;
    return {{first, first + kept}, before, target - kept - before};
  }
  const Tensor kept = minimum(size.tensor, target), first = floordiv(size.tensor - kept, 2);
  const Tensor before = floordiv(target - kept, 2);
  return {{SliceBound(first), SliceBound(first + kept)}, before, target - kept - before};
}

}  // namespace image::impl

TANDEM_INLINE constexpr OpDef image_resize_op{.name = "image_resize",
                                              .infer = &image::impl::infer_resize,
                                              .cpu = &image::impl::resize_kernel,
                                              .gradient = &image::impl::resize_gradient,
                                              .dtypes = image::impl::averaged,
                                              .saves = Saves::shape,
                                              .attrs = &detail::attr_type<rules::ResizeAttrs>,
                                              .rare = {.wide_outputs = 1u << 0, .in_errors = "resize"}};
TANDEM_INLINE constexpr OpDef image_resize_nearest_op{.name = "image_resize_nearest",
                                                      .infer = &image::impl::infer_resize,
                                                      .cpu = &image::impl::resize_nearest_kernel,
                                                      .gradient = &image::impl::resize_gradient,
                                                      .dtypes = dtypes::real,
                                                      .saves = Saves::shape,
                                                      .attrs = &detail::attr_type<rules::ResizeAttrs>,
                                                      .rare = {.in_errors = "resize"}};
TANDEM_INLINE constexpr OpDef image_resize_grad_op{.name = "image_resize_grad",
                                                   .input_names = "g, x",
                                                   .infer = &image::impl::infer_resize_grad,
                                                   .cpu = &image::impl::resize_grad_kernel,
                                                   .gradient = &image::impl::resize_grad_gradient,
                                                   .dtypes = dtypes::floating,
                                                   .inputs = 2,
                                                   .saves = Saves::shape,
                                                   .shape_inputs = 1u << 1,
                                                   .attrs = &detail::attr_type<rules::ResizeAttrs>};

namespace image {

TANDEM_INLINE Tensor resize(const Tensor& x, const Size& size, ResizeOptions o) {
  const tandem::detail::CallSite call(o, "resize");
  impl::check_rank("resize", x);
  const Size to = o.preserve_aspect_ratio ? impl::kept_aspect("resize", x, size) : size;
  const rules::ResizeAttrs a{to[0], to[1], o.method, o.antialias, o.half_pixel_centers};
  const bool as_it_is =
      o.method == ResizeMethod::nearest || impl::averaged.has(x.dtype()) || !dtypes::real.has(x.dtype());
  const bool is_half = dtypes::half_floating.has(x.dtype()) && o.method != ResizeMethod::nearest;
  return apply1(impl::resize_op_of(o.method), a, {o.name, o.where}, as_it_is && !is_half ? x : cast(x, DType::float32));
}
TANDEM_INLINE Tensor resize_with_pad(const Tensor& x, i64 height, i64 width, ResizeWithPadOptions o) {
  const tandem::detail::CallSite call(o, "resize_with_pad");
  const auto [h, w] = impl::known_size("resize_with_pad", x);
  impl::check_positive("resize_with_pad", height, width);
  // In float32, as TensorFlow: an axis that fits exactly may come out one pixel short.
  const float ratio =
      std::max(static_cast<float>(w) / static_cast<float>(width), static_cast<float>(h) / static_cast<float>(height));
  const float new_h = static_cast<float>(h) / ratio, new_w = static_cast<float>(w) / ratio;
  const Size size{std::max<i64>(1, static_cast<i64>(new_h)), std::max<i64>(1, static_cast<i64>(new_w))};
  const Tensor y = resize(x, size, {.method = o.method, .antialias = o.antialias});
  const auto margin = [](i64 whole, float part) {
    return std::max<i64>(0, static_cast<i64>(std::floor((static_cast<float>(whole) - part) / 2)));
  };
  return pad_to_bounding_box(y, margin(height, new_h), margin(width, new_w), height, width, {o.name, o.where});
}
TANDEM_INLINE Tensor resize_with_crop_or_pad(const Tensor& x, i64 height, i64 width, OpOptions o) {
  const tandem::detail::CallSite call(o, "resize_with_crop_or_pad");
  impl::check_rank("resize_with_crop_or_pad", x);
  impl::check_positive("resize_with_crop_or_pad", height, width);
  const std::vector<DimValue> n = get_shape(x);
  const impl::Centered rows = impl::centered(n[n.size() - 3], height), columns = impl::centered(n[n.size() - 2], width);
  const Tensor part = slice_by(x, {Ellipsis, rows.part, columns.part, Slice()});
  const Tensor y = x.rank() == 3
                       ? pad(part, {{rows.before, rows.behind}, {columns.before, columns.behind}, {0, 0}})
                       : pad(part, {{0, 0}, {rows.before, rows.behind}, {columns.before, columns.behind}, {0, 0}});
  Shape size = x.shape();
  size.set(size.rank() - 3, height), size.set(size.rank() - 2, width);
  return ensure_shape(y, size, o);  // a trace may not know it
}

TANDEM_INLINE Tensor decode_resize_jpeg(std::string_view contents, const Size& size, DecodeJpegOptions o) {
  const tandem::detail::CallSite call(o, "decode_resize_jpeg");
  impl::check_positive("decode_resize_jpeg", size[0], size[1]);
  const auto [height, width, channels] = impl::jpeg_file_extent("decode_resize_jpeg", contents);
  // EXIF data may exchange the sides.
  const i64 h = o.orient ? std::min(height, width) : height, w = o.orient ? std::min(height, width) : width;
  const i64 least_h = o.orient ? std::max(size[0], size[1]) : size[0], least_w = o.orient ? least_h : size[1];
  while (o.ratio < 8 && h / (2 * o.ratio) >= least_h && w / (2 * o.ratio) >= least_w) o.ratio *= 2;
  return resize(decode_jpeg(contents, o), size, {.antialias = true});
}

}  // namespace image
}  // namespace TANDEM_NS
