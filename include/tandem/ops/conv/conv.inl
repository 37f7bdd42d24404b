// Definitions of ops/conv/conv.hpp and ops/conv/conv_transpose.hpp. A convolution y = C(x, w) is linear in x and in w;
// with its input gradient T(g, w) and its filter gradient F(x, g) it is closed under differentiation: each of the three
// is linear in both operands, and their gradients are the other two.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/conv/conv.hpp"
#include "tandem/ops/conv/conv.hpp"
#include "tandem/ops/conv/conv_transpose.hpp"
#include "tandem/ops/conv/fused_conv.hpp"
#include "tandem/ops/conv/image_axes.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS {
namespace detail {

inline int spatial_axes_of(const rules::ConvAttrs& a) { return a.strides.rank(); }

TANDEM_INLINE Shape conv_shape(const InferCall& c, const rules::ConvAttrs& a, const Shape& x, const Shape& w) {
  const int spatial = spatial_axes_of(a);
  check_window(c, a, spatial);
  if (x.rank() != spatial + 2 || w.rank() != spatial + 2)
    raise_specs(c, "image and filter must have rank " + std::to_string(spatial + 2));
  const i64 channels = x.dim(-1), in = w.dim(-2), out = w.dim(-1);
  if (channels != none && in != none) {
    const bool fits = in == 0 ? channels == 0 : channels > 0 && channels % in == 0;
    if (!fits)
      raise_specs(c, "the filter has " + std::to_string(in) + " input channels, the image " + std::to_string(channels),
                  "the image's must be a multiple of the filter's");
    if (const i64 groups = in ? channels / in : 1; out != none && groups > 1 && out % groups)
      raise_specs(
          c, std::to_string(out) + " output channels cannot be divided into " + std::to_string(groups) + " groups");
  }
  for (int i = 0; i < spatial; ++i)
    if (w.dim(i) == 0) raise_specs(c, "the filter has size 0 on spatial axis " + std::to_string(i));
  Shape y{x.dim(0)};
  for (int i = 0; i < spatial; ++i) y.push_back(window_result(c, a, i, x.dim(1 + i), w.dim(i)));
  y.push_back(out);
  return y;
}
inline void check_conv_dtypes(const InferCall& c) {
  if (c.spec(1).dtype != c.spec(0).dtype) raise_specs(c, "dtypes differ", cast_hint(c, 0, 1));
}
inline Shape conv_shape(const InferCall& c, const Shape& x, const Shape& w) {
  return conv_shape(c, c.get<rules::ConvAttrs>(), x, w);
}
TANDEM_INLINE Specs infer_conv(const InferCall& c) {
  check_conv_dtypes(c);
  Specs r(c.spec(0));
  r[0].shape = conv_shape(c, c.spec(0).shape, c.spec(1).shape);
  return r;
}
// g, w and, unless the attributes have the result's shape, a tensor of that shape.
TANDEM_INLINE Specs infer_conv_transpose(const InferCall& c) {
  if (c.in.size() > 3) raise_specs(c, "too many inputs");
  check_conv_dtypes(c);
  Specs r(c.spec(0));
  r[0].shape = c.in.size() > 2 ? c.spec(2).shape : c.get<rules::ConvAttrs>().output;
  for (i64 d : r[0].shape)
    if (d < 0 && d != none) raise_specs(c, "output_shape " + to_string(r[0].shape) + " has a negative size");
  if (r[0].shape.rank() != c.spec(0).shape.rank())
    raise_specs(c, "output_shape " + to_string(r[0].shape) + " does not have the rank of the input");
  const Shape y = conv_shape(c, r[0].shape, c.spec(1).shape);
  if (!y.is_compatible_with(c.spec(0).shape))
    raise_specs(c, "output_shape " + to_string(r[0].shape) + " would be mapped to " + to_string(y));
  return r;
}
// x, g and a tensor of the filter's shape.
TANDEM_INLINE Specs infer_conv_filter_grad(const InferCall& c) {
  check_conv_dtypes(c);
  Specs r(c.spec(0));
  r[0].shape = c.spec(2).shape;
  if (!conv_shape(c, c.spec(0).shape, r[0].shape).is_compatible_with(c.spec(1).shape))
    raise_specs(c, "gradient shape does not match result shape");
  return r;
}

inline rules::ConvAttrs without_output(const rules::ConvAttrs& a) {
  rules::ConvAttrs r = a;
  r.output = Shape();
  return r;
}
inline Tensor apply_conv(const rules::ConvAttrs& a, const Tensor& x, const Tensor& w) {
  return apply1(*conv_by_axes[spatial_axes_of(a) - 1], a, no_options, x, w);
}
inline Tensor apply_conv_transpose(const rules::ConvAttrs& a, const Tensor& g, const Tensor& w, const Tensor& like) {
  return apply1(*conv_transpose_by_axes[spatial_axes_of(a) - 1], a, no_options, g, w, like);
}
inline Tensor apply_filter_grad(const rules::ConvAttrs& a, const Tensor& x, const Tensor& g, const Tensor& like) {
  return apply1(*conv_filter_grad_by_axes[spatial_axes_of(a) - 1], a, no_options, x, g, like);
}
TANDEM_INLINE Grads conv_gradient(const GradCall& c) {
  const auto& a = c.get<rules::ConvAttrs>();
  const Tensor &g = c.g[0], &x = c.in[0], &w = c.in[1];
  return {c.needs(0) ? Gradient(apply_conv_transpose(a, g, w, x)) : Gradient(),
          c.needs(1) ? Gradient(apply_filter_grad(a, x, g, w)) : Gradient()};
}
TANDEM_INLINE Grads conv_transpose_gradient(const GradCall& c) {
  const rules::ConvAttrs a = without_output(c.get<rules::ConvAttrs>());
  const Tensor &u = c.g[0], &g = c.in[0], &w = c.in[1];
  return {c.needs(0) ? Gradient(apply_conv(a, u, w)) : Gradient(),
          c.needs(1) ? Gradient(apply_filter_grad(a, u, g, w)) : Gradient(), Gradient()};
}
TANDEM_INLINE Grads conv_filter_grad_gradient(const GradCall& c) {
  const auto& a = c.get<rules::ConvAttrs>();
  const Tensor &u = c.g[0], &x = c.in[0], &g = c.in[1];
  return {c.needs(0) ? Gradient(apply_conv_transpose(a, g, u, x)) : Gradient(),
          c.needs(1) ? Gradient(apply_conv(a, x, u)) : Gradient(), Gradient()};
}

constexpr OpDef conv_def(const char* name, const char* display) {
  return {.name = name,
          .input_names = "x, w",
          .infer = &infer_conv,
          .cpu = &cpu::conv,
          .cuda = TANDEM_CUDA(&cuda::conv),
          .gradient = &conv_gradient,
          .dtypes = dtypes::floating,
          .inputs = 2,
          .saves = Saves::inputs,
          .flags = {.keeps_packed = true, .takes_half = kernels_take_half, .cuda_takes_half = true},
          .attrs = &attr_type<rules::ConvAttrs>,
          .rare = {.with_epilogue = &fused_conv_op, .display = display}};
}
constexpr OpDef conv_transpose_def(const char* name, const char* display) {
  return {.name = name,
          .input_names = "x, w, like",
          .infer = &infer_conv_transpose,
          .cpu = &cpu::conv_transpose,
          .cuda = TANDEM_CUDA(&cuda::conv_transpose),
          .gradient = &conv_transpose_gradient,
          .dtypes = dtypes::floating,
          .inputs = at_least(2),
          .saves = Saves::inputs,
          .shape_inputs = 4,
          .flags = {.keeps_packed = true, .takes_half = kernels_take_half, .cuda_takes_half = true},
          .attrs = &attr_type<rules::ConvAttrs>,
          .rare = {.display = display}};
}
constexpr OpDef conv_filter_grad_def(const char* name, const char* display) {
  return {.name = name,
          .input_names = "x, g, like",
          .infer = &infer_conv_filter_grad,
          .cpu = &cpu::conv_filter_grad,
          .cuda = TANDEM_CUDA(&cuda::conv_filter_grad),
          .gradient = &conv_filter_grad_gradient,
          .dtypes = dtypes::floating,
          .inputs = 3,
          .saves = Saves::inputs,
          .shape_inputs = 4,
          .flags = {.takes_half = kernels_take_half, .cuda_takes_half = true},
          .attrs = &attr_type<rules::ConvAttrs>,
          .rare = {.display = display}};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef conv1d_op = detail::conv_def("conv1d", "Conv1D");
TANDEM_INLINE constexpr OpDef conv2d_op = detail::conv_def("conv2d", "Conv2D");
TANDEM_INLINE constexpr OpDef conv3d_op = detail::conv_def("conv3d", "Conv3D");
TANDEM_INLINE constexpr OpDef conv1d_transpose_op = detail::conv_transpose_def("conv1d_transpose", "Conv1DTranspose");
TANDEM_INLINE constexpr OpDef conv2d_transpose_op = detail::conv_transpose_def("conv2d_transpose", "Conv2DTranspose");
TANDEM_INLINE constexpr OpDef conv3d_transpose_op = detail::conv_transpose_def("conv3d_transpose", "Conv3DTranspose");
TANDEM_INLINE constexpr OpDef conv1d_filter_grad_op =
    detail::conv_filter_grad_def("conv1d_filter_grad", "Conv1DFilterGrad");
TANDEM_INLINE constexpr OpDef conv2d_filter_grad_op =
    detail::conv_filter_grad_def("conv2d_filter_grad", "Conv2DFilterGrad");
TANDEM_INLINE constexpr OpDef conv3d_filter_grad_op =
    detail::conv_filter_grad_def("conv3d_filter_grad", "Conv3DFilterGrad");

namespace detail {

TANDEM_INLINE rules::ConvAttrs conv_attrs(const char* op, int spatial, const WindowSizes& strides,
                                          const Padding& padding, DataFormat format, const WindowSizes& dilations) {
  rules::ConvAttrs a;
  a.strides = spatial_sizes(op, "strides", strides, spatial, format);
  a.dilations = spatial_sizes(op, "dilations", dilations, spatial, format);
  set_padding(op, padding, spatial, format, a);
  return a;
}
/// w, whose size on an axis must be `size`. If one of the two is not known yet, that is checked when it runs.
inline Tensor with_size(const Tensor& w, std::size_t axis, const DimValue& size) {
  const std::vector<DimValue> sizes = get_shape(w);
  if (sizes[axis].is_known() && size.is_known()) return w;
  Dims dims;
  for (std::size_t i = 0; i < sizes.size(); ++i) dims.push_back(i == axis ? size : sizes[i]);
  return reshape(w, dims);
}
inline void check_image_rank(const char* op, const Tensor& x, const Tensor& w, int spatial) {
  if (x.rank() != spatial + 2 || w.rank() != spatial + 2)
    errors::raise<errors::InvalidArgumentError>(op, "image and filter must have rank " + std::to_string(spatial + 2) +
                                                        ": " + to_string(x.spec()) + " x " + to_string(w.spec()));
}
/// Causal padding as explicit padding, by the size of the filter.
inline Padding resolved_padding(const OpDef& op, const Tensor& w, const nn::ConvOptions& o) {
  if (!o.padding.is_causal() || w.rank() != 3) return o.padding;
  const i64 size = w.shape().dim(0);
  if (size == none)
    errors::raise<errors::InvalidArgumentError>(
        op.name, "Padding::causal needs a filter of known size, not " + to_string(w.spec()));
  return {{(size - 1) * spatial_sizes(op.name, "dilations", o.dilations, 1, o.data_format).dim(0), 0}};
}
TANDEM_INLINE rules::ConvAttrs conv_attrs_of(const OpDef& op, int spatial, const Tensor& x, const Tensor& w,
                                             const nn::ConvOptions& o) {
  check_image_rank(op.name, x, w, spatial);
  return conv_attrs(op.name, spatial, o.strides, resolved_padding(op, w, o), o.data_format, o.dilations);
}
TANDEM_INLINE Tensor call_conv(int spatial, const Tensor& x, const Tensor& w, const nn::ConvOptions& o) {
  const CallSite call(o);
  const OpDef& op = *conv_by_axes[spatial - 1];
  const auto a = conv_attrs_of(op, spatial, x, w, o);
  return with_channels_of(apply1(op, a, {o.name, o.where}, with_channels_last(x, o.data_format), w), o.data_format);
}

// output_shape with the channels behind all other axes.
inline Dims dims_with_channels_last(const char* op, const Dims& dims, DataFormat format) {
  if (format != DataFormat::channels_first) return dims;
  const std::vector<DimValue> values = dims.values(op);
  Dims r;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i != 1) r.push_back(values[i]);
  if (values.size() > 1) r.push_back(values[1]);
  return r;
}
TANDEM_INLINE Tensor call_conv_transpose(int spatial, const Tensor& x, const Tensor& w, const Dims& output_shape,
                                         const nn::ConvTransposeOptions& o) {
  const CallSite call(o);
  const OpDef& op = *conv_transpose_by_axes[spatial - 1];
  check_image_rank(op.name, x, w, spatial);
  auto a = conv_attrs(op.name, spatial, o.strides, o.padding, o.data_format, o.dilations);
  const Dims dims = dims_with_channels_last(op.name, output_shape, o.data_format);
  const std::vector<DimValue> sizes = dims.values(op.name);
  Tensor filter = w;  // with fewer channels it would be one of groups, as in the gradient of a convolution
  if (static_cast<int>(sizes.size()) == x.rank()) {
    const i64 in = w.shape().dim(-2);
    if (in != none && sizes.back().is_known() && sizes.back().number != in)
      errors::raise<errors::InvalidArgumentError>(op.name, "output_shape has " + std::to_string(sizes.back().number) +
                                                               " channels, the filter " + std::to_string(in) + ": " +
                                                               to_string(x.spec()) + " x " + to_string(w.spec()));
    filter = with_size(w, static_cast<std::size_t>(spatial), sizes.back());
  }
  const Tensor image = with_channels_last(x, o.data_format);
  Tensor y;
  if (dims.is_known()) {
    a.output = dims.numbers(op.name);
    y = apply1(op, a, {o.name, o.where}, image, filter);
  } else {
    y = apply1(op, a, {o.name, o.where}, image, filter, zeros(dims, {.dtype = x.dtype()}));
  }
  return with_channels_of(y, o.data_format);
}

}  // namespace detail

namespace nn {

TANDEM_INLINE Tensor conv2d(const Tensor& x, const Tensor& w, ConvOptions o) {
  return tandem::detail::call_conv(2, x, w, o);
}
TANDEM_INLINE Tensor conv1d(const Tensor& x, const Tensor& w, Conv1dOptions o) {
  return tandem::detail::call_conv(1, x, w, {o.name, o.where, o.stride, o.padding, o.data_format, o.dilations});
}
TANDEM_INLINE Tensor conv3d(const Tensor& x, const Tensor& w, ConvOptions o) {
  return tandem::detail::call_conv(3, x, w, o);
}
TANDEM_INLINE Tensor convolution(const Tensor& x, const Tensor& w, ConvOptions o) {
  const tandem::detail::CallSite call(o);
  if (x.rank() < 3 || x.rank() > 5)
    errors::raise<errors::InvalidArgumentError>(
        "convolution", to_string(x.spec()) + " does not have rank 3, 4 or 5: batch, spatial axes, channels");
  return tandem::detail::call_conv(x.rank() - 2, x, w, o);
}
TANDEM_INLINE Tensor depthwise_conv2d(const Tensor& x, const Tensor& w, ConvOptions o) {
  const tandem::detail::CallSite call(o);
  tandem::detail::check_image_rank("depthwise_conv2d", x, w, 2);
  const int axis = o.data_format == DataFormat::channels_first ? 1 : 3;
  const i64 channels = x.shape().dim(axis), in = w.shape().dim(2);
  if (channels != in && channels != none && in != none)
    errors::raise<errors::InvalidArgumentError>(
        "depthwise_conv2d",
        "channels of image and filter differ: " + to_string(x.spec()) + " x " + to_string(w.spec()));
  // One group for each channel: [kh, kw, c, m] is [kh, kw, 1, c m].
  const Tensor filter = tandem::detail::with_size(w, 2, get_shape(x)[static_cast<std::size_t>(axis)]);
  return conv2d(x, expand_dims(collapse_dims(filter, {{0}, {1}, {2, 3}}), 2), o);
}
TANDEM_INLINE Tensor separable_conv2d(const Tensor& x, const Tensor& depthwise, const Tensor& pointwise,
                                      ConvOptions o) {
  const Tensor y = depthwise_conv2d(x, depthwise, o);
  const tandem::detail::CallSite call(o);
  tandem::detail::check_image_rank("separable_conv2d", x, pointwise, 2);
  for (int i : {0, 1})
    if (const i64 size = pointwise.shape().dim(i); size != 1 && size != none)
      errors::raise<errors::InvalidArgumentError>(
          "separable_conv2d", "the pointwise filter must be [1,1,in,out]: " + to_string(pointwise.spec()));
  return conv2d(y, pointwise, {.where = o.where, .data_format = o.data_format});
}

TANDEM_INLINE Tensor conv2d_transpose(const Tensor& x, const Tensor& w, const Dims& output_shape,
                                      ConvTransposeOptions o) {
  return tandem::detail::call_conv_transpose(2, x, w, output_shape, o);
}
TANDEM_INLINE Tensor conv1d_transpose(const Tensor& x, const Tensor& w, const Dims& output_shape,
                                      ConvTransposeOptions o) {
  return tandem::detail::call_conv_transpose(1, x, w, output_shape, o);
}
TANDEM_INLINE Tensor conv3d_transpose(const Tensor& x, const Tensor& w, const Dims& output_shape,
                                      ConvTransposeOptions o) {
  return tandem::detail::call_conv_transpose(3, x, w, output_shape, o);
}

}  // namespace nn
}  // namespace TANDEM_NS
