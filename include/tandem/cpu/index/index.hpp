// Kernels of the ops that move rows by index: gather, its scatter-add, and the n-dimensional and along-axis forms.
// Indices are checked before anything is written. Not here: sorting (sort.hpp), masks (mask.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out[b..., o..., i..., r...] = in0[b..., o..., in1[b..., i...], r...]; the first `batch_dims` axes are shared.
TANDEM_API void gather(const KernelCall& c, int axis, int batch_dims);
/// out = 0, then out[b..., o..., in1[b..., i...], r...] += in0[b..., o..., i..., r...], in the order of i.
TANDEM_API void gather_grad(const KernelCall& c, int axis, int batch_dims);
/// out[b..., i..., r...] = in0[b..., in1[b..., i..., 0], in1[b..., i..., 1], ..., r...]
TANDEM_API void gather_nd(const KernelCall& c, int batch_dims);
/// out = 0, then out[b..., idx[b..., i..., :], r...] += updates[b..., i..., r...]; takes the positions of the
/// operands.
TANDEM_API void scatter_nd(const KernelCall& c, int indices, int updates, int batch_dims);
/// out[.., i, ..] = in0[.., in1[.., i, ..], ..]; negative indices count from the end.
TANDEM_API void take_along(const KernelCall& c, int axis);
/// out = 0, then out[.., in1[.., i, ..], ..] += in0[.., i, ..]
TANDEM_API void take_along_grad(const KernelCall& c, int axis);
/// out = in0 with the first in1[b] elements along `seq` reversed, where b is the position along `batch`.
TANDEM_API void reverse_sequence(const KernelCall& c, int seq, int batch);
/// out = in2 (one element), except in1 (one element) where the index in0 equals the position along `axis`.
TANDEM_API void one_hot(const KernelCall& c, int axis);

}  // namespace TANDEM_NS::cpu
