// Definitions of cpu/softmax/softmax.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/half_tile.hpp"
#include "tandem/cpu/reduce/kernels.hpp"
#include "tandem/cpu/simd/packs.hpp"
#include "tandem/cpu/softmax/softmax.hpp"

#define TANDEM_KERNELS "tandem/cpu/softmax/softmax.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {
namespace detail {

inline constexpr i64 softmax_grain = 8192;  // elements worth a thread: each costs an exponential

template <SoftmaxOp O, class T>
const SoftmaxKernel& softmax_on_set() {
  static constexpr ByIsa<const SoftmaxKernel*> sets = TANDEM_SETS_OF(T, softmax_kernel<O, T>);
  return *sets.get();
}
// Half precision: rows, or columns of an inner axis, are computed as float32 a tile at a time.
struct HalfSoftmax {
  const KernelCall& c;
  const SoftmaxKernel& k;
  i64 outer, inner, n;
  bool full[4];  // n values per slice, instead of one; the last is the result's

  i64 most_values() const { return std::max<i64>(n, 1); }  // of a slice: one of n = 0 has a result, too

  DType dtype() const { return c.out[0].spec->dtype; }
  i64 values(std::size_t i) const { return full[i] ? n : 1; }

  void rows() const {
    parallel_for(outer, softmax_grain / (n + 1) + 1, [this](i64 begin, i64 end) {
      const i64 most = std::clamp<i64>(half_tile_numbers / most_values(), 1, end - begin);
      HalfTile tile(dtype(), 4 * most * most_values());
      i64 step[4];
      for (std::size_t i = 0; i < 4; ++i) step[i] = values(i);
      for (; begin < end; begin += most)
        compute(tile, begin, 0, std::min(most, end - begin), 1,
                [&](const void* const* in, void* out) { k.rows(in, out, step, std::min(most, end - begin), n); });
    });
  }
  void columns() const {
    const i64 width = 64, tiles = (inner + width - 1) / width,
              grain = softmax_grain / ((n + 1) * std::min(inner, width)) + 1;
    parallel_for(outer * tiles, grain, [this, tiles, width](i64 begin, i64 end) {
      HalfTile tile(dtype(), 4 * width * most_values());
      for (i64 t = begin; t < end; ++t) {
        const i64 from = t % tiles * width, w = std::min(width, inner - from);
        compute(tile, t / tiles, from, 1, w, [&](const void* const* in, void* out) { k.columns(in, out, w, n, w); });
      }
    });
  }

