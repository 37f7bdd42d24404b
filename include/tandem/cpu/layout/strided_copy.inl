// The strided copy: merges axes, then copies rows, 64-byte tiles, or single elements.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/base/bytes.hpp"
#include "tandem/cpu/layout/runs.hpp"
#include "tandem/cpu/layout/strided_copy.hpp"
#include "tandem/cpu/layout/transpose_tile.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/layout/transpose.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

namespace detail {

inline void swap_axes(StridedCopy& n, int i, int j) {
  std::swap(n.size[i], n.size[j]);
  std::swap(n.to[i], n.to[j]);
  std::swap(n.from[i], n.from[j]);
}
// Sorts output strides in descending order, removes sizes of 1, and merges axes where the outer one continues the
// inner one. Returns false if there is nothing to copy.
TANDEM_INLINE bool simplify(StridedCopy& n) {
  int kept = 0;
  for (int i = 0; i < n.axes; ++i) {
    if (n.size[i] == 0) return false;
    if (n.size[i] != 1) swap_axes(n, kept++, i);
  }
  n.axes = kept;
  for (int i = 1; i < n.axes; ++i)
    for (int j = i; j > 0 && n.to[j] > n.to[j - 1]; --j) swap_axes(n, j, j - 1);
  int last = 0;
  for (int i = 1; i < n.axes; ++i) {
    if (n.to[last] == n.to[i] * n.size[i] && n.from[last] == n.from[i] * n.size[i]) {
      n.size[last] *= n.size[i];
      n.to[last] = n.to[i];
      n.from[last] = n.from[i];
    } else if (++last != i) {
      n.size[last] = n.size[i];
      n.to[last] = n.to[i];
      n.from[last] = n.from[i];
    }
  }
  n.axes = n.axes ? last + 1 : 0;
  if (n.axes == 0) n.add(1, 1, 1);
  return true;
}

// Walks the outer axes of a nest, starting from a linear index.
struct Odometer {
  const StridedCopy& n;
  int axes;
  i64 at[StridedCopy::max_axes], to = 0, from = 0;

  Odometer(const StridedCopy& nest, int outer, i64 index) : n(nest), axes(outer) {
    for (int i = axes - 1; i >= 0; --i) {
      at[i] = index % n.size[i];
      index /= n.size[i];
      to += at[i] * n.to[i];
      from += at[i] * n.from[i];
    }
  }
  /// The elements from here to the end of the last axis.
  i64 left() const { return n.size[axes - 1] - at[axes - 1]; }
  /// By one element, or by several that do not reach beyond the end of the last axis.
  void next(i64 count = 1) {
    for (int i = axes - 1; i >= 0; --i, count = 1) {
      to += n.to[i] * count;
      from += n.from[i] * count;
      if ((at[i] += count) < n.size[i]) return;
      to -= n.to[i] * n.size[i];
      from -= n.from[i] * n.size[i];
      at[i] = 0;
    }
  }
};
TANDEM_INLINE i64 outer_size(const StridedCopy& n, int outer) {
  i64 r = 1;
  for (int i = 0; i < outer; ++i) r *= n.size[i];
  return r;
}

template <class T>
inline void copy_row(T* to, i64 to_step, const T* from, i64 from_step, i64 n) {
  if (to_step == 1 && from_step == 0) std::fill_n(to, n, *from);
  else if (to_step == 1)
    for (i64 i = 0; i < n; ++i) to[i] = from[i * from_step];
  else
    for (i64 i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
}
template <class T>
inline void copy_row_dense(T* to, const T* from, i64 n, bool streamed) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    const i64 bytes = n * static_cast<i64>(sizeof(T));
    if (streamed && bytes >= shortest_streamed_run) return copy_around(to, from, bytes);
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  } else {
    for (i64 i = 0; i < n; ++i) to[i] = from[i];
  }
}

template <class T>
void copy_rows(const StridedCopy& n, T* to, const T* from) {
  const int outer = n.axes - 1;
  const i64 length = n.size[outer], to_step = n.to[outer], from_step = n.from[outer];
  const i64 grain = std::max<i64>(1, copy_grain_bytes / (length * static_cast<i64>(sizeof(T))));
  const bool streamed = length * outer_size(n, outer) * static_cast<i64>(sizeof(T)) >= streaming_copy_bytes;
  if (outer == 0) {
    parallel_for(length, copy_grain_bytes / static_cast<i64>(sizeof(T)), [=](i64 b, i64 e) {
      if (to_step == 1 && from_step == 1) copy_row_dense(to + b, from + b, e - b, streamed);
      else copy_row(to + b * to_step, to_step, from + b * from_step, from_step, e - b);
    });
    return;
  }
  const bool dense = to_step == 1 && from_step == 1;
  if constexpr (std::is_trivially_copyable_v<T>)
    if (constexpr i64 width = sizeof(T); dense && length * width <= longest_short_run)
      return parallel_for(outer_size(n, outer), grain, [&, to, from](i64 b, i64 e) {
        Odometer at(n, outer, b);
        for (i64 i = b; i < e;) {
          const i64 count = std::min(e - i, at.left());
          const Runs runs{reinterpret_cast<char*>(to + at.to), reinterpret_cast<const char*>(from + at.from),
                          n.to[outer - 1] * width, n.from[outer - 1] * width, length * width};
          copy_runs(&runs, 1, 0, count);
          i += count;
          at.next(count);
        }
      });
  parallel_for(outer_size(n, outer), grain, [&, to, from](i64 b, i64 e) {
    Odometer at(n, outer, b);
    for (i64 i = b; i < e; ++i, at.next()) {
      if (dense) copy_row_dense(to + at.to, from + at.from, length, streamed);
      else copy_row(to + at.to, to_step, from + at.from, from_step, length);
    }
  });
}

