// Data movement between two strided views, on which transpose, slice, concat, pad, tile, reverse and broadcast_to
// are built. Not here: which strides an op needs (cpu/layout/layout.hpp), and indexed rows (cpu/index/index.hpp).
#pragma once
#include <cstdint>

#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// The number of bytes worth copying on another thread: about 10 us.
inline constexpr i64 copy_grain_bytes = 128 * 1024;

/// A copy that writes more than this leaves the caches before it is read, so it is written past them. A constant: the
/// sizes of caches that systems report may be off by a factor of ten.
inline constexpr i64 streaming_copy_bytes = 32 * 1024 * 1024;
/// ... unless its runs are shorter: the lines at their ends are then written twice too often.
inline constexpr i64 shortest_streamed_run = 16 * 1024;

/// A loop nest of copies: element (i, j, ...) goes from `from + i * from_stride[0] + j * from_stride[1] + ...` to
/// the corresponding location in the output. Strides count elements; 0 repeats a source element, negative ones walk
/// backward.
struct StridedCopy {
  static constexpr int max_axes = 16;
  int axes = 0;
  i64 size[max_axes], to[max_axes], from[max_axes];

  void add(i64 n, i64 to_stride, i64 from_stride) {
    size[axes] = n;
    to[axes] = to_stride;
    from[axes++] = from_stride;
  }
};

/// Runs the loop nest, in parallel where that pays. Supports any dtype; string elements are shared, not duplicated.
TANDEM_API void copy_strided(StridedCopy nest, DType dtype, void* to, const void* from);
/// Copies n elements that are contiguous on both sides.
TANDEM_API void copy_dense(DType dtype, void* to, const void* from, i64 n);
/// Copies bytes past the caches.
TANDEM_API void copy_around(void* to, const void* from, i64 bytes);
/// Sets n elements to zero, false or "".
TANDEM_API void fill_zero(DType dtype, void* to, i64 n);

/// Runs the loop nest for kernels that serve every device: the nests are the same, only the copying function
/// differs. `to` must be in an operand of output 0's dtype and device.
TANDEM_API void copy_strided(const KernelCall& c, const StridedCopy& nest, void* to, const void* from);
/// The same for elements of an explicit dtype: the parts of complex numbers.
TANDEM_API void copy_strided(const KernelCall& c, const StridedCopy& nest, DType dtype, void* to, const void* from);
/// Sets output 0 to zero, false or "".
TANDEM_API void fill_zero(const KernelCall& c);

/// Kernel: copies input 0 to output 0 element by element, whatever their shapes.
TANDEM_API void copy_whole(const KernelCall& c);

/// Computes the row-major strides of a shape: out[i] elements from one index of axis i to the next.
inline void dense_strides(const Shape& s, i64* out) {
  i64 step = 1;
  for (int i = s.rank() - 1; i >= 0; --i) {
    out[i] = step;
    step *= s.dim(i);
  }
}

}  // namespace TANDEM_NS::cpu
