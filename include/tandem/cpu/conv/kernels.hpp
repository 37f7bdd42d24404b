// The kernels of convolutions by element type and instruction set. For the definitions of conv.hpp.
#pragma once
#include "tandem/cpu/conv/plan.hpp"
#include "tandem/cpu/gemm/driver.hpp"

namespace TANDEM_NS::cpu {

/// Packs the segments [from, past) of panel q of a filter, whatever its numbers are stored as.
template <class T>
using PackSegments = void (*)(const ConvPlan& p, const void* filter, bool transposed, i64 q, i64 from, i64 past,
                              T* packed);

/// The results of a part, by `gather`.
template <class T>
struct GatherCall {
  const T* x;
  const void* filter;  // null: the panels are packed already; else they are packed by the first band
  PackSegments<T> pack;
  bool transposed;  // the filter's
  T* packed;        // panels * panel_size numbers
  T* y;
  ConvPart part;
  T* room;  // for a band of x
  Epilogue<T> epilogue;
};
/// The results of the bands [begin, end), by `depthwise`.
template <class T>
struct DepthwiseCall {
  const T *x, *packed;
  T* y;
  i64 begin, end;
  i64 sums;  // each result is the sum of so many consecutive channels
  T* room;   // for a band of x
  T* row;    // for a row of results before they are summed
  Epilogue<T> epilogue;
};
/// The filter's gradient from the bands [begin, end), by `correlate`: its segments [from, past) are written if `fresh`,
/// else added to.
template <class T>
struct CorrelateCall {
  const T* x;
  const T* g;  // has the results' shape
  T* dw;
  i64 begin, end, from, past;
  bool fresh;
  T* room;   // for a band of x
  T* panel;  // panel_room numbers
};

}  // namespace TANDEM_NS::cpu

#define TANDEM_KERNELS "tandem/cpu/conv/tile.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#define TANDEM_KERNELS "tandem/cpu/conv/gather.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#define TANDEM_KERNELS "tandem/cpu/conv/planar.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#define TANDEM_KERNELS "tandem/cpu/conv/correlate.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#define TANDEM_KERNELS "tandem/cpu/conv/depthwise.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu::convolution {

template <class T>
struct Kernels {
  static constexpr auto panels = TANDEM_SETS_OF(T, convolution::panels_of<T>);
  static constexpr auto panel_size = TANDEM_SETS_OF(T, convolution::panel_size<T>);
  static constexpr auto pack = TANDEM_SETS_OF(T, convolution::pack_segments<T>);
  static constexpr auto gather = TANDEM_SETS_OF(T, convolution::gather<T>);
  static constexpr auto planar_room = TANDEM_SETS_OF(T, convolution::planar_room<T>);
  static constexpr auto pack_planar = TANDEM_SETS_OF(T, convolution::pack_planar<T>);
  static constexpr auto planar = TANDEM_SETS_OF(T, convolution::planar<T>);
  static constexpr auto panel_room = TANDEM_SETS_OF(T, convolution::panel_room<T>);
  static constexpr auto correlate = TANDEM_SETS_OF(T, convolution::correlate<T>);
  static constexpr auto depthwise_size = TANDEM_SETS_OF(T, convolution::packed_depthwise_size<T>);
  static constexpr auto pack_depthwise = TANDEM_SETS_OF(T, convolution::pack_depthwise<T>);
  static constexpr auto depthwise = TANDEM_SETS_OF(T, convolution::depthwise<T>);
  static constexpr auto correlate_depthwise = TANDEM_SETS_OF(T, convolution::correlate_depthwise<T>);
};

}  // namespace TANDEM_NS::cpu::convolution
