// Boxes in images: drawn, cut out, chosen by overlap; patches of a sliding window. Part of the component tandem::image.
// A box is {y_min, x_min, y_max, x_max}, as parts of height and width: {0, 0, 1, 1} is all of the image.
#pragma once
#include <limits>
#include <utility>
#include <vector>

#include "tandem/image/transform.hpp"
#include "tandem/ops/conv/window.hpp"

namespace TANDEM_NS::image {

/// Draws the outlines of boxes, one pixel wide. What lies outside of the image is left out; later boxes cover earlier
/// ones.
///   x         floating, [n, height, width, channels]
///   boxes     floating, [n, b, 4]; those with a NaN are not drawn
///   colors    floating, [k, channels]: box i has color i % k; default: yellow, blue, red, lime, purple, olive, maroon,
///             navy, aqua, fuchsia, for up to 4 channels; 1 for a single channel
///   returns   dtype and shape of x
///   throws    errors::InvalidArgumentError for other ranks, sizes or dtypes, or an unknown number of boxes in a trace
///   gradient  none (non-differentiable)
TANDEM_API Tensor draw_bounding_boxes(const Tensor& x, const Tensor& boxes, const Tensor& colors = Tensor(),
                                      OpOptions = {});

struct NonMaxSuppressionOptions {
  double iou_threshold = 0.5;  ///< boxes that overlap more with a chosen one are left out
  double score_threshold = -std::numeric_limits<double>::infinity();  ///< so are those that do not score more
};
/// Chooses boxes by their scores, and leaves out those that overlap with one that was chosen: by intersection over
/// union. Not an op: how many are chosen is known when the boxes are there.
///   boxes     floating, [n, 4]: any two diagonal corners of each box, in any unit; overlaps are computed in float32
///             unless boxes or scores are float64
///   scores    floating, [n]
///   returns   int32, [m], m <= max_output_size: the boxes' numbers, the highest score first; of equal ones the first
///   throws    errors::InvalidArgumentError for other ranks, sizes or dtypes, or thresholds out of their ranges;
///             errors::TraceError in a traced function
TANDEM_API Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores, i64 max_output_size,
                                      NonMaxSuppressionOptions = {});

struct CropAndResizeOptions {
  TANDEM_OP_OPTIONS;
  Sampling method = Sampling::bilinear;
  double extrapolation_value = 0;  ///< outside of the image
};
/// Cuts boxes out of images and resizes them to one size. A box may reach beyond its image, or be mirrored.
///   x            real numbers, [n, height, width, channels]
///   boxes        floating, [b, 4]
///   box_indices  int32 or int64, [b]: the image of each box
///   returns      float32 (float64 for float64), [b, crop height, crop width, channels]
///   throws       errors::InvalidArgumentError for other ranks, sizes or dtypes, a size below 1, or an image that is
///                not there
///   gradient     to x and to boxes
TANDEM_API Tensor crop_and_resize(const Tensor& x, const Tensor& boxes, const Tensor& box_indices,
                                  const Size& crop_size, CropAndResizeOptions = {});

struct ExtractPatchesOptions {
  TANDEM_OP_OPTIONS;
  Size strides = {1, 1};
  Size rates = {1, 1};  ///< the pixels of a patch are so far apart
  Padding padding = Padding::valid;
};
/// Lists the patches of images that a window sees at each of its positions.
///   x         any dtype, [n, height, width, channels]; sizes must be known
///   sizes     {rows, columns} of the window
///   returns   dtype of x, [n, positions down, positions right, rows * columns * channels]
///   throws    errors::InvalidArgumentError for another rank, or sizes, strides or rates below 1
///   gradient  each pixel gets the sum over the patches that have it
TANDEM_API Tensor extract_patches(const Tensor& x, const Size& sizes, ExtractPatchesOptions = {});

}  // namespace TANDEM_NS::image