 private:
  // Runs f on float32 copies of `count` outer indices from `at` on, w columns from `from` on; one of the two is 1.
  template <class F>
  void compute(HalfTile& tile, i64 at, i64 from, i64 count, i64 w, const F& f) const {
    tile.clear();
    const void* in[3] = {};
    for (std::size_t i = 0; i < c.in.size(); ++i)
      in[i] =
          tile.widen(c.in[i].as<const std::uint16_t>() + at * values(i) * inner + from, inner, count * values(i), w);
    const i64 lines = count * values(3);
    float* const out = tile.room(lines * w);
    f(in, out);
    tile.round(out, c.out[0].as<std::uint16_t>() + at * values(3) * inner + from, inner, lines, w);
  }
};

// Input number `full` has the full shape; an operand of another size has one value per slice.
template <SoftmaxOp O>
void softmax_walk(const KernelCall& c, std::size_t full) {
  const Operand& x = c.in[full];
  const Shape& s = x.shape();
  const int axis = resolve_axis(c.op, c.attrs.get<rules::SoftmaxAttrs>().axis, s.rank());
  i64 outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= s.dim(d);
  for (int d = axis + 1; d < s.rank(); ++d) inner *= s.dim(d);
  if (outer * inner == 0 || c.out[0].size() == 0) return;
  const SoftmaxKernel& k = x.spec->dtype == DType::float64 ? softmax_on_set<O, double>() : softmax_on_set<O, float>();
  const i64 n = s.dim(axis), width = static_cast<i64>(k.width);
  if constexpr (kernels_take_half) {
    if (dtypes::half_floating.has(x.spec->dtype)) {
      HalfSoftmax h{c, k, outer, inner, n, {}};
      for (std::size_t i = 0; i < c.in.size(); ++i) h.full[i] = c.in[i].shape().rank() == s.rank();
      h.full[3] = c.out[0].shape().rank() == s.rank();
      return inner == 1 ? h.rows() : h.columns();
    }
  }
  i64 step[4] = {0, 0, 0, 0};  // elements from one outer index to the next
  const char* in[3] = {};
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    in[i] = c.in[i].as<const char>();
    step[i] = c.in[i].shape().rank() == s.rank() ? n * inner : inner;
  }
  step[3] = c.out[0].shape().rank() == s.rank() ? n * inner : inner;
  const auto call = [&](i64 from, i64 column, auto run) {
    const void* at[3] = {};
    for (std::size_t i = 0; i < c.in.size(); ++i) at[i] = in[i] + (from * step[i] + column) * width;
    run(at, c.out[0].as<char>() + (from * step[3] + column) * width);
  };
  if (inner == 1)
    return parallel_for(outer, softmax_grain / (n + 1) + 1, [&](i64 begin, i64 end) {
      call(begin, 0, [&](const void* const* at, void* y) { k.rows(at, y, step, end - begin, n); });
    });
  constexpr i64 tile = 64;
  const i64 tiles = (inner + tile - 1) / tile;
  parallel_for(outer * tiles, softmax_grain / ((n + 1) * (inner < tile ? inner : tile)) + 1, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const i64 from = i % tiles * tile, w = inner - from < tile ? inner - from : tile;
      call(i / tiles, from, [&](const void* const* at, void* y) { k.columns(at, y, w, n, inner); });
    }
  });
}

// Labels as checked 64-bit integers.
struct Labels {
  i64* at;
  Labels(const KernelCall& c, const Operand& labels, i64 classes) : at(static_cast<i64*>(c.workspace)) {
    for (i64 i = 0, n = labels.size(); i < n; ++i) {
      const bool wide = labels.spec->dtype == DType::int64;
      at[i] = wide ? labels.as<const std::int64_t>()[i] : labels.as<const std::int32_t>()[i];
      if (at[i] < 0 || at[i] >= classes) raise(c.op, at[i], i, labels.shape(), classes);
    }
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void raise(const char* op, i64 label, i64 flat, const Shape& s,
                                                           i64 classes) {
    std::string place;
    for (int d = s.rank() - 1; d >= 0; --d) {
      place = std::to_string(flat % s.dim(d)) + (place.empty() ? "" : ",") + place;
      flat /= s.dim(d);
    }
    errors::raise<errors::InvalidArgumentError>(op, "label " + std::to_string(label) + " at [" + place +
                                                        "] is outside of [0, " + std::to_string(classes) + ")");
  }
};

}  // namespace detail

TANDEM_INLINE void softmax(const KernelCall& c) { detail::softmax_walk<SoftmaxOp::softmax>(c, 0); }
TANDEM_INLINE void log_softmax(const KernelCall& c) { detail::softmax_walk<SoftmaxOp::log_softmax>(c, 0); }
TANDEM_INLINE void softmax_grad(const KernelCall& c) { detail::softmax_walk<SoftmaxOp::softmax_grad>(c, 1); }
TANDEM_INLINE void log_softmax_grad(const KernelCall& c) { detail::softmax_walk<SoftmaxOp::log_softmax_grad>(c, 1); }
TANDEM_INLINE void softmax_cross_entropy(const KernelCall& c) { detail::softmax_walk<SoftmaxOp::cross_entropy>(c, 1); }
TANDEM_INLINE void softmax_cross_entropy_grad(const KernelCall& c) {
  detail::softmax_walk<SoftmaxOp::cross_entropy_grad>(c, 2);
}

