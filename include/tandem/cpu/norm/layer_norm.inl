// Definitions of cpu/norm/layer_norm.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tandem/cpu/norm/kernels.hpp"
#include "tandem/cpu/norm/layer_norm.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/half_tile.hpp"
#include "tandem/cpu/reduce/engine.hpp"
#include "tandem/cpu/streaming.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

// x as rows of n elements, and for the backward pass chunks of rows, whose sums of parameter gradients are combined in
// order: fewer rows in a chunk where they are wide, and never more than what their sums take without growing inexact.
// They depend on the shape only, as results must.
struct NormRows {
  i64 rows = 1, n = 1, chunk, chunks;
  NormRows(const Shape& s, i64 axes) {
    for (int d = 0; d < s.rank(); ++d) (d < s.rank() - axes ? rows : n) *= s.dim(d);
    const i64 fewest = std::clamp<i64>(65536 / std::max<i64>(n, 1), 1, 16);
    chunk = std::max(fewest, std::min<i64>(256, (rows + 63) / 64));
    chunks = (rows + chunk - 1) / chunk;
  }
};

using LayerNormRows = void (*)(const void*, const void*, const void*, void*, i64, i64, double, bool);
using LayerNormGradRows = void (*)(const void*, const void*, const void*, void*, void*, void*, i64, i64, double, bool);

// Whether a pass over `arrays` of y's size stores y past the caches.
inline bool is_streamed(const Operand& y, i64 arrays, i64 row_bytes) {
  return arrays * static_cast<i64>(y.spec->bytes()) >= streaming_bytes && row_bytes % 64 == 0 && begins_line(y.data);
}

// Scale and offset as float32.
class HalfParameters {
 public:
  HalfParameters(DType d, i64 n) : tile_(d, 2 * n), n_(n) {}
  const void* widen(const void* x) { return x ? tile_.widen(x, n_, 1, n_) : nullptr; }

 private:
  HalfTile tile_;
  i64 n_;
};
inline void half_layer_norm(const KernelCall& c, const NormRows& p, LayerNormRows run, const void* scale,
                            const void* offset) {
  const DType dtype = c.in[0].spec->dtype;
  HalfParameters wide(dtype, p.n);
  scale = wide.widen(scale), offset = wide.widen(offset);
  parallel_for(p.rows, norm_grain / p.n + 1, [&](i64 begin, i64 end) {
    each_half_tile(dtype, begin, end, p.n, [&](HalfTile& tile, i64 at, i64 count) {
      const i64 numbers = count * p.n;
      const float* const x = tile.widen(c.in[0].as<const std::uint16_t>() + at * p.n, numbers, 1, numbers);
      float* const y = tile.room(numbers);
      run(x, scale, offset, y, count, p.n, c.attrs.get<rules::LayerNormAttrs>().epsilon, false);
      tile.round(y, c.out[0].as<std::uint16_t>() + at * p.n, numbers, 1, numbers);
    });
  });
}
// Calls f(first, count, dscale, doffset) for chunks of rows. A chunk's partial sums: those of the scale, then those of
// the offset; `row` is the bytes of one.
template <class F>
void for_each_chunk(const KernelCall& c, const NormRows& p, i64 row, const F& f) {
  const rules::LayerNormAttrs& a = c.attrs.get<rules::LayerNormAttrs>();
  const i64 parts = i64{a.scale} + i64{a.offset};
  parallel_for(p.chunks, norm_grain / (p.chunk * p.n) + 1, [&](i64 begin, i64 end) {
    for (i64 k = begin; k < end; ++k) {
      char* const sums = parts ? static_cast<char*>(c.workspace) + k * parts * row : nullptr;
      if (sums) std::memset(sums, 0, static_cast<std::size_t>(parts * row));
      const i64 first = k * p.chunk;
      f(first, std::min(p.chunk, p.rows - first), a.scale ? sums : nullptr,
        a.offset ? sums + (parts - 1) * row : nullptr);
    }
  });
}
// The tiles of a chunk add to the same sums.
inline void half_layer_norm_grad(const KernelCall& c, const NormRows& p, LayerNormGradRows run, const void* scale) {
  const rules::LayerNormAttrs& a = c.attrs.get<rules::LayerNormAttrs>();
  const DType dtype = c.in[1].spec->dtype;
  HalfParameters wide(dtype, p.n);
  scale = wide.widen(scale);
  const i64 row = p.n * static_cast<i64>(sizeof(float)), parts = i64{a.scale} + i64{a.offset};
  for_each_chunk(c, p, row, [&](i64 first, i64 rows, void* dscale, void* doffset) {
    each_half_tile(dtype, first, first + rows, p.n, [&](HalfTile& tile, i64 at, i64 count) {
      const i64 numbers = count * p.n;
      const float* const g = tile.widen(c.in[0].as<const std::uint16_t>() + at * p.n, numbers, 1, numbers);
      const float* const x = tile.widen(c.in[1].as<const std::uint16_t>() + at * p.n, numbers, 1, numbers);
      float* const dx = tile.room(numbers);
      run(g, x, scale, dx, dscale, doffset, count, p.n, a.epsilon, false);
      tile.round(dx, c.out[0].as<std::uint16_t>() + at * p.n, numbers, 1, numbers);
    });
  });
  const FoldKernel& add = fold_kernel_of<Fold::sum, &sum_of_inexact>(DType::float32, c.op);
  for (i64 i = 0; i < parts; ++i) {
    HalfTile tile(dtype, p.n);
    float* const sum = tile.room(p.n);
    std::fill_n(sum, p.n, 0.f);
    add.columns(static_cast<char*>(c.workspace) + i * row, p.chunks, parts * p.n, p.n, nullptr, sum);
    tile.round(sum, c.out[static_cast<std::size_t>(1 + i)].data, p.n, 1, p.n);
  }
}

