// The geometry of index vectors, shared by the kernels that gather and scatter with them.
#pragma once
#include "tandem/cpu/index/indices.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"

namespace TANDEM_NS::cpu::detail {

// An index vector of `width` entries into the leading axes of each batch's part of x.
struct NdShape {
  i64 batch = 1, count = 1, inner = 1, block = 1;  // block: elements of x per batch
  int width;
  i64 size[max_rank], stride[max_rank];

  NdShape(const Shape& x, const Shape& idx, int batch_dims) : width(static_cast<int>(idx.dim(-1))) {
    for (int i = 0; i < batch_dims; ++i) batch *= x.dim(i);
    for (int i = batch_dims; i < idx.rank() - 1; ++i) count *= idx.dim(i);
    i64 all[max_rank];
    dense_strides(x, all);
    for (int i = batch_dims; i < x.rank(); ++i) block *= x.dim(i);
    for (int i = batch_dims + width; i < x.rank(); ++i) inner *= x.dim(i);
    for (int i = 0; i < width; ++i) {
      size[i] = x.dim(batch_dims + i);
      stride[i] = all[batch_dims + i];
    }
  }
  template <class I>
  i64 place(const I* index) const {
    i64 at = 0;
    for (int k = 0; k < width; ++k) at += static_cast<i64>(index[k]) * stride[k];
    return at;
  }
  /// place() / inner
  template <class I>
  i64 row(const I* index) const {
    if (width == 1 && stride[0] == inner) return static_cast<i64>(index[0]);
    return place(index) / inner;
  }
  template <class I>
  void check(const KernelCall& c, const Operand& idx) const {
    const I* p = idx.as<const I>();
    for (i64 i = 0, n = idx.size(); i < n; i += width)
      for (int k = 0; k < width; ++k)
        if (p[i + k] < 0 || p[i + k] >= size[k]) [[unlikely]]
          raise_bad_index(c, idx, i + k, static_cast<i64>(p[i + k]), 0, size[k]);
  }
};

}  // namespace TANDEM_NS::cpu::detail
