// The driver of a fold: divides outputs and chunks of long folds among threads. For the definitions of folds.
#pragma once
#include <cstring>

#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/reduce/chunks.hpp"
#include "tandem/cpu/reduce/kernels.hpp"
#include "tandem/cpu/reduce/reduce.hpp"
#include "tandem/cpu/simd/isa.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

inline constexpr i64 partial_bytes = 65536;  // buffer for partial results, on the stack

struct FoldWalk {
  const FoldKernel& k;
  ReducePlan plan;
  const char* x;
  const char* param;
  char* out;

  i64 width() const { return static_cast<i64>(k.width); }
  const char* at(i64 offset) const { return x + offset * static_cast<i64>(k.read_width); }
  const char* param_of(i64 output) const { return param ? param + output * width() : nullptr; }

  // Inner axis folded: one output's elements are segments of plan.inner, numbered consecutively; folds [begin, end)
  // of them. Many segments are halved, so that the error grows with the logarithm of their number.
  void part_of_segments(i64 output, i64 begin, i64 end, char* to) const {
    const i64 base = plan.kept.offset(output), n = plan.inner;
    alignas(16) char one[16];
    if (end - begin > 16 * n) {
      const i64 middle = begin + (end - begin) / n / 2 * n;
      part_of_segments(output, begin, middle, to);
      part_of_segments(output, middle, end, one);
      return k.join(to, one, 1);
    }
    k.clear(to, 1);
    while (begin < end) {
      const i64 s = begin / n, in = begin % n, w = end - begin < n - in ? end - begin : n - in;
      k.segments(at(base + plan.folded.offset(s) + in), 1, 0, w, param_of(output), one);
      k.join(to, one, 1);
      begin += w;
    }
  }
  void segments() const {
    const i64 outputs = plan.kept.count(), length = plan.folded.count() * plan.inner, chunk = chunk_of(length);
    if (chunk < length)
      return join_chunks(k, outputs, (length + chunk - 1) / chunk, out, [&](i64 o, i64 c, char* to) {
        part_of_segments(o, c * chunk, length - c * chunk < chunk ? length : (c + 1) * chunk, to);
      });
    parallel_for(outputs, fold_grain / length + 1, [&](i64 begin, i64 end) {
      if (plan.kept.rank <= 1 && plan.folded.rank == 0) {
        const i64 stride = plan.kept.rank ? plan.kept.stride[0] : 0;
        k.segments(at(begin * stride), end - begin, stride, plan.inner, param_of(begin), out + begin * width());
        return;
      }
      for (i64 o = begin; o < end; ++o) part_of_segments(o, 0, length, out + o * width());
    });
  }

  // Inner axis kept: folds rows [begin, end) of the folded axes, columns [from, from + n) of one outer output, into
  // `to`. Many runs of adjacent rows are halved, in tiles of columns.
  void part_of_rows(i64 outer, i64 begin, i64 end, i64 from, i64 n, char* to) const {
    constexpr i64 tile = 512;
    const int last = plan.folded.rank - 1;
    const i64 rows = last < 0 ? 1 : plan.folded.size[last];
    if (end - begin <= 64 || end - begin <= 2 * rows) return run_of_rows(outer, begin, end, from, n, to);
    if (n > tile) {
      for (i64 c = 0; c < n; c += tile)
        part_of_rows(outer, begin, end, from + c, n - c < tile ? n - c : tile, to + c * width());
      return;
    }
    alignas(64) char other[tile * 8];  // no fold has wider numbers
    const i64 middle = begin + (end - begin) / rows / 2 * rows;
    part_of_rows(outer, begin, middle, from, n, to);
    part_of_rows(outer, middle, end, from, n, other);
    k.join(to, other, n);
  }
  void run_of_rows(i64 outer, i64 begin, i64 end, i64 from, i64 n, char* to) const {
    const i64 base = plan.kept.offset(outer) + from;
    const int last = plan.folded.rank - 1;
    const i64 rows = last < 0 ? 1 : plan.folded.size[last], stride = last < 0 ? 0 : plan.folded.stride[last];
    const char* const p = param_of(outer * plan.inner + from);
    k.clear(to, n);
    while (begin < end) {
      const i64 in = begin % rows, w = end - begin < rows - in ? end - begin : rows - in;
      k.columns(at(base + (last < 0 ? 0 : plan.folded.offset(begin))), w, stride, n, p, to);
      begin += w;
    }
  }
  // Few columns and many rows: the rows are divided into chunks.
  void tall(i64 outer, i64 rows, i64 chunks) const {
    alignas(64) char partial[partial_bytes];
    const i64 n = plan.inner, chunk = (rows + chunks - 1) / chunks;
    parallel_for(outer * chunks, 1, [&](i64 begin, i64 end) {
      for (i64 i = begin; i < end; ++i) {
        const i64 first = i % chunks * chunk, past = first + chunk < rows ? first + chunk : rows;
        part_of_rows(i / chunks, first, past, 0, n, partial + i * n * width());
      }
    });
    for (i64 o = 0; o < outer; ++o) {
      join_by_pairs(k, partial + o * chunks * n * width(), chunks, n);
      std::memcpy(out + o * n * width(), partial + o * chunks * n * width(), static_cast<std::size_t>(n) * k.width);
    }
  }
  void columns() const {
    constexpr i64 tile = 256;
    const i64 outer = plan.kept.count(), n = plan.inner, rows = plan.folded.count(), chunks = 16;
    if (outer * n * width() <= partial_bytes / chunks && outer * n * rows >= 8 * fold_grain && rows >= 16 * chunks)
      return tall(outer, rows, chunks);
    const i64 tiles = (n + tile - 1) / tile, work = (n < tile ? n : tile) * rows;
    parallel_for(outer * tiles, fold_grain / work + 1, [&](i64 begin, i64 end) {
      while (begin < end) {  // as wide a part of one row as the range has
        const i64 o = begin / tiles, first = begin % tiles;
        const i64 w = end - begin < tiles - first ? end - begin : tiles - first;
        const i64 from = first * tile, past = (first + w) * tile < n ? (first + w) * tile : n;
        part_of_rows(o, 0, rows, from, past - from, out + (o * n + from) * width());
        begin += w;
      }
    });
  }
};

