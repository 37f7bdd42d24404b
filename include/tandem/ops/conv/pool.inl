// Definitions of ops/conv/pool.hpp. The gradient of a maximum moves g to the winners of x's windows (max_pool_grad);
// its own gradient reads at the winners (max_pool_pick), and the other way round.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/conv/pool.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/conv/conv.hpp"
#include "tandem/ops/conv/image_axes.hpp"
#include "tandem/ops/conv/pool.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {
namespace detail {

// Whether a window reads nothing but padding: result t where no t * stride - before + k * dilation is in [0, in).
TANDEM_INLINE bool has_empty_window(const WindowAxis& w) {
  const i64 reach = (w.window - 1) * w.dilation, last = (w.out - 1) * w.stride - w.before;
  if (w.out == 0) return false;
  if (w.before > reach || last >= w.in) return true;
  if (w.dilation <= w.in) return false;  // its elements are too close to step over the image
  for (i64 t = 0; t < w.out; ++t) {
    const i64 start = t * w.stride - w.before;
    const i64 first = start >= 0 ? start : (start % w.dilation + w.dilation) % w.dilation;
    if (first >= w.in || first > start + reach) return true;
  }
  return false;
}
// The shape of x after pooling.
TANDEM_INLINE Shape pool_shape(const InferCall& c, const Shape& x) {
  const auto& a = c.get<rules::PoolAttrs>();
  const int spatial = a.ksize.rank();
  check_window(c, a, spatial);
  if (x.rank() != spatial + 2) raise_specs(c, "the image must have rank " + std::to_string(spatial + 2));
  for (i64 k : a.ksize)
    if (k < 1 || k > max_window_entry) raise_specs(c, "a window of size " + std::to_string(k));
  Shape y{x.dim(0)};
  for (int i = 0; i < spatial; ++i) {
    y.push_back(window_result(c, a, i, x.dim(1 + i), a.ksize.dim(i)));
    if (x.dim(1 + i) != none && has_empty_window(window_axis(a, i, x.dim(1 + i), a.ksize.dim(i))))
      raise_specs(c,
                  "a window of " + std::to_string(a.ksize.dim(i)) + " lies wholly in the padding of spatial axis " +
                      std::to_string(i),
                  "pad less than the window's size, or pad the image by pad()");
  }
  y.push_back(x.dim(-1));
  return y;
}
TANDEM_INLINE Specs infer_pool(const InferCall& c) {
  Specs r(c.spec(0));
  r[0].shape = pool_shape(c, c.spec(0).shape);
  return r;
}
TANDEM_INLINE Specs infer_max_pool_argmax(const InferCall& c) {
  Specs r = infer_pool(c);
  r[0].dtype = DType::int64;
  return r;
}
// The gradient, and the image or a tensor of its shape.
TANDEM_INLINE Specs infer_avg_pool_grad(const InferCall& c) {
  if (!pool_shape(c, c.spec(1).shape).is_compatible_with(c.spec(0).shape))
    raise_specs(c, "gradient shape does not match result shape");
  Specs r(c.spec(0));
  r[0].shape = c.spec(1).shape;
  return r;
}
TANDEM_INLINE Specs infer_max_pool_grad(const InferCall& c) {
  if (c.spec(1).dtype != c.spec(0).dtype) raise_specs(c, "dtypes differ");
  return infer_avg_pool_grad(c);
}
// What is read at the winners, and the image.
TANDEM_INLINE Specs infer_max_pool_pick(const InferCall& c) {
  if (c.spec(1).dtype != c.spec(0).dtype || !c.spec(1).shape.is_compatible_with(c.spec(0).shape))
    raise_specs(c, "shapes or dtypes differ");
  Specs r(c.spec(0));
  r[0].shape = pool_shape(c, c.spec(1).shape);
  return r;
}

TANDEM_INLINE Grads max_pool_gradient(const GradCall& c) {
  return Grads(Gradient(apply1(max_pool_grad_op, c.attrs, no_options, c.g[0], c.in[0])));
}
TANDEM_INLINE Grads max_pool_grad_gradient(const GradCall& c) {
  return {c.needs(0) ? Gradient(apply1(max_pool_pick_op, c.attrs, no_options, c.g[0], c.in[1])) : Gradient(),
          Gradient()};
}
TANDEM_INLINE Grads max_pool_pick_gradient(const GradCall& c) {
  return {c.needs(0) ? Gradient(apply1(max_pool_grad_op, c.attrs, no_options, c.g[0], c.in[1])) : Gradient(),
          Gradient()};
}
TANDEM_INLINE Grads avg_pool_gradient(const GradCall& c) {
  return Grads(Gradient(apply1(avg_pool_grad_op, c.attrs, no_options, c.g[0], c.in[0])));
}
TANDEM_INLINE Grads avg_pool_grad_gradient(const GradCall& c) {
  return {c.needs(0) ? Gradient(apply1(avg_pool_op, c.attrs, no_options, c.g[0])) : Gradient(), Gradient()};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef max_pool_op{.name = "max_pool",
                                          .infer = &detail::infer_pool,
                                          .cpu = &cpu::max_pool,
                                          .cuda = TANDEM_CUDA(&cuda::max_pool),
                                          .gradient = &detail::max_pool_gradient,
                                          .dtypes = dtypes::real,
                                          .saves = Saves::inputs,
                                          .flags = {.takes_half = kernels_take_half},
                                          .attrs = &detail::attr_type<rules::PoolAttrs>};
TANDEM_INLINE constexpr OpDef max_pool_grad_op{.name = "max_pool_grad",
                                               .input_names = "g, x",
                                               .infer = &detail::infer_max_pool_grad,
                                               .cpu = &cpu::max_pool_grad,
                                               .cuda = TANDEM_CUDA(&cuda::max_pool_grad),
                                               .gradient = &detail::max_pool_grad_gradient,
                                               .dtypes = dtypes::floating,
                                               .inputs = 2,
                                               .saves = Saves::inputs,
                                               .flags = {.takes_half = kernels_take_half},
                                               .attrs = &detail::attr_type<rules::PoolAttrs>};
TANDEM_INLINE constexpr OpDef max_pool_pick_op{.name = "max_pool_pick",
                                               .input_names = "g, x",
                                               .infer = &detail::infer_max_pool_pick,
                                               .cpu = &cpu::max_pool_pick,
                                               .cuda = TANDEM_CUDA(&cuda::max_pool_pick),
                                               .gradient = &detail::max_pool_pick_gradient,
                                               .dtypes = dtypes::floating,
                                               .inputs = 2,
                                               .saves = Saves::inputs,
                                               .flags = {.takes_half = kernels_take_half},
                                               .attrs = &detail::attr_type<rules::PoolAttrs>};
TANDEM_INLINE constexpr OpDef max_pool_argmax_op{.name = "max_pool_argmax",
                                                 .infer = &detail::infer_max_pool_argmax,
                                                 .cpu = &cpu::max_pool_argmax,
                                                 .cuda = TANDEM_CUDA(&cuda::max_pool_argmax),
                                                 .dtypes = dtypes::real,
                                                 .saves = Saves::nothing,
                                                 .flags = {.non_differentiable = true, .takes_half = kernels_take_half},
                                                 .attrs = &detail::attr_type<rules::PoolAttrs>};
TANDEM_INLINE constexpr OpDef avg_pool_op{.name = "avg_pool",
                                          .infer = &detail::infer_pool,
                                          .cpu = &cpu::avg_pool,
                                          .cuda = TANDEM_CUDA(&cuda::avg_pool),
                                          .gradient = &detail::avg_pool_gradient,
                                          .dtypes = dtypes::floating,
                                          .saves = Saves::shape,
                                          .flags = {.takes_half = kernels_take_half},
                                          .attrs = &detail::attr_type<rules::PoolAttrs>};
TANDEM_INLINE constexpr OpDef avg_pool_grad_op{.name = "avg_pool_grad",
                                               .input_names = "g, x",
                                               .infer = &detail::infer_avg_pool_grad,
                                               .cpu = &cpu::avg_pool_grad,
                                               .cuda = TANDEM_CUDA(&cuda::avg_pool_grad),
                                               .gradient = &detail::avg_pool_grad_gradient,
                                               .dtypes = dtypes::floating,
                                               .inputs = 2,
                                               .saves = Saves::shape,
                                               .shape_inputs = 2,
                                               .flags = {.takes_half = kernels_take_half},
                                               .attrs = &detail::attr_type<rules::PoolAttrs>};

namespace detail {

// Raises unless x has 1 to 3 spatial axes, or `spatial` of them if that is not 0; returns how many.
inline int pool_axes(const char* op, const Tensor& x, int spatial) {
  const int axes = x.rank() - 2;
  if (axes < 1 || axes > 3 || (spatial && axes != spatial))
    errors::raise<errors::InvalidArgumentError>(op, to_string(x.spec()) + " does not have rank " +
                                                        (spatial ? std::to_string(spatial + 2) : "3, 4 or 5") +
                                                        ": batch, spatial axes, channels");
  return axes;
}
inline rules::PoolAttrs pool_attrs(const char* op, int spatial, const WindowSizes& ksize, const WindowSizes& strides,
                                   const Padding& padding, DataFormat format, const WindowSizes& dilations) {
  rules::PoolAttrs a;
  if (ksize.size() == 0) errors::raise<errors::InvalidArgumentError>(op, "ksize is empty: a window has a size");
  a.ksize = spatial_sizes(op, "ksize", ksize, spatial, format);
  a.strides = spatial_sizes(op, "strides", strides, spatial, format);
  a.dilations = spatial_sizes(op, "dilations", dilations, spatial, format);
  set_padding(op, padding, spatial, format, a);
  return a;
}
TANDEM_INLINE Tensor call_pool(const OpDef& op, int spatial, const Tensor& x, const nn::PoolOptions& o) {
  const CallSite call(o);
  const int axes = pool_axes(op.name, x, spatial);
  const auto a =
      pool_attrs(op.name, axes, o.ksize, o.strides.size() ? o.strides : o.ksize, o.padding, o.data_format, {});
  return with_channels_of(apply1(op, a, {o.name, o.where}, with_channels_last(x, o.data_format)), o.data_format);
}

}  // namespace detail

namespace nn {

TANDEM_INLINE Tensor max_pool(const Tensor& x, PoolOptions o) {
  return tandem::detail::call_pool(max_pool_op, 0, x, o);
}
TANDEM_INLINE Tensor avg_pool(const Tensor& x, PoolOptions o) {
  return tandem::detail::call_pool(avg_pool_op, 0, x, o);
}
TANDEM_INLINE Tensor max_pool1d(const Tensor& x, PoolOptions o) {
  return tandem::detail::call_pool(max_pool_op, 1, x, o);
}
TANDEM_INLINE Tensor max_pool2d(const Tensor& x, PoolOptions o) {
  return tandem::detail::call_pool(max_pool_op, 2, x, o);
}
TANDEM_INLINE Tensor max_pool3d(const Tensor& x, PoolOptions o) {
  return tandem::detail::call_pool(max_pool_op, 3, x, o);
}
TANDEM_INLINE Tensor avg_pool1d(const Tensor& x, PoolOptions o) {
  return tandem::detail::call_pool(avg_pool_op, 1, x, o);
}
TANDEM_INLINE Tensor avg_pool2d(const Tensor& x, PoolOptions o) {
  return tandem::detail::call_pool(avg_pool_op, 2, x, o);
}
TANDEM_INLINE Tensor avg_pool3d(const Tensor& x, PoolOptions o) {
  return tandem::detail::call_pool(avg_pool_op, 3, x, o);
}

TANDEM_INLINE ArgmaxPool max_pool_with_argmax(const Tensor& x, ArgmaxPoolOptions o) {
  const tandem::detail::CallSite call(o);
  const char* const op = "max_pool_with_argmax";
  tandem::detail::pool_axes(op, x, 2);
  if (!dtypes::index.has(o.output_dtype))
    errors::raise<errors::InvalidArgumentError>(
        op, std::string("output_dtype must be int32 or int64, not ") + tandem::name(o.output_dtype));
  auto a = tandem::detail::pool_attrs(op, 2, o.ksize, o.strides.size() ? o.strides : o.ksize, o.padding,
                                      DataFormat::channels_last, {});
  const Tensor y = apply1(max_pool_op, a, {o.name, o.where}, x);
  a.include_batch = o.include_batch_in_index;
  return {y, cast(apply1(max_pool_argmax_op, a, {{}, o.where}, x), o.output_dtype)};
}

TANDEM_INLINE Tensor pool(const Tensor& x, const WindowSizes& window_shape, PoolingType type, GeneralPoolOptions o) {
  const tandem::detail::CallSite call(o);
  const int axes = tandem::detail::pool_axes("pool", x, 0);
  const auto a =
      tandem::detail::pool_attrs("pool", axes, window_shape, o.strides, o.padding, o.data_format, o.dilations);
  const Tensor image = tandem::detail::with_channels_last(x, o.data_format);
  return tandem::detail::with_channels_of(
      apply1(type == PoolingType::max ? max_pool_op : avg_pool_op, a, {o.name, o.where}, image), o.data_format);
}

TANDEM_INLINE Tensor local_response_normalization(const Tensor& x, LocalResponseNormalizationOptions o) {
  const tandem::detail::CallSite call(o, "local_response_normalization");
  if (x.rank() == 0 || o.depth_radius < 0)
    errors::raise<errors::InvalidArgumentError>(
        "local_response_normalization",
        x.rank() ? "depth_radius is negative: " + std::to_string(o.depth_radius) : "a scalar has no channels");
  // The sums over neighboring channels are a convolution with ones, along the channels as a spatial axis.
  const Tensor wide = tandem::detail::widened(x), squares = square(wide);
  const Tensor rows = expand_dims(x.rank() > 1 ? collapse_leading(squares, x.rank() - 1) : expand_dims(squares, 0), -1);
  const Tensor window = ones({2 * o.depth_radius + 1, 1, 1}, {.dtype = wide.dtype()});
  const Tensor sums = tandem::detail::reshape_like(conv1d(rows, window, {.padding = Padding::same}), x);
  return cast(wide / pow(o.bias + o.alpha * sums, o.beta), x.dtype());
}
TANDEM_INLINE Tensor lrn(const Tensor& x, LocalResponseNormalizationOptions o) {
  const tandem::detail::CallSite call(o, "lrn");
  return local_response_normalization(x, o);
}

}  // namespace nn
}  // namespace TANDEM_NS
