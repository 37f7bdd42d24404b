// Definitions of cpu/norm/layer_norm.hpp.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/cpu/norm/kernels.hpp"
#include "tandem/cpu/norm/layer_norm.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/reduce/engine.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

// x as rows of n elements, and for the backward pass chunks of rows, whose sums of parameter gradients are combined in
// order: fewer rows in a chunk where they are wide. They depend on the shape only, as results must.
struct NormRows {
  i64 rows = 1, n = 1, chunk, chunks;
  NormRows(const Shape& s, i64 axes) {
    for (int d = 0; d < s.rank(); ++d) (d < s.rank() - axes ? rows : n) *= s.dim(d);
    const i64 fewest = std::clamp<i64>(65536 / std::max<i64>(n, 1), 1, 16);
    chunk = std::max(fewest, (rows + 63) / 64);
    chunks = (rows + chunk - 1) / chunk;
  }
};

using LayerNormRows = void (*)(const void*, const void*, const void*, void*, i64, i64, double);
using LayerNormGradRows = void (*)(const void*, const void*, const void*, void*, void*, void*, i64, i64, double);

template <bool Centered>
void layer_norm_of(const KernelCall& c) {
  static constexpr LayerNormRows single[] = TANDEM_EACH_ISA(layer_norm_rows<Centered, float>);
  static constexpr LayerNormRows whole[] = TANDEM_EACH_ISA_IF_COMPILED(layer_norm_rows<Centered, double>);
  const LayerNormAttrs& a = c.attrs.get<LayerNormAttrs>();
  const Operand& x = c.in[0];
  if (x.size() == 0) return;
  const NormRows p(x.shape(), a.axes);
  const i64 width = static_cast<i64>(size_of(x.spec->dtype));
  const LayerNormRows run = (x.spec->dtype == DType::float64 ? whole : single)[isa()];
  const void* const scale = a.scale ? c.in[1].data : nullptr;
  const void* const offset = a.offset ? c.in[c.in.size() - 1].data : nullptr;
  parallel_for(p.rows, norm_grain / p.n + 1, [&](i64 begin, i64 end) {
    const i64 at = begin * p.n * width;
    run(x.as<const char>() + at, scale, offset, c.out[0].as<char>() + at, end - begin, p.n, a.epsilon);
  });
}

template <bool Centered>
void layer_norm_grad_of(const KernelCall& c) {
  static constexpr LayerNormGradRows single[] = TANDEM_EACH_ISA(layer_norm_grad_rows<Centered, float>);
  static constexpr LayerNormGradRows whole[] = TANDEM_EACH_ISA_IF_COMPILED(layer_norm_grad_rows<Centered, double>);
  const LayerNormAttrs& a = c.attrs.get<LayerNormAttrs>();
  const Operand& x = c.in[1];
  const DType dtype = x.spec->dtype;
  for (std::size_t i = 1; i < c.out.size(); ++i) std::memset(c.out[i].data, 0, c.out[i].spec->bytes());
  if (x.size() == 0) return;
  const NormRows p(x.shape(), a.axes);
  const i64 width = static_cast<i64>(size_of(dtype)), row = p.n * width;
  const LayerNormGradRows run = (dtype == DType::float64 ? whole : single)[isa()];
  // A chunk's partial sums: those of the scale, then those of the offset.
  const i64 parts = i64{a.scale} + i64{a.offset};
  char* const room = static_cast<char*>(c.workspace);
  parallel_for(p.chunks, norm_grain / (p.chunk * p.n) + 1, [&](i64 begin, i64 end) {
    for (i64 k = begin; k < end; ++k) {
      char* const sums = parts ? room + k * parts * row : nullptr;
      if (sums) std::memset(sums, 0, static_cast<std::size_t>(parts * row));
      const i64 first = k * p.chunk, at = first * row;
      run(c.in[0].as<const char>() + at, x.as<const char>() + at, a.scale ? c.in[2].data : nullptr,
          c.out[0].as<char>() + at, a.scale ? sums : nullptr, a.offset ? sums + (parts - 1) * row : nullptr,
          std::min(p.chunk, p.rows - first), p.n, a.epsilon);
    }
  });
  const FoldKernel& add = fold_kernel_of<Fold::sum>(dtype, c.op);
  for (i64 i = 0; i < parts; ++i)
    add.columns(room + i * row, p.chunks, parts * p.n, p.n, nullptr, c.out[static_cast<std::size_t>(1 + i)].data);
}

}  // namespace detail

TANDEM_INLINE std::size_t layer_norm_grad_workspace(const Spec& x, const LayerNormAttrs& a) {
  const detail::NormRows p(x.shape, a.axes);
  return static_cast<std::size_t>(p.chunks * p.n * (i64{a.scale} + i64{a.offset})) * size_of(x.dtype);
}
TANDEM_INLINE void layer_norm(const KernelCall& c) { detail::layer_norm_of<true>(c); }
TANDEM_INLINE void layer_norm_grad(const KernelCall& c) { detail::layer_norm_grad_of<true>(c); }
TANDEM_INLINE void rms_norm(const KernelCall& c) { detail::layer_norm_of<false>(c); }
TANDEM_INLINE void rms_norm_grad(const KernelCall& c) { detail::layer_norm_grad_of<false>(c); }

}  // namespace TANDEM_NS::cpu
