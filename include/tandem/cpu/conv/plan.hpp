// ConvPlan: how a convolution, its input gradient and its filter gradient walk over their operands. Plain data, because
// the kernels of every instruction set read it. Not here: how a plan is made (make_plan.hpp), the kernels (*.inc).
#pragma once
#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::cpu {

/// One element of the filter along one axis: it is multiplied by what lies `offset` after t * in_step.
struct ConvTap {
  i64 offset, index;
};

/// One spatial axis: result number t, at position start + t * step, reads positions t * in_step + offset of each tap;
/// outside of [0, in) they are zero.
struct ConvAxis {
  i64 in, out;
  i64 count, start, step;
  i64 in_step;
  const ConvTap* taps;
  i64 tap_count, low, high;  // the offsets are in [low, high]
  i64 span() const { return high - low + 1; }
};

/// A convolution whose results form a regular grid. For the gradient of a strided convolution's input there is one for
/// each remainder of the positions by the strides.
/// The kernels work on bands: some consecutive results along axis 1, all along axis 2, of one image and one position
/// of axis 0. They read the image itself if no result reads outside of it, or else a copy of what the band needs, with
/// zeros around.
struct ConvPlan {
  i64 batch, groups;
  i64 depth, columns;  // channels of one group that are read and written
  i64 repeat;          // depthwise: how many results each channel that is read has
  ConvAxis axis[3];
  i64 window[3];  // sizes of the filter

  bool direct;         // bands are read in place
  bool merged;         // the taps along axis 2 read consecutive pixels: one segment
  i64 row, plane;      // elements between neighbors along axes 1 and 0 of what is read
  i64 segments, k;     // runs of k consecutive elements are read for each result
  const i64* offsets;  // of the segments
  const i64* rows;     // of a band's results along axis 1
  i64 band, bands;     // results along axis 1 in a band (the last may have fewer), bands in a plane
  i64 items() const { return batch * axis[0].count * bands; }
};

/// The most results of a row that a filter gradient adds up at once: a part of a long row that begins at a multiple has
/// the sums of the row.
inline constexpr i64 summed_results = 512;

/// A part of the results: the bands [begin, end) and the filter's panels [panel, past).
struct ConvPart {
  i64 begin, end, panel, past;
};

}  // namespace TANDEM_NS::cpu
