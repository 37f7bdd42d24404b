// Exchange of positions between spatial axes and the channel or batch axis: space_to_depth, depth_to_space,
// space_to_batch_nd, batch_to_space_nd. All of them reshape, transpose and reshape.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

namespace nn {
struct DepthOptions {
  Designated designated{};
  TANDEM_OP_OPTIONS;
  std::string_view data_format = "NHWC";  ///< or "NCHW"
};
/// Moves blocks of positions into the channel axis: [N, H, W, C] to [N, H / block, W / block, block * block * C].
///   x         any dtype, rank 4
///   throws    errors::InvalidArgumentError for another rank, a block below 1 or one that does not divide H and W
///   gradient  depth_to_space(g, block)
TANDEM_API Tensor space_to_depth(const Tensor& x, i64 block, DepthOptions = {});
/// Moves groups of channels into blocks of positions, the inverse of space_to_depth: [N, H, W, block * block * C] to
/// [N, H * block, W * block, C].
///   throws    errors::InvalidArgumentError for another rank, a block below 1, or block * block that does not divide
///             the channels
///   gradient  space_to_depth(g, block)
TANDEM_API Tensor depth_to_space(const Tensor& x, i64 block, DepthOptions = {});
}  // namespace nn
using nn::depth_to_space;
using nn::space_to_depth;

/// Pads axes 1, 2, ... with zeros, and moves their positions within blocks into the batch axis: [N, S1, .., rest] to
/// [N * b1 * .., (S1 + padding) / b1, .., rest].
///   x            any dtype, rank > the number of blocks
///   block_shape  the sizes b1, b2, ... of the blocks, one for each axis from 1 on
///   paddings     {before, after} for each of these axes
///   throws       errors::InvalidArgumentError if a block does not divide its padded axis, or for numbers of blocks and
///                paddings that do not match
///   gradient     batch_to_space_nd(g, block_shape, paddings)
TANDEM_API Tensor space_to_batch_nd(const Tensor& x, const std::vector<i64>& block_shape,
                                    const std::vector<std::pair<i64, i64>>& paddings, OpOptions = {});
/// The inverse of space_to_batch_nd: moves parts of the batch axis into blocks of positions, and removes {before,
/// after} elements of each axis.
///   throws    errors::InvalidArgumentError if the blocks do not divide the batch, or crops exceed an axis
///   gradient  space_to_batch_nd(g, block_shape, crops)
TANDEM_API Tensor batch_to_space_nd(const Tensor& x, const std::vector<i64>& block_shape,
                                    const std::vector<std::pair<i64, i64>>& crops, OpOptions = {});

}  // namespace TANDEM_NS
