// Where the operands of attention are in memory, for the kernels of all devices.
#pragma once
#include "tandem/base/shape.hpp"

namespace TANDEM_NS {

/// Where the matrices [steps, width] of an operand lie, one for each head: in its last two axes, or with the heads
/// between them.
struct MatrixPlaces {
  i64 heads = 1, ld, head, batch;  // ld: from row to row; head, batch: from matrix to matrix

  MatrixPlaces(const Shape& s, bool steps_first) {
    const i64 width = s.dim(-1), steps = s.dim(steps_first ? -3 : -2);
    if (s.rank() > 2) heads = s.dim(steps_first ? -2 : -3);
    ld = steps_first ? heads * width : width;
    head = steps_first ? width : steps * width;
    batch = heads * steps * width;
  }
  /// The element at which matrix i begins, or one of its rows.
  TANDEM_HD i64 at(i64 i, i64 row = 0) const { return i / heads * batch + i % heads * head + row * ld; }
};

}  // namespace TANDEM_NS
