// Definitions of ops/conv/adaptive_pool.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/conv/adaptive_pool.hpp"
#include "tandem/ops/conv/pool.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS {
namespace detail {

using Pooling = Tensor (*)(const Tensor&, nn::PoolOptions);

// Where the image's sizes begin and how many there are, and the result's sizes.
struct AdaptiveGrid {
  int first, spatial;
  i64 sizes[3];
};
TANDEM_INLINE AdaptiveGrid adaptive_grid(const char* op, const Tensor& x, const nn::AdaptivePoolOptions& o,
                                         const WindowSizes& output) {
  AdaptiveGrid r{o.data_format == DataFormat::channels_last ? 1 : 2, x.rank() - 2, {}};
  if (r.spatial < 1 || r.spatial > 3)
    errors::raise<errors::InvalidArgumentError>(
        op, to_string(x.spec()) + " does not have rank 3, 4 or 5: batch, spatial axes, channels");
  if (output.size() != 1 && output.size() != r.spatial)
    errors::raise<errors::InvalidArgumentError>(op, std::to_string(output.size()) + " sizes for the " +
                                                        std::to_string(r.spatial) + " spatial axes of " +
                                                        to_string(x.spec()));
  for (int i = 0; i < r.spatial; ++i) {
    const i64 n = x.shape().dim(r.first + i);
    r.sizes[i] = output[output.size() == 1 ? 0 : i];
    if (n == none)
      errors::raise<errors::InvalidArgumentError>(
          op, "the sizes of " + to_string(x.spec()) + " must be known (give them in the function's input signature)");
    if (r.sizes[i] < 1 || r.sizes[i] > n)
      errors::raise<errors::InvalidArgumentError>(op, "size " + std::to_string(r.sizes[i]) + " of axis " +
                                                          std::to_string(r.first + i) + " of " + to_string(x.spec()) +
                                                          " is outside [1, " + std::to_string(n) + "]");
  }
  return r;
}

// One spatial axis of x in o windows.
TANDEM_INLINE Tensor adaptive_axis(const Tensor& x, Pooling pool, const AdaptiveGrid& grid, int i, DataFormat format) {
  const int axis = grid.first + i;
  const i64 n = x.shape().dim(axis), o = grid.sizes[i];
  const auto pooled = [&](const Tensor& part, i64 size) {
    std::vector<i64> window(static_cast<std::size_t>(grid.spatial), 1);
    window[static_cast<std::size_t>(i)] = size;
    return pool(part, {.ksize = window, .data_format = format});
  };
  if (o == n) return x;
  if (n % o == 0) return pooled(x, n / o);
  std::vector<Tensor> parts;
  for (i64 k = 0; k < o; ++k) {
    Shape begin, size = x.shape();
    begin.resize(x.rank());
    for (int a = 0; a < x.rank(); ++a) begin.set(a, 0), size.set(a, a == axis ? size.dim(a) : -1);
    const i64 from = k * n / o, to = ((k + 1) * n + o - 1) / o;
    begin.set(axis, from), size.set(axis, to - from);
    parts.push_back(pooled(slice(x, Dims(begin), Dims(size)), to - from));
  }
  return concat(parts, axis);
}
// The last axis first: of equal maxima the first in the order of the image wins, as in max_pool.
TANDEM_INLINE Tensor adaptive_pool(const char* op, Pooling pool, const Tensor& x, const WindowSizes& output,
                                   const nn::AdaptivePoolOptions& o) {
  const CallSite call(o);
  const AdaptiveGrid grid = adaptive_grid(op, x, o, output);
  Tensor y = x;
  for (int i = grid.spatial - 1; i >= 0; --i) y = adaptive_axis(y, pool, grid, i, o.data_format);
  return y;
}

TANDEM_INLINE ReduceOptions global_axes(const char* op, const Tensor& x, const nn::GlobalPoolOptions& o) {
  if (x.rank() < 3)
    errors::raise<errors::InvalidArgumentError>(
        op, to_string(x.spec()) + " has no spatial axes: it needs rank 3 or more (batch, spatial axes, channels)");
  std::vector<int> axes;
  for (int a = o.data_format == DataFormat::channels_last ? 1 : 2; static_cast<int>(axes.size()) < x.rank() - 2; ++a)
    axes.push_back(a);
  return {.name = o.name, .where = o.where, .axis = axes, .keepdims = o.keepdims};
}

}  // namespace detail

namespace nn {

TANDEM_INLINE Tensor adaptive_avg_pool(const Tensor& x, const WindowSizes& output_size, AdaptivePoolOptions o) {
  return detail::adaptive_pool("nn::adaptive_avg_pool", &avg_pool, x, output_size, o);
}
TANDEM_INLINE Tensor adaptive_max_pool(const Tensor& x, const WindowSizes& output_size, AdaptivePoolOptions o) {
  return detail::adaptive_pool("nn::adaptive_max_pool", &max_pool, x, output_size, o);
}
TANDEM_INLINE Tensor global_avg_pool(const Tensor& x, GlobalPoolOptions o) {
  return reduce_mean(x, detail::global_axes("nn::global_avg_pool", x, o));
}
TANDEM_INLINE Tensor global_max_pool(const Tensor& x, GlobalPoolOptions o) {
  return reduce_max(x, detail::global_axes("nn::global_max_pool", x, o));
}

}  // namespace nn
}  // namespace TANDEM_NS
