// Index vectors into the leading axes of a tensor, for the kernels that gather and scatter rows. For .cu files.
#pragma once
#include "cuda/report.hpp"
#include "tandem/base/shape.hpp"

namespace TANDEM_NS::cuda {

/// `batch` x `count` vectors of `width` indices; each names a row of `inner` elements in its batch's part of x, which
/// has `block` elements.
struct NdIndex {
  i64 batch = 1, count = 1, inner = 1, block = 1;
  int width = 1;
  bool drops_negative = false;  // a negative index names no row, and is no error
  i64 size[max_rank] = {}, stride[max_rank] = {};

  NdIndex(const Shape& x, const Shape& idx, int batch_dims) : width(static_cast<int>(idx.dim(-1))) {
    for (int d = 0; d < batch_dims; ++d) batch *= x[d];
    for (int d = batch_dims; d < idx.rank() - 1; ++d) count *= idx[d];
    for (int d = x.rank() - 1; d >= batch_dims; --d) {
      const int at = d - batch_dims;
      if (at >= width) inner *= x[d];
      else size[at] = x[d], stride[at] = block;
      block *= x[d];
    }
  }
  /// n indices of rows of x.
  NdIndex(const Shape& x, i64 n) : count(n) {
    for (int d = 1; d < x.rank(); ++d) inner *= x[d];
    size[0] = x[0], stride[0] = inner, block = inner * x[0];
  }
  i64 vectors() const { return batch * count; }

  /// The element of x at which the row of vector i begins; -1 if there is none, which is reported.
  template <class I>
  __device__ i64 place(const I* idx, i64 i, const Reporter& report) const {
    i64 at = i / count * block;
    for (int k = 0; k < width; ++k) {
      const i64 index = static_cast<i64>(idx[i * width + k]);
      if ((drops_negative && index < 0) || !report.in_range(index, i * width + k, size[k])) return -1;
      at += index * stride[k];
    }
    return at;
  }
};

}  // namespace TANDEM_NS::cuda