template <bool Centered>
void layer_norm_of(const KernelCall& c) {
  static constexpr ByIsa<LayerNormRows> single{TANDEM_EACH_ISA(layer_norm_rows<Centered, float>)};
  static constexpr ByIsa<LayerNormRows> whole{TANDEM_EACH_ISA_IF_COMPILED(layer_norm_rows<Centered, double>)};
  const rules::LayerNormAttrs& a = c.attrs.get<rules::LayerNormAttrs>();
  const Operand& x = c.in[0];
  if (x.size() == 0) return;
  const NormRows p(x.shape(), a.axes);
  const i64 width = static_cast<i64>(size_of(x.spec->dtype));
  const LayerNormRows run = (x.spec->dtype == DType::float64 ? whole : single).get();
  const void* const scale = a.scale ? c.in[1].data : nullptr;
  const void* const offset = a.offset ? c.in[c.in.size() - 1].data : nullptr;
  if constexpr (kernels_take_half)
    if (dtypes::half_floating.has(x.spec->dtype)) return half_layer_norm(c, p, run, scale, offset);
  const bool streamed = is_streamed(c.out[0], 2, p.n * width);
  parallel_for(p.rows, norm_grain / p.n + 1, [&](i64 begin, i64 end) {
    const i64 at = begin * p.n * width;
    run(x.as<const char>() + at, scale, offset, c.out[0].as<char>() + at, end - begin, p.n, a.epsilon, streamed);
    if (streamed) end_streaming();
  });
}

template <bool Centered>
void layer_norm_grad_of(const KernelCall& c) {
  static constexpr ByIsa<LayerNormGradRows> single{TANDEM_EACH_ISA(layer_norm_grad_rows<Centered, float>)};
  static constexpr ByIsa<LayerNormGradRows> whole{TANDEM_EACH_ISA_IF_COMPILED(layer_norm_grad_rows<Centered, double>)};
  const rules::LayerNormAttrs& a = c.attrs.get<rules::LayerNormAttrs>();
  const Operand& x = c.in[1];
  const DType dtype = x.spec->dtype;
  for (std::size_t i = 1; i < c.out.size(); ++i) std::memset(c.out[i].data, 0, c.out[i].spec->bytes());
  if (x.size() == 0) return;
  const NormRows p(x.shape(), a.axes);
  const LayerNormGradRows run = (dtype == DType::float64 ? whole : single).get();
  const void* const scale = a.scale ? c.in[2].data : nullptr;
  if constexpr (kernels_take_half)
    if (dtypes::half_floating.has(dtype)) return half_layer_norm_grad(c, p, run, scale);
  const i64 row = p.n * static_cast<i64>(size_of(dtype));
  const bool streamed = is_streamed(c.out[0], 3, row);
  for_each_chunk(c, p, row, [&](i64 first, i64 rows, void* dscale, void* doffset) {
    const i64 at = first * row;
    run(c.in[0].as<const char>() + at, x.as<const char>() + at, scale, c.out[0].as<char>() + at, dscale, doffset, rows,
        p.n, a.epsilon, streamed);
    if (streamed) end_streaming();
  });
  const FoldKernel& add = fold_kernel_of<Fold::sum, &sum_of_inexact>(dtype, c.op);
  const i64 parts = i64{a.scale} + i64{a.offset};
  for (i64 i = 0; i < parts; ++i)
    add.columns(static_cast<const char*>(c.workspace) + i * row, p.chunks, parts * p.n, p.n, nullptr,
                c.out[static_cast<std::size_t>(1 + i)].data);
}

}  // namespace detail

TANDEM_INLINE std::size_t layer_norm_grad_workspace(const Spec& x, const rules::LayerNormAttrs& a) {
  const detail::NormRows p(x.shape, a.axes);
  return static_cast<std::size_t>(p.chunks * p.n * (i64{a.scale} + i64{a.offset})) *
         std::max(size_of(x.dtype), sizeof(float));
}
TANDEM_INLINE void layer_norm(const KernelCall& c) { detail::layer_norm_of<true>(c); }
TANDEM_INLINE void layer_norm_grad(const KernelCall& c) { detail::layer_norm_grad_of<true>(c); }
TANDEM_INLINE void rms_norm(const KernelCall& c) { detail::layer_norm_of<false>(c); }
TANDEM_INLINE void rms_norm_grad(const KernelCall& c) { detail::layer_norm_grad_of<false>(c); }

}  // namespace TANDEM_NS::cpu