// Copies planes in which the output is contiguous along the last axis and the source along another one.
template <class T>
void copy_planes(StridedCopy n, int source_axis, T* to, const T* from) {
  constexpr i64 tile = 64 / static_cast<i64>(sizeof(T));
  swap_axes(n, source_axis, n.axes - 2);
  const int outer = n.axes - 2;
  const i64 rows = n.size[outer], columns = n.size[outer + 1];  // of the output
  const i64 bytes = rows * columns * outer_size(n, outer) * static_cast<i64>(sizeof(T));
  // Lines that are 1 KB apart share few sets of the caches: these outputs are not kept there for long, either.
  const bool aliases = sizeof(T) == 4 && n.to[outer] % 256 == 0 && bytes >= (1 << 20);
  const Plane<T> plane{n.to[outer], n.from[outer + 1], aliases || bytes >= (8 << 20)};
  const i64 bands = (rows + tile - 1) / tile;
  const i64 grain = std::max<i64>(1, copy_grain_bytes / (tile * columns * static_cast<i64>(sizeof(T))));
  parallel_for(outer_size(n, outer) * bands, grain, [&, to, from](i64 b, i64 e) {
    for (i64 i = b; i < e;) {
      const Odometer at(n, outer, i / bands);
      const i64 first = i % bands, last = std::min(bands, first + e - i);
      if constexpr (sizeof(T) == 4) {
        static constexpr ByIsa<decltype(&TANDEM_LOWEST_ISA::turn_plane)> turn{TANDEM_EACH_ISA(turn_plane)};
        turn.get()(to + at.to, plane.to_stride, from + at.from, plane.from_stride, first * tile,
                   std::min(rows, last * tile), columns, plane.stream);
      } else {
        plane.copy(to + at.to, from + at.from, first * tile, std::min(rows, last * tile), columns);
      }
      i += last - first;
    }
  });
}

template <class T>
void copy_nest(const StridedCopy& n, void* to, const void* from) {
  const int last = n.axes - 1;
  if constexpr (std::is_trivially_copyable_v<T>)
    if (n.to[last] == 1 && n.from[last] != 1 && n.from[last] != 0)
      for (int i = 0; i < last; ++i)
        if (n.from[i] == 1 && n.size[i] >= 4 && n.size[last] >= 4)
          return copy_planes<T>(n, i, static_cast<T*>(to), static_cast<const T*>(from));
  copy_rows<T>(n, static_cast<T*>(to), static_cast<const T*>(from));
}

struct alignas(8) Wide {
  u64 part[2];
};

}  // namespace detail

TANDEM_INLINE void copy_strided(StridedCopy nest, DType dtype, void* to, const void* from) {
  if (!detail::simplify(nest)) return;
  if (dtype == DType::string) return detail::copy_nest<Bytes>(nest, to, from);
  switch (size_of(dtype)) {
    case 1: return detail::copy_nest<std::uint8_t>(nest, to, from);
    case 2: return detail::copy_nest<std::uint16_t>(nest, to, from);
    case 4: return detail::copy_nest<std::uint32_t>(nest, to, from);
    case 8: return detail::copy_nest<std::uint64_t>(nest, to, from);
    default: return detail::copy_nest<detail::Wide>(nest, to, from);
  }
}
TANDEM_INLINE void copy_dense(DType dtype, void* to, const void* from, i64 n) {
  StridedCopy nest;
  nest.add(n, 1, 1);
  copy_strided(nest, dtype, to, from);
}
TANDEM_INLINE void copy_around(void* to, const void* from, i64 bytes) {
  char* y = static_cast<char*>(to);
  const char* x = static_cast<const char*>(from);
#if defined(__SSE2__)
  const i64 head = std::min<i64>(bytes, -reinterpret_cast<std::intptr_t>(y) & 63);
  std::memcpy(y, x, static_cast<std::size_t>(head));
  for (y += head, x += head, bytes -= head; bytes >= 64; y += 64, x += 64, bytes -= 64)
    for (int i = 0; i < 4; ++i)
      _mm_stream_si128(reinterpret_cast<__m128i*>(y) + i, _mm_loadu_si128(reinterpret_cast<const __m128i*>(x) + i));
  _mm_sfence();
#endif
  std::memcpy(y, x, static_cast<std::size_t>(bytes));
}
TANDEM_INLINE void fill_zero(DType dtype, void* to, i64 n) {
  if (dtype == DType::string) {
    for (i64 i = 0; i < n; ++i) static_cast<Bytes*>(to)[i] = Bytes();
    return;
  }
  const i64 width = static_cast<i64>(size_of(dtype));
  parallel_for(n * width, copy_grain_bytes,
               [=](i64 b, i64 e) { std::memset(static_cast<char*>(to) + b, 0, static_cast<std::size_t>(e - b)); });
}
TANDEM_INLINE void copy_whole(const KernelCall& c) {
  copy_dense(c.out[0].spec->dtype, c.out[0].data, c.in[0].data, c.out[0].size());
}

}  // namespace TANDEM_NS::cpu
