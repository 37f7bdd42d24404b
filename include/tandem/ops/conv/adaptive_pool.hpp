// Pooling whose windows follow from the size of the result: adaptive_avg_pool, adaptive_max_pool, and over whole images
// global_avg_pool, global_max_pool. Composites.
// Not here: windows of a given size (pool.hpp).
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/conv/window.hpp"

namespace TANDEM_NS::nn {

struct AdaptivePoolOptions {
  TANDEM_OP_OPTIONS;
  DataFormat data_format = DataFormat::channels_last;
};
/// Means over a grid of windows that covers the image: of n pixels, result i of o takes those from floor(i n / o) up to
/// ceil((i + 1) n / o), so that windows overlap where o does not divide n.
///   x            [n, h, w, c], or [n, c, h, w] with DataFormat::nchw; [n, length, c] and [n, d, h, w, c] likewise;
///                floating, spatial axes of known sizes
///   output_size  the result's spatial sizes: one number for all of them, or one for each
///   returns      [n, oh, ow, c] (or [n, c, oh, ow])
///   throws       errors::InvalidArgumentError for another rank or number of sizes, a size below 1 or above the
///                image's, or a spatial axis of unknown size
///   gradient     g / count at each element of a window
TANDEM_API Tensor adaptive_avg_pool(const Tensor& x, const WindowSizes& output_size, AdaptivePoolOptions = {});
/// Maxima over the windows of adaptive_avg_pool.
///   x         integers or floating; otherwise as adaptive_avg_pool
///   gradient  g at each window's first maximum
TANDEM_API Tensor adaptive_max_pool(const Tensor& x, const WindowSizes& output_size, AdaptivePoolOptions = {});

struct GlobalPoolOptions {
  TANDEM_OP_OPTIONS;
  DataFormat data_format = DataFormat::channels_last;
  bool keepdims = false;  ///< keep the spatial axes, with size 1
};
/// The mean over all spatial axes.
///   x         [n, spatial..., c], or [n, c, spatial...] with DataFormat::nchw; rank >= 3, floating
///   returns   [n, c]
///   throws    errors::InvalidArgumentError for a rank below 3
///   gradient  g / count
TANDEM_API Tensor global_avg_pool(const Tensor& x, GlobalPoolOptions = {});
/// The maximum over all spatial axes.
///   x         integers or floating; otherwise as global_avg_pool
///   gradient  shared equally by equal maxima, as of reduce_max
TANDEM_API Tensor global_max_pool(const Tensor& x, GlobalPoolOptions = {});

}  // namespace TANDEM_NS::nn