using FoldOnSets = ByIsa<const FoldKernel*>;
template <Fold F, class T>
constexpr FoldOnSets on_lowest_set() {
  return {TANDEM_LOWEST_ISA_ONLY(fold_kernel<F, T>)};
}
template <Fold F, class T>
constexpr FoldOnSets on_sets() {
  return TANDEM_SETS_OF(T, fold_kernel<F, T>);
}
// Sums and products wrap: the unsigned types share the signed ones' kernels. The narrow ones use the lowest set's.
template <Fold F>
FoldOnSets fold_of_numbers(DType d) {
  switch (d) {
    case DType::float32:
    case DType::complex64: return on_sets<F, float>();
    case DType::float64:
    case DType::complex128: return on_sets<F, double>();
    case DType::int32:
    case DType::uint32: return on_sets<F, std::int32_t>();
    case DType::int64:
    case DType::uint64: return on_sets<F, std::int64_t>();
    case DType::int16:
    case DType::uint16: return on_lowest_set<F, std::int16_t>();
    case DType::int8:
    case DType::uint8: return on_lowest_set<F, std::int8_t>();
    default: return {};
  }
}
template <Fold F>
FoldOnSets fold_of_ordered(DType d) {
  switch (d) {
    case DType::uint8: return on_lowest_set<F, std::uint8_t>();
    case DType::uint16: return on_lowest_set<F, std::uint16_t>();
    case DType::uint32: return on_lowest_set<F, std::uint32_t>();
    case DType::uint64: return on_lowest_set<F, std::uint64_t>();
    case DType::complex64:
    case DType::complex128: return {};
    default: return fold_of_numbers<F>(d);
  }
}
template <Fold F>
FoldOnSets fold_of_floats(DType d) {
  if (d == DType::float32) return on_sets<F, float>();
  return d == DType::float64 ? on_sets<F, double>() : FoldOnSets{};
}
template <Fold F>
FoldOnSets fold_of_truth(DType d) {
  return d == DType::bool_ ? on_sets<F, std::uint8_t>() : FoldOnSets{};
}
// The folds whose results are rounded as they are; others of half precision are computed as float32.
template <Fold F>
FoldOnSets fold_of_half(DType d) {
  if constexpr (kernels_take_half && (F == Fold::sum || F == Fold::max || F == Fold::min)) {
    if (d == DType::float16) return {TANDEM_EACH_ISA(fold_kernel<F, Half>)};
    if (d == DType::bfloat16) return {TANDEM_EACH_ISA(fold_kernel<F, BFloat16>)};
  }
  return {};
}
// A template over the fold: a program that only sums must not contain the kernels of products and maxima.
template <Fold F>
FoldOnSets fold_on_sets(DType d) {
  if (kernels_take_half && dtypes::half_floating.has(d)) return fold_of_half<F>(d);
  if constexpr (F == Fold::sum || F == Fold::prod) return fold_of_numbers<F>(d);
  else if constexpr (F == Fold::max || F == Fold::min) return fold_of_ordered<F>(d);
  else if constexpr (F == Fold::any || F == Fold::all) return fold_of_truth<F>(d);
  else return fold_of_floats<F>(d);
}

// The sums of gradients and moments: programs that sum nothing else do not contain the kernels of integers. Defined in
// like.inl, so that one unit of the library has these kernels, not each that adds gradients.
FoldOnSets sum_of_inexact(DType d);

/// Returns the kernel of a fold for a dtype on the set in use; raises errors::UnimplementedError in the op's name.
template <Fold F, FoldOnSets (*Kernels)(DType) = &fold_on_sets<F>>
const FoldKernel& fold_kernel_of(DType dtype, const char* op) {
  const FoldKernel* k = Kernels(dtype).get();
  if (!k) errors::raise<errors::UnimplementedError>(op, std::string("no kernel for ") + name(dtype) + " on CPU:0");
  return *k;
}

}  // namespace detail
}  // namespace TANDEM_NS::cpu
