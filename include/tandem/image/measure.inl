// Definitions of image/measure.hpp.
#pragma once
#include <cmath>

#include "tandem/core/scope.hpp"
#include "tandem/image/measure.hpp"
#include "tandem/image/shapes.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/conv/conv.hpp"
#include "tandem/ops/conv/pool.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::image {

namespace impl {
// Pads the two axes of images at their ends, or on both sides.
inline Tensor padded(const Tensor& x, i64 before, i64 below, i64 right, PadMode mode) {
  std::vector<std::pair<i64, i64>> sides(static_cast<std::size_t>(x.rank() - 3), {0, 0});
  sides.insert(sides.end(), {{before, below}, {before, right}, {0, 0}});
  return pad(x, sides, {.mode = mode});
}
inline Tensor part(const Tensor& x, const Slice& rows, const Slice& columns) {
  return slice_by(x, {Ellipsis, rows, columns, Slice()});
}
// A number dtype in which means can be computed.
inline Tensor measured(const Tensor& x) { return x.dtype() == DType::float64 ? x : cast(x, DType::float32); }
// Differences of unsigned integers wrap around, and narrow ones overflow.
inline void check_differences_fit(const char* op, const Tensor& x) {
  const DType d = x.dtype();
  if (is_integer(d) && d != DType::int32 && d != DType::int64)
    raise(op, "differences of pixels may not fit into the dtype of x, " + to_string(x.spec()) +
                  ": cast(x, float32), or to int32, first");
}
inline void check_pair(const char* op, const Tensor& a, const Tensor& b) {
  const auto is_real = [](DType d) { return is_floating(d) || is_integer(d); };
  if (a.rank() < 3 || !a.shape().is_compatible_with(b.shape()) || a.dtype() != b.dtype() || !is_real(a.dtype()))
    raise(op, "needs two real tensors [..., height, width, channels] of one shape and dtype, not " +
                  to_string(a.spec()) + " and " + to_string(b.spec()));
}

// Images as planes of one channel, [planes, height, width, 1], and back from a number per plane.
inline Tensor planes_of(const Tensor& x) {
  const std::vector<DimValue> n = get_shape(x);
  const std::size_t rows = n.size() - 3;
  const Tensor batch = reshape(measured(x), {-1, n[rows], n[rows + 1], n[rows + 2]});
  return reshape(tandem::transpose(batch, {.perm = {0, 3, 1, 2}}), {-1, n[rows], n[rows + 1], 1});
}
inline Tensor mean_over_channels(const Tensor& per_plane, const Tensor& x, const OpOptions& o) {
  const std::vector<DimValue> n = get_shape(x);
  Dims shape;
  for (std::size_t i = 0; i < n.size(); ++i)
    if (i + 3 < n.size() || i + 1 == n.size()) shape.push_back(n[i]);
  return reduce_mean(reshape(per_plane, shape), {o.name, o.where, -1});
}

// The weights of SSIM's window, and its constants.
struct SsimTerms {
  SsimTerms(const char* op, double max_val, i64 size, double sigma, double k1, double k2) {
    if (size < 1 || !(sigma > 0) || !(max_val > 0)) raise(op, "max_val, filter_size and filter_sigma must be positive");
    double sum = 0;
    for (i64 i = 0; i < size; ++i) {
      const double x = static_cast<double>(i) - static_cast<double>(size - 1) / 2;
      window.push_back(std::exp(-x * x / (2 * sigma * sigma)));
      sum += window.back();
    }
    for (double& w : window) w /= sum;
    c1 = k1 * max_val * k1 * max_val;
    c2 = k2 * max_val * k2 * max_val;
  }
  // Means over windows.
  Tensor blurred(const Tensor& planes) const {
    const auto n = static_cast<i64>(window.size());
    const Tensor rows = constant(window, {.dtype = planes.dtype(), .shape = {n, 1, 1, 1}});
    return nn::conv2d(nn::conv2d(planes, rows), reshape(rows, {1, n, 1, 1}));
  }
  std::vector<double> window;
  double c1, c2;
};
// Per plane: the similarity, and its part without luminance.
inline std::pair<Tensor, Tensor> similarity(const Tensor& a, const Tensor& b, const SsimTerms& terms) {
  const Tensor mean_a = terms.blurred(a), mean_b = terms.blurred(b), product = mean_a * mean_b * 2;
  const Tensor squares = square(mean_a) + square(mean_b);
  const Tensor both = terms.blurred(a * b) * 2, each = terms.blurred(square(a) + square(b));
  const Tensor structure = (both - product + terms.c2) / (each - squares + terms.c2);
  const Tensor luminance = (product + terms.c1) / (squares + terms.c1);
  return {reduce_mean(luminance * structure, {1, 2, 3}), reduce_mean(structure, {1, 2, 3})};
}
inline void check_window_fits(const char* op, const Tensor& planes, i64 size) {
  for (const int axis : {1, 2})
    if (const i64 n = planes.shape().dim(axis); n != none && n < size)
      raise(op, "the images, or the smallest scale of them, must have " + std::to_string(size) +
                    " pixels on each side, .filter_size, not " + std::to_string(n));
}
// Half as large: means of 2 x 2 pixels, the border repeated for odd sizes.
inline Tensor halved(const char* op, const Tensor& planes) {
  const i64 h = planes.shape().dim(1), w = planes.shape().dim(2);
  if (h == none || w == none) raise(op, "needs to know height and width");
  return nn::avg_pool2d(h % 2 || w % 2 ? padded(planes, 0, h % 2, w % 2, PadMode::symmetric) : planes);
}
}  // namespace impl

