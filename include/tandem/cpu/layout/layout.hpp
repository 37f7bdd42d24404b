// Kernels of the ops that only move data, each expressed as a strided copy. Shapes are checked by the ops' shape
// rules. Except tile_sum, they also serve the GPU, where cuda/layout/copy.cu runs the same copies.
// Not here: the copy itself (strided_copy.hpp).
#pragma once
#include "tandem/base/axes.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out = the inputs from `first` on, concatenated along an axis; `fresh`: along a new axis (stack).
TANDEM_API void concat(const KernelCall& c, int axis, bool fresh);
/// out[i] = the i-th part of input 0 along an axis.
TANDEM_API void split(const KernelCall& c, int axis);
/// out[i...] = in[j...], where out axis d is in axis perm[d].
TANDEM_API void transpose(const KernelCall& c, const Axes& perm, bool conjugate);
/// out[i...] = in[begin + i * step ...]; begin and step are resolved.
TANDEM_API void slice(const KernelCall& c, const i64* begin, const i64* step);
/// out = 0, except out[begin + i * step ...] = in[i...].
TANDEM_API void unslice(const KernelCall& c, const i64* begin, const i64* step);
/// out = in broadcast to out's shape.
TANDEM_API void broadcast(const KernelCall& c);
/// out = in repeated out.dim / in.dim times along each axis.
TANDEM_API void tile(const KernelCall& c);
/// out = the sum of the in.dim / out.dim copies of out's shape in `in`.
TANDEM_API void tile_sum(const KernelCall& c);
/// out = in reversed along the axes in the mask.
TANDEM_API void reverse(const KernelCall& c, std::uint32_t axes);
/// out = in rotated by `shift` along an axis.
TANDEM_API void roll(const KernelCall& c, int axis, i64 shift);
/// out = the real (part 0) or imaginary (part 1) parts of in.
TANDEM_API void complex_part(const KernelCall& c, int part);
/// out = in[0] + i in[1]; the inputs are broadcast to out's shape.
TANDEM_API void complex_of_parts(const KernelCall& c);
/// out = matrices with in on diagonal k and zero elsewhere.
TANDEM_API void diag(const KernelCall& c, i64 k);
/// out = the diagonal k of in.
TANDEM_API void diag_part(const KernelCall& c, i64 k);
/// out = in[0] with in[1] on diagonal k.
TANDEM_API void set_diag(const KernelCall& c, i64 k);
/// The number of elements of diagonal k of a matrix.
constexpr i64 diagonal_length(i64 rows, i64 columns, i64 k) {
  const i64 down = k < 0 ? rows + k : rows, right = k > 0 ? columns - k : columns, length = down < right ? down : right;
  return length < 0 ? 0 : length;
}
/// out = `value` (one element), except for in, which begins at `before`.
TANDEM_API void pad(const KernelCall& c, const i64* before, const void* value);

}  // namespace TANDEM_NS::cpu
