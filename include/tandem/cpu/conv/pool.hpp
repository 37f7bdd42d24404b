// CPU kernels of pooling over one to three spatial axes. Images are [batch, spatial..., channels]. The attributes are
// rules::PoolAttrs. The winner of a window is its first maximum, or its first NaN.
// Not here: shape rules and gradients (ops/conv/pool.hpp).
#pragma once
#include "tandem/attrs/conv.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out = the maxima of the windows of in0; the lowest value where a window lies in the padding.
TANDEM_API void max_pool(const KernelCall& c);
/// out = zeros of in1's shape, plus in0 at the winners of in1's windows.
TANDEM_API void max_pool_grad(const KernelCall& c);
/// out = in0 at the winners of in1's windows; 0 for windows in the padding.
TANDEM_API void max_pool_pick(const KernelCall& c);
/// out (int64) = where the winners of in0's windows are: the offset in the image, or in the batch; -1 for windows in
/// the padding.
TANDEM_API void max_pool_argmax(const KernelCall& c);
/// out = the means over what of the windows of in0 is inside of the image; 0 for windows in the padding.
TANDEM_API void avg_pool(const KernelCall& c);
/// out = the gradient of avg_pool to its input, where in0 is the gradient of its result.
TANDEM_API void avg_pool_grad(const KernelCall& c);

/// A pooling as its kernels see it: plain data.
struct PoolPlan {
  i64 batch, channels;
  WindowAxis axis[3];
  bool adjacent;  // windows do not overlap, and there is nothing between them
};
/// A part of the results: some rows of one image, and some channels.
struct PoolPart {
  i64 image, plane, plane_end, row, row_end, channel, channel_end;
};

}  // namespace TANDEM_NS::cpu
