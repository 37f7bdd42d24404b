// Pointwise calls in tiles that stay in the L1 cache. An input that is broadcast or converted to a wider dtype (half
// precision, narrow integers) is written out tile by tile; all others are read in place.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/base/error.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/expand.hpp"
#include "tandem/cpu/pointwise/half.hpp"
#include "tandem/cpu/pointwise/pointwise.hpp"
#include "tandem/cpu/streaming.hpp"

namespace TANDEM_NS::cpu {
namespace tiles {

inline constexpr i64 tile = 1024;         // elements of up to 8 bytes; 512 to 4096 perform about equally
inline constexpr i64 long_piece = 16384;  // if nothing is written out, calls may be longer
inline constexpr i64 short_row = 512;     // shorter rows share a tile
inline constexpr i64 widest = 8;          // bytes per element
inline constexpr i64 widest_wide = TANDEM_IS_HEADER_ONLY ? sizeof(i64) : sizeof(float);
inline constexpr i64 cheap_grain = 256 * 1024, costly_grain = 64 * 1024;  // minimum bytes per thread

// How one call is divided; shared by all threads.
struct Cut {
  const KernelCall& c;
  const DenseLoop& loop;
  BroadcastAxes axes;
  int inputs;
  bool narrow;  // narrow integers are converted to int64
  i64 width[max_broadcast_inputs], out_width, element_bytes = 0;
  bool direct[max_broadcast_inputs];  // has the output's layout
  bool streamed = false;
  i64 inner, rows, length, piece, pieces, rows_per_tile = 0, units;  // length: elements of a tile

  Cut(const KernelCall& call, const DenseLoop& l, bool narrow_ones)
      : c(call), loop(l), inputs(static_cast<int>(call.in.size())), narrow(narrow_ones) {
    const Shape* shapes[max_broadcast_inputs];
    for (int k = 0; k < inputs; ++k) shapes[k] = &operand(k).spec->shape;
    axes = broadcast_axes({shapes, static_cast<std::size_t>(inputs)}, c.out[0].spec->shape);
    inner = axes.inner();
    rows = axes.rows();
    out_width = static_cast<i64>(size_of(c.out[0].spec->dtype));
    element_bytes = out_width;
    bool plain = !is_widened(c.out[0].spec->dtype);
    for (int k = 0; k < inputs; ++k) {
      width[k] = static_cast<i64>(size_of(operand(k).spec->dtype));
      direct[k] = axes.is_direct(k);
      element_bytes += rows > 1 && axes.is_same_for_rows(k) ? 0 : width[k];  // repeated reads stay in the cache
      plain = plain && !is_widened(operand(k).spec->dtype) && !axes.repeats_inner(k);
    }
    streamed = inner * rows * element_bytes >= streaming_bytes && begins_line(c.out[0].data);
    length = std::max(out_width, *std::max_element(width, width + inputs)) > widest ? tile / 2 : tile;
    piece = plain ? long_piece : length;
    pieces = (inner + piece - 1) / piece;
    if (inner < short_row && rows > 1) rows_per_tile = length / inner;
    units = rows_per_tile ? (rows + rows_per_tile - 1) / rows_per_tile : rows * pieces;
  }
  bool is_widened(DType d) const { return detail::is_half(d) || (narrow && detail::narrow_integers.has(d)); }
  const Operand& operand(int k) const { return c.in[static_cast<std::size_t>(k)]; }
  const char* data(int k, i64 at) const { return static_cast<const char*>(operand(k).data) + at * width[k]; }
  i64 grain() const {
    const i64 unit = (rows_per_tile ? rows_per_tile * inner : std::min(inner, piece)) * element_bytes;
    return std::max<i64>(1, (loop.costly ? costly_grain : cheap_grain) / std::max<i64>(unit, 1));
  }
};

template <class To, class From>
void convert(const void* const* in, void* out, i64 n, const void*, bool) {
  for (i64 i = 0; i < n; ++i) static_cast<To*>(out)[i] = static_cast<To>(static_cast<const From*>(in[0])[i]);
}
inline LoopFn widening_from(DType d) {
  if (detail::is_half(d)) return half_rows(d).widen_loop;
  switch (d) {
    case DType::int8: return &convert<i64, std::int8_t>;
    case DType::int16: return &convert<i64, std::int16_t>;
    case DType::uint8: return &convert<i64, std::uint8_t>;
    case DType::uint16: return &convert<i64, std::uint16_t>;
    default: return &convert<i64, std::uint32_t>;
  }
}
inline LoopFn narrowing_to(DType d) {
  if (detail::is_half(d)) return half_rows(d).round_loop;
  return size_of(d) == 1   ? &convert<std::uint8_t, i64>
         : size_of(d) == 2 ? &convert<std::uint16_t, i64>
                           : &convert<std::uint32_t, i64>;
}

// One thread's share of a call: its buffers and its position among the rows.
class Worker {
 public:
  explicit Worker(const Cut& cut) : cut_(cut) {}

