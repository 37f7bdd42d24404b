// How a reduction traverses memory: adjacent axes of one kind are merged, axes of size 1 are removed, and what
// remains is a contiguous inner axis (reduced or kept) with odometers over the outer ones. Not here: arithmetic,
// threads.
#pragma once
#include "tandem/base/shape.hpp"

namespace TANDEM_NS::cpu {

/// Iterates over the offsets of the elements of a few axes, in row-major order. Strides in elements.
struct Odometer {
  i64 size[max_rank], stride[max_rank];
  int rank = 0;

  void push_front(i64 n, i64 step) {
    for (int d = rank++; d > 0; --d) size[d] = size[d - 1], stride[d] = stride[d - 1];
    size[0] = n, stride[0] = step;
  }
  i64 count() const {
    i64 n = 1;
    for (int d = 0; d < rank; ++d) n *= size[d];
    return n;
  }
  i64 offset(i64 index) const {
    if (rank == 1) return index * stride[0];
    i64 at = 0;
    for (int d = rank - 1; d >= 0; --d) {
      at += index % size[d] * stride[d];
      index /= size[d];
    }
    return at;
  }
};

/// A tensor seen as [kept, folded, ..., inner].
struct ReducePlan {
  bool inner_folded = true;
  i64 inner = 1;          // contiguous
  Odometer kept, folded;  // the outer axes of each kind, without the inner one
};

/// The plan for folding the axes in `mask`; each element consists of `parts` numbers (2 for complex).
inline ReducePlan plan_reduce(const Shape& s, std::uint32_t mask, i64 parts = 1) {
  ReducePlan p;
  i64 stride = parts;
  int last = parts > 1 ? 0 : -1;  // of the previous axis; 1: folded, 0: kept
  bool first = true;
  if (parts > 1) p.inner_folded = false, p.inner = parts;
  for (int d = s.rank() - 1; d >= 0; --d) {
    if (s.dim(d) == 1) continue;
    const int kind = mask >> d & 1u;
    Odometer& o = kind ? p.folded : p.kept;
    if (last < 0) {
      p.inner_folded = kind, p.inner = s.dim(d);
    } else if (kind == last && first) {
      p.inner *= s.dim(d);
    } else if (kind == last) {
      o.size[0] *= s.dim(d);
    } else {
      first = false;
      o.push_front(s.dim(d), stride);
    }
    last = kind;
    stride *= s.dim(d);
  }
  if (last < 0) p.inner_folded = false;
  return p;
}

/// The axes of `large` that are summed to give `small`; `lacks` are those that `small` does not have at all.
inline std::uint32_t broadcast_mask(const Shape& large, const Shape& small, std::uint32_t lacks) {
  std::uint32_t mask = lacks;
  int d = small.rank() - 1;
  for (int i = large.rank() - 1; i >= 0; --i) {
    if (lacks >> i & 1u) continue;
    if (d < 0 || (small.dim(d) == 1 && large.dim(i) != 1)) mask |= 1u << i;
    --d;
  }
  return mask;
}

}  // namespace TANDEM_NS::cpu
