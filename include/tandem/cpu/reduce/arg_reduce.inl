// Definitions of cpu/reduce/arg_reduce.hpp.
#pragma once
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/reduce/arg_reduce.hpp"
#include "tandem/cpu/reduce/kernels.hpp"

#define TANDEM_KERNELS "tandem/cpu/reduce/arg_reduce.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {
namespace detail {

inline void put_place(void* out, i64 i, i64 place, bool wide) {
  if (wide) static_cast<std::int64_t*>(out)[i] = place;
  else static_cast<std::int32_t*>(out)[i] = static_cast<std::int32_t>(place);
}
// Columns one by one, for elements too narrow to hold a position in their own width.
template <bool Max, class T>
void arg_columns_plain(const void* from, i64 rows, i64 stride, i64 n, bool wide, void* out) {
  for (i64 c = 0; c < n; ++c) {
    const T* const x = static_cast<const T*>(from) + c;
    i64 at = 0;
    for (i64 r = 1; r < rows; ++r)
      if (Max ? x[r * stride] > x[at * stride] : x[r * stride] < x[at * stride]) at = r;
    put_place(out, c, at, wide);
  }
}
// Narrow and unsigned elements: rows on the packs of the lowest set, as the folds of narrow elements.
template <bool Max, class T>
const ArgKernel& arg_kernel_plain() {
  static constexpr ArgKernel k{sizeof(T), &TANDEM_LOWEST_ISA::arg_rows<Max, T>, &arg_columns_plain<Max, T>};
  return k;
}
template <bool Max, class T>
const ArgKernel& arg_kernel_on_set() {
  static constexpr ByIsa<const ArgKernel*> sets = TANDEM_SETS_OF(T, arg_kernel<Max, T>);
  return *sets.get();
}
template <bool Max>
const ArgKernel& arg_kernel_of(DType d) {
  switch (d) {
    case DType::float32: return arg_kernel_on_set<Max, float>();
    case DType::float64: return arg_kernel_on_set<Max, double>();
    case DType::int32: return arg_kernel_on_set<Max, std::int32_t>();
    case DType::int64: return arg_kernel_on_set<Max, std::int64_t>();
    case DType::uint32: return arg_kernel_plain<Max, std::uint32_t>();
    case DType::uint64: return arg_kernel_plain<Max, std::uint64_t>();
    case DType::int16: return arg_kernel_plain<Max, std::int16_t>();
    case DType::uint16: return arg_kernel_plain<Max, std::uint16_t>();
    case DType::uint8: return arg_kernel_plain<Max, std::uint8_t>();
    default: return arg_kernel_plain<Max, std::int8_t>();
  }
}
template <bool Max>
void arg_reduce(const KernelCall& c) {
  const rules::ArgAttrs& a = c.attrs.get<rules::ArgAttrs>();
  const Shape& s = c.in[0].shape();
  const int axis = resolve_axis(c.op, a.axis, s.rank());
  i64 outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= s.dim(d);
  for (int d = axis + 1; d < s.rank(); ++d) inner *= s.dim(d);
  const i64 n = s.dim(axis);
  if (outer * inner == 0) return;
  const ArgKernel& k = arg_kernel_of<Max>(c.in[0].spec->dtype);
  const char* const x = c.in[0].as<const char>();
  char* const y = c.out[0].as<char>();
  const bool wide = a.output_type == DType::int64;
  const i64 place = wide ? 8 : 4, width = static_cast<i64>(k.width), grain = 32768;
  if (inner == 1)
    return parallel_for(outer, grain / n + 1, [&](i64 begin, i64 end) {
      k.rows(x + begin * n * width, end - begin, n, wide, y + begin * place);
    });
  constexpr i64 tile = 256;
  const i64 tiles = (inner + tile - 1) / tile;
  parallel_for(outer * tiles, grain / (n * (inner < tile ? inner : tile)) + 1, [&](i64 begin, i64 end) {
    while (begin < end) {
      const i64 o = begin / tiles, first = begin % tiles, w = end - begin < tiles - first ? end - begin : tiles - first;
      const i64 from = first * tile, past = (first + w) * tile < inner ? (first + w) * tile : inner;
      k.columns(x + (o * n * inner + from) * width, n, inner, past - from, wide, y + (o * inner + from) * place);
      begin += w;
    }
  });
}

}  // namespace detail

TANDEM_INLINE void argmax(const KernelCall& c) { detail::arg_reduce<true>(c); }
TANDEM_INLINE void argmin(const KernelCall& c) { detail::arg_reduce<false>(c); }

}  // namespace TANDEM_NS::cpu
