// The kernels of convolutions by element type and instruction set. For the definitions of conv.hpp.
#pragma once
#include <limits>

#include "tandem/cpu/conv/plan.hpp"
#include "tandem/cpu/gemm/driver.hpp"

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

using product::ByIsa;
using Size = i64 (*)(const ConvPlan&);
template <class T>
using Pack = void (*)(const ConvPlan&, const T*, bool, i64, i64, T*);
template <class T>
using Gather = void (*)(const ConvPlan&, const T*, const T*, bool, T*, T*, const ConvPart&, T*, const Epilogue<T>&);
template <class T>
using Planar = void (*)(const ConvPlan&, const T*, const T*, T*, i64, i64, T*, const Epilogue<T>&);
template <class T>
using PackPlanar = void (*)(const ConvPlan&, const T*, bool, T*);
template <class T>
using Correlate = void (*)(const ConvPlan&, const T*, const T*, T*, i64, i64, i64, i64, bool, T*, T*);
template <class T>
using PackDepthwise = void (*)(const ConvPlan&, const T*, T*);
template <class T>
using Depthwise = void (*)(const ConvPlan&, const T*, const T*, T*, i64, i64, i64, T*, T*, const Epilogue<T>&);
template <class T>
using CorrelateDepthwise = void (*)(const ConvPlan&, const T*, const T*, T*, i64, i64, T*);

#define TANDEM_CONV_KERNELS(SETS)                                                                \
  static constexpr ByIsa<Size> panels{SETS(convolution::panels_of<T>)};                          \
  static constexpr ByIsa<Size> panel_size{SETS(convolution::panel_size<T>)};                     \
  static constexpr ByIsa<Pack<T>> pack{SETS(convolution::pack_filter<T>)};                       \
  static constexpr ByIsa<Gather<T>> gather{SETS(convolution::gather<T>)};                        \
  static constexpr ByIsa<Size> planar_room{SETS(convolution::planar_room<T>)};                   \
  static constexpr ByIsa<PackPlanar<T>> pack_planar{SETS(convolution::pack_planar<T>)};          \
  static constexpr ByIsa<Planar<T>> planar{SETS(convolution::planar<T>)};                        \
  static constexpr ByIsa<Size> panel_room{SETS(convolution::panel_room<T>)};                     \
  static constexpr ByIsa<Correlate<T>> correlate{SETS(convolution::correlate<T>)};               \
  static constexpr ByIsa<Size> depthwise_size{SETS(convolution::packed_depthwise_size<T>)};      \
  static constexpr ByIsa<PackDepthwise<T>> pack_depthwise{SETS(convolution::pack_depthwise<T>)}; \
  static constexpr ByIsa<Depthwise<T>> depthwise{SETS(convolution::depthwise<T>)};               \
  static constexpr ByIsa<CorrelateDepthwise<T>> correlate_depthwise{SETS(convolution::correlate_depthwise<T>)};
template <class T>
struct Kernels {
  TANDEM_CONV_KERNELS(TANDEM_EACH_ISA)
};
template <>
struct Kernels<double> {
  using T = double;
  TANDEM_CONV_KERNELS(TANDEM_EACH_ISA_IF_COMPILED)
};
#undef TANDEM_CONV_KERNELS

}  // namespace TANDEM_NS::cpu::convolution