  void run(i64 begin, i64 end) {
    if (cut_.rows_per_tile) {
      run_short_rows(begin, end);
    } else {
      run_long_rows(begin, end);
    }
    if (cut_.streamed) end_streaming();
  }

 private:
  void run_long_rows(i64 begin, i64 end) {
    BroadcastRows rows(cut_.axes, begin / cut_.pieces);
    i64 repeated[max_broadcast_inputs] = {-1, -1, -1, -1};  // the element that fills the buffer
    for (i64 row = begin / cut_.pieces, p = begin % cut_.pieces; begin < end; ++begin) {
      const i64 at = p * cut_.piece, n = std::min(cut_.piece, cut_.inner - at);
      for (int k = 0; k < cut_.inputs; ++k) {
        const i64 from = rows.offset(k);
        if (!cut_.axes.repeats_inner(k)) {
          in_[k] = cut_.data(k, from + at);
          continue;
        }
        if (repeated[k] != from)
          expand(cut_.width[k], buffer_[k], cut_.data(k, from), 1, 0, std::min(cut_.length, cut_.inner), true);
        repeated[k] = from;
        in_[k] = buffer_[k];
      }
      compute(row * cut_.inner + at, n);
      if (++p == cut_.pieces) p = 0, ++row, rows.next();
    }
  }

  void run_short_rows(i64 begin, i64 end) {
    BroadcastRows rows(cut_.axes, begin * cut_.rows_per_tile);
    bool kept[max_broadcast_inputs] = {};
    for (bool first = true; begin < end; ++begin, first = false) {
      const i64 row = begin * cut_.rows_per_tile, count = std::min(cut_.rows_per_tile, cut_.rows - row);
      for (int k = 0; k < cut_.inputs; ++k) {
        kept[k] = cut_.direct[k] || (!first && cut_.axes.is_same_for_rows(k));
        in_[k] = cut_.direct[k] ? cut_.data(k, row * cut_.inner) : buffer_[k];
      }
      write_out_rows(rows, count, kept);
      compute(row * cut_.inner, count * cut_.inner);
    }
  }
  void write_out_rows(BroadcastRows& rows, i64 count, const bool* kept) {
    const int first = static_cast<int>(std::find(kept, kept + cut_.inputs, false) - kept);
    if (first == cut_.inputs) return;  // all inputs from now on: the rows are not needed again
    const bool regular = cut_.axes.rank <= 2;
    for (i64 r = 0, step = regular ? count : 1; r < count; r += step) {
      for (int k = first; k < cut_.inputs; ++k)
        if (!kept[k])
          expand(cut_.width[k], buffer_[k] + r * cut_.inner * cut_.width[k], cut_.data(k, rows.offset(k)), step,
                 regular && cut_.axes.rank == 2 ? cut_.axes.stride[k][0] : 0, cut_.inner, cut_.axes.repeats_inner(k));
      rows.advance(step);
    }
  }

