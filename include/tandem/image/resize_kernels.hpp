// Kernels of resizing: rows in parallel, each by a pass over the rows of the input and one within the row.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/packs.hpp"
#include "tandem/image/spans_kernels.hpp"

namespace TANDEM_NS::cpu {

/// Images of elements S, resized to numbers N.
template <class N, class S>
struct ResizeCall {
  const S* from;
  N* to;
  i64 images, channels;
  image::impl::SpanTable rows, columns;
};

}  // namespace TANDEM_NS::cpu

#define TANDEM_KERNELS "tandem/image/resize_rows.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

template <class N, class S>
using ResizeRows = void (*)(const ResizeCall<N, S>&, i64 begin, i64 end, N* line);
template <class N, class S>
inline constexpr ByIsa<ResizeRows<N, S>> resize_rows_on{TANDEM_EACH_ISA_IF_COMPILED(resize_rows<N, S>)};
// The pixels of photographs: on every set in header-only mode too.
template <class S>
inline constexpr ByIsa<ResizeRows<float, S>> resize_rows_on<float, S>{TANDEM_EACH_ISA(resize_rows<float, S>)};

template <class N, class S>
void resize(const ResizeCall<N, S>& c) {
  const i64 row = c.columns.inputs * c.channels;
  const i64 work = row * std::max<i64>(c.rows.most, 1) + c.columns.outputs * c.channels * c.columns.most * 2;
  parallel_for(c.images * c.rows.outputs, 65536 / (work + 1) + 1, [&](i64 begin, i64 end) {
    const memory::Scratch line(static_cast<std::size_t>(row + 16) * sizeof(N));  // loads of 4 numbers go beyond the end
    std::memset(static_cast<N*>(line.data()) + row, 0, 16 * sizeof(N));
    resize_rows_on<N, S>.get()(c, begin, end, static_cast<N*>(line.data()));
  });
}

/// Copies the one pixel of each run; `bytes` a pixel.
inline void pick_pixels(const char* from, char* to, i64 images, i64 bytes, const image::impl::SpanTable& rows,
                        const image::impl::SpanTable& columns) {
  parallel_for(images * rows.outputs, 65536 / (columns.outputs * (bytes + 8)) + 1, [&](i64 begin, i64 end) {
    for (i64 r = begin; r < end; ++r) {
      const char* const row =
          from + (r / rows.outputs * rows.inputs + rows.first[r % rows.outputs]) * columns.inputs * bytes;
      char* at = to + r * columns.outputs * bytes;
      for (i64 o = 0; o < columns.outputs; ++o, at += bytes)
        std::memcpy(at, row + columns.first[o] * bytes, static_cast<std::size_t>(bytes));
    }
  });
}

}  // namespace TANDEM_NS::cpu
