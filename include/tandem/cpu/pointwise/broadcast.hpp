// Broadcasting: the axes of an output, as few as possible, with each input's stride along them, and a walk over the
// rows. Not here: the computation on the rows (pointwise.hpp, and other kernels that broadcast).
#pragma once

#include "tandem/base/shape.hpp"
#include "tandem/base/span.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::cpu {

inline constexpr int max_broadcast_inputs = 4;

/// The axes of a broadcast, outermost first. Adjacent axes along which every input advances alike are merged, and
/// axes of size 1 are removed; at least one axis remains. Strides are in elements; 0 where the input is repeated.
/// Along the innermost axis every stride is 0 or 1.
struct BroadcastAxes {
  int rank = 0;
  int inputs = 0;
  i64 size[max_rank];
  i64 stride[max_broadcast_inputs][max_rank];

  i64 inner() const { return size[rank - 1]; }
  i64 rows() const {
    i64 n = 1;
    for (int d = 0; d + 1 < rank; ++d) n *= size[d];
    return n;
  }
  bool repeats_inner(int input) const { return stride[input][rank - 1] == 0; }
  /// Whether the input has exactly the output's memory layout.
  bool is_direct(int input) const {
    i64 n = 1;
    for (int d = rank - 1; d >= 0; n *= size[d--])
      if (stride[input][d] != n && size[d] != 1) return false;
    return true;
  }
  /// Whether the input is the same for every row.
  bool is_same_for_rows(int input) const {
    for (int d = 0; d + 1 < rank; ++d)
      if (stride[input][d] != 0) return false;
    return true;
  }
};

/// The axes of a broadcast of `inputs` (at most 4) to `output`. The shapes must be compatible.
TANDEM_API BroadcastAxes broadcast_axes(Span<const Shape* const> inputs, const Shape& output);

/// Iterates over the rows, tracking where each input's row begins.
class BroadcastRows {
 public:
  BroadcastRows(const BroadcastAxes& axes, i64 row) : axes_(axes) {
    for (int d = axes.rank - 2; d >= 0; --d) {
      index_[d] = row % axes.size[d];
      row /= axes.size[d];
      for (int k = 0; k < axes.inputs; ++k) offset_[k] += index_[d] * axes.stride[k][d];
    }
  }
  /// The offset in elements from the input's first.
  i64 offset(int input) const { return offset_[input]; }
  void next() { advance(1); }
  /// Advances by `count` rows; more than one only if there is one axis of rows.
  void advance(i64 count) {
    if (count != 1) {
      for (int k = 0; k < axes_.inputs && axes_.rank == 2; ++k) offset_[k] += count * axes_.stride[k][0];
      index_[0] += count;
      return;
    }
    for (int d = axes_.rank - 2; d >= 0; --d) {
      for (int k = 0; k < axes_.inputs; ++k) offset_[k] += axes_.stride[k][d];
      if (++index_[d] < axes_.size[d]) return;
      for (int k = 0; k < axes_.inputs; ++k) offset_[k] -= axes_.stride[k][d] * axes_.size[d];
      index_[d] = 0;
    }
  }

 private:
  const BroadcastAxes& axes_;
  i64 index_[max_rank] = {};
  i64 offset_[max_broadcast_inputs] = {};
};

}  // namespace TANDEM_NS::cpu
