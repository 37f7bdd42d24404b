// CPU kernels that cut a signal into frames and add frames up. Not here: shape rules (signal/frames.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out = in0 along an axis, cut or followed by zeros to the size of out.
TANDEM_API void pad_or_trim(const KernelCall& c, int axis);
/// out[..., f, i, ...] = in0[..., f * step + i, ...], 0 beyond the end of the axis.
TANDEM_API void frame(const KernelCall& c, int axis, i64 step);
/// out[..., t, ...] = the sum of in0[..., f, t - f * step, ...] over all frames f; the axis is that of out.
TANDEM_API void overlap_and_add(const KernelCall& c, int axis, i64 step);

}  // namespace TANDEM_NS::cpu