TANDEM_INLINE Tensor sobel_edges(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "sobel_edges");
  impl::check_rank("sobel_edges", x);
  if (!is_floating(x.dtype())) impl::raise("sobel_edges", "x must be floating: " + to_string(x.spec()));
  const Tensor p = impl::padded(x, 1, 1, 1, PadMode::reflect);
  const Slice all, first(none, -2), middle(1, -1), last(2, none);
  // Weights 1, 2, 1 along one axis, then the difference along the other.
  const Tensor columns = impl::part(p, all, first) + impl::part(p, all, middle) * 2 + impl::part(p, all, last);
  const Tensor rows = impl::part(p, first, all) + impl::part(p, middle, all) * 2 + impl::part(p, last, all);
  return stack({impl::part(columns, last, all) - impl::part(columns, first, all),
                impl::part(rows, all, last) - impl::part(rows, all, first)},
               {o.name, o.where, -1});
}
TANDEM_INLINE ImageGradients image_gradients(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "image_gradients");
  if (x.rank() != 4)
    impl::raise("image_gradients", "x must be [n, height, width, channels], not " + to_string(x.spec()));
  impl::check_differences_fit("image_gradients", x);
  const Slice all, but_first(1, none), but_last(none, -1);
  const Tensor dy = impl::part(x, but_first, all) - impl::part(x, but_last, all);
  const Tensor dx = impl::part(x, all, but_first) - impl::part(x, all, but_last);
  return {impl::padded(dy, 0, 1, 0, PadMode::constant), impl::padded(dx, 0, 0, 1, PadMode::constant)};
}
TANDEM_INLINE Tensor total_variation(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "total_variation");
  impl::check_rank("total_variation", x);
  impl::check_differences_fit("total_variation", x);
  const Slice all, but_first(1, none), but_last(none, -1);
  const Axes axes{-3, -2, -1};
  const Tensor dy = impl::part(x, but_first, all) - impl::part(x, but_last, all);
  const Tensor dx = impl::part(x, all, but_first) - impl::part(x, all, but_last);
  return add(reduce_sum(abs(dy), {.axis = axes}), reduce_sum(abs(dx), {.axis = axes}), o);
}

TANDEM_INLINE Tensor psnr(const Tensor& a, const Tensor& b, double max_val, OpOptions o) {
  const tandem::detail::CallSite call(o, "psnr");
  impl::check_pair("psnr", a, b);
  if (!(max_val > 0)) impl::raise("psnr", "max_val must be positive, not " + tandem::detail::shortest_text(max_val));
  const Tensor error = reduce_mean(square(impl::measured(a) - impl::measured(b)), {-3, -2, -1});
  return subtract(20 * std::log10(max_val), log(error) * (10 / std::log(10.)), o);
}
TANDEM_INLINE Tensor ssim(const Tensor& a, const Tensor& b, double max_val, SsimOptions o) {
  const tandem::detail::CallSite call(o, "ssim");
  impl::check_pair("ssim", a, b);
  const impl::SsimTerms terms("ssim", max_val, o.filter_size, o.filter_sigma, o.k1, o.k2);
  const Tensor planes = impl::planes_of(a);
  impl::check_window_fits("ssim", planes, o.filter_size);
  return impl::mean_over_channels(impl::similarity(planes, impl::planes_of(b), terms).first, a, {o.name, o.where});
}
TANDEM_INLINE Tensor ssim_multiscale(const Tensor& a, const Tensor& b, double max_val, SsimMultiscaleOptions o) {
  const tandem::detail::CallSite call(o, "ssim_multiscale");
  impl::check_pair("ssim_multiscale", a, b);
  if (o.power_factors.empty()) impl::raise("ssim_multiscale", "power_factors must not be empty");
  const impl::SsimTerms terms("ssim_multiscale", max_val, o.filter_size, o.filter_sigma, o.k1, o.k2);
  Tensor x = impl::planes_of(a), y = impl::planes_of(b), result;
  for (std::size_t scale = 0; scale < o.power_factors.size(); ++scale) {
    if (scale) x = impl::halved("ssim_multiscale", x), y = impl::halved("ssim_multiscale", y);
    impl::check_window_fits("ssim_multiscale", x, o.filter_size);
    const auto [similarity, structure] = impl::similarity(x, y, terms);
    const bool is_last = scale + 1 == o.power_factors.size();
    const Tensor factor = pow(nn::relu(is_last ? similarity : structure), o.power_factors[scale]);
    result = scale ? result * factor : factor;
  }
  return impl::mean_over_channels(result, a, {o.name, o.where});
}

}  // namespace TANDEM_NS::image