  void compute(i64 at, i64 n) {
    for (int k = 0; k < cut_.inputs; ++k) widen(k, n);
    char* const out = static_cast<char*>(cut_.c.out[0].data) + at * cut_.out_width;
    const DType dtype = cut_.c.out[0].spec->dtype;
    if (cut_.is_widened(dtype)) {
      cut_.loop.run(in_, result_, n, cut_.loop.params, false);
      const void* const from = result_;
      narrowing_to(dtype)(&from, out, n, nullptr, false);
    } else {
      const bool streamed = cut_.streamed && at * cut_.out_width % 64 == 0;
      cut_.loop.run(in_, out, n, cut_.loop.params, streamed);
    }
  }
  void widen(int k, i64 n) {
    const DType dtype = cut_.operand(k).spec->dtype;
    if (!cut_.is_widened(dtype)) return;
    widening_from(dtype)(&in_[k], wide_[k], n, nullptr, false);
    in_[k] = wide_[k];
  }

  const Cut& cut_;
  const void* in_[max_broadcast_inputs];
  alignas(64) char buffer_[max_broadcast_inputs][tile * widest + 64];  // expand writes slightly past the end
  alignas(64) char result_[tile * widest_wide];
  alignas(64) char wide_[max_broadcast_inputs][tile * widest_wide];
};

// A small call that broadcasts: its inputs are written out in the output's layout, without tables or tiles.
struct SmallCall {
  static constexpr i64 bytes = 4096;  // of an operand

  const void* in[max_broadcast_inputs];
  alignas(64) char room[max_broadcast_inputs][bytes + 64];  // expand writes slightly past the end

  // Writes out input k. False if it alternates between repeated and other axes more than twice.
  bool write_out(int k, const Operand& x, const Shape& out) {
    const Shape& s = x.spec->shape;
    i64 size[3] = {1, 1, 1};  // innermost first
    bool repeats = false, repeats_inner = false;
    int groups = 0;
    for (int d = 1; d <= out.rank(); ++d) {
      const i64 n = out.dim(out.rank() - d);
      if (n == 1) continue;
      const bool repeated = d > s.rank() || s.dim(s.rank() - d) == 1;
      if (groups == 0) repeats_inner = repeated;
      if (groups == 0 || repeated != repeats) ++groups;
      if (groups > 3) return false;
      size[groups - 1] *= n;
      repeats = repeated;
    }
    in[k] = x.data;
    if (groups == 0 || (groups == 1 && !repeats_inner)) return true;
    in[k] = room[k];
    const i64 width = static_cast<i64>(size_of(x.spec->dtype)), block = size[0] * size[1] * width;
    for (i64 i = 0; i < size[2]; ++i)
      expand(width, room[k] + i * block, static_cast<const char*>(x.data) + (repeats_inner ? 0 : i * size[0] * width),
             size[1], repeats_inner ? 1 : 0, size[0], repeats_inner);
    return true;
  }
};
// Returns false if the call is not small or not that simple.
inline bool run_small(const KernelCall& c, const DenseLoop& loop, i64 n) {
  SmallCall call;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    if (n * static_cast<i64>(size_of(c.in[k].spec->dtype)) > SmallCall::bytes) return false;
    if (!call.write_out(static_cast<int>(k), c.in[k], c.out[0].spec->shape)) return false;
  }
  loop.run(call.in, c.out[0].data, n, loop.params, false);
  return true;
}

}  // namespace tiles

TANDEM_INLINE void raise_no_loop(const KernelCall& c) {
  errors::raise<errors::UnimplementedError>(c.op, std::string("no CPU kernel for ") + name(c.in.back().spec->dtype));
}

TANDEM_INLINE void run_tiled(const KernelCall& c, const DenseLoop& loop, bool narrow) {
  const i64 n = c.out[0].spec->shape.size();
  const DType dtype = c.in.back().spec->dtype;  // the first may be a mask
  const bool widened = detail::is_half(dtype) || (narrow && detail::narrow_integers.has(dtype));
  if (n == 0 || (!widened && n <= tiles::SmallCall::bytes && tiles::run_small(c, loop, n))) return;
  const tiles::Cut cut(c, loop, narrow);
  parallel_for(cut.units, cut.grain(), [&cut](i64 begin, i64 end) {
    tiles::Worker worker(cut);
    worker.run(begin, end);
  });
}

}  // namespace TANDEM_NS::cpu