TANDEM_INLINE void sparse_softmax_cross_entropy(const KernelCall& c) {
  const Operand& x = c.in[1];
  const i64 n = x.shape().dim(-1), rows = c.in[0].size(), width = static_cast<i64>(size_of(x.spec->dtype));
  const detail::Labels labels(c, c.in[0], n);
  using Fn = void (*)(const void*, const i64*, i64, i64, void*);
  static constexpr ByIsa<Fn> single{TANDEM_EACH_ISA(sparse_rows<float>)},
      whole{TANDEM_EACH_ISA_IF_COMPILED(sparse_rows<double>)};
  const Fn run = (x.spec->dtype == DType::float64 ? whole : single).get();
  const bool half = kernels_take_half && dtypes::half_floating.has(x.spec->dtype);
  parallel_for(rows, detail::softmax_grain / (n + 1) + 1, [&](i64 begin, i64 end) {
    if constexpr (kernels_take_half) {
      if (half)
        return each_half_tile(x.spec->dtype, begin, end, n, [&](HalfTile& tile, i64 at, i64 count) {
          const float* const in = tile.widen(x.as<const std::uint16_t>() + at * n, count * n, 1, count * n);
          float* const out = tile.room(count);
          run(in, labels.at + at, count, n, out);
          tile.round(out, c.out[0].as<std::uint16_t>() + at, count, 1, count);
        });
    }
    run(x.as<const char>() + begin * n * width, labels.at + begin, end - begin, n, c.out[0].as<char>() + begin * width);
  });
}
TANDEM_INLINE void sparse_softmax_cross_entropy_grad(const KernelCall& c) {
  const Operand& x = c.in[2];
  const i64 n = x.shape().dim(-1), rows = c.in[1].size(), width = static_cast<i64>(size_of(x.spec->dtype));
  const detail::Labels labels(c, c.in[1], n);
  using Fn = void (*)(const void*, const i64*, const void*, i64, i64, void*);
  static constexpr ByIsa<Fn> single{TANDEM_EACH_ISA(sparse_grad_rows<float>)},
      whole{TANDEM_EACH_ISA_IF_COMPILED(sparse_grad_rows<double>)};
  const Fn run = (x.spec->dtype == DType::float64 ? whole : single).get();
  const bool half = kernels_take_half && dtypes::half_floating.has(x.spec->dtype);
  parallel_for(rows, detail::softmax_grain / (n + 1) + 1, [&](i64 begin, i64 end) {
    if constexpr (kernels_take_half) {
      if (half)
        return each_half_tile(x.spec->dtype, begin, end, n, [&](HalfTile& tile, i64 at, i64 count) {
          const float* const g = tile.widen(c.in[0].as<const std::uint16_t>() + at, count, 1, count);
          const float* const in = tile.widen(x.as<const std::uint16_t>() + at * n, count * n, 1, count * n);
          float* const out = tile.room(count * n);
          run(g, labels.at + at, in, count, n, out);
          tile.round(out, c.out[0].as<std::uint16_t>() + at * n, count * n, 1, count * n);
        });
    }
    run(c.in[0].as<const char>() + begin * width, labels.at + begin, x.as<const char>() + begin * n * width,
        end - begin, n, c.out[0].as<char>() + begin * n * width);
  });
}
TANDEM_INLINE void one_hot_like(const KernelCall& c) {
  const Operand& y = c.out[0];
  const i64 n = y.shape().dim(-1);
  const detail::Labels labels(c, c.in[0], n);
  std::memset(y.data, 0, y.spec->bytes());
  for (i64 r = 0; r < c.in[0].size(); ++r) {
    if (y.spec->dtype == DType::float64) y.as<double>()[r * n + labels.at[r]] = 1;
    else y.as<float>()[r * n + labels.at[r]] = 1;
  }
}

}  // namespace TANDEM_NS::cpu
