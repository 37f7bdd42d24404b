// Transposes one plane in tiles of 64 bytes by 64 bytes, so that every cache line of both sides is touched once,
// even where all lines of a column map to one cache set. 16-byte vectors suffice, because it is memory-bound.
#pragma once
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::cpu::detail {

/// to[r * to_stride + c] = from[r + c * from_stride].
template <class T>
struct Plane {
  static constexpr i64 tile = 64 / static_cast<i64>(sizeof(T));
  using Block = T[tile][tile];

  i64 to_stride, from_stride;
  bool stream;  // the output is too large for the caches: use streaming stores

  void copy(T* to, const T* from, i64 row, i64 row_end, i64 columns) const {
    // Bands of columns in the outer loop: the source is then read along its lines, and few of its pages are in use
    // at a time.
    for (i64 c = 0; c < columns; c += tile)
      for (i64 r = row; r < row_end; r += tile)
        if (columns - c >= tile && row_end - r >= tile) whole(to + r * to_stride + c, from + r + c * from_stride);
        else partial(to + r * to_stride + c, from + r + c * from_stride, row_end - r, columns - c);
#if defined(__SSE2__)
    if (stream) _mm_sfence();
#endif
  }

 private:
  void partial(T* to, const T* from, i64 rows, i64 columns) const {
    rows = rows < tile ? rows : tile;
    columns = columns < tile ? columns : tile;
    for (i64 r = 0; r < rows; ++r)
      for (i64 c = 0; c < columns; ++c) to[r * to_stride + c] = from[r + c * from_stride];
  }
  void whole(T* to, const T* from) const {
    alignas(64) Block in, out;
    for (i64 c = 0; c < tile; ++c) std::memcpy(in[c], from + c * from_stride, 64);
    turn(in, out);
    const bool aligned =
        (reinterpret_cast<std::uintptr_t>(to) | static_cast<std::uintptr_t>(to_stride) * sizeof(T)) % 64 == 0;
    if (stream && aligned)
      for (i64 r = 0; r < tile; ++r) write_around(to + r * to_stride, out[r]);
    else
      for (i64 r = 0; r < tile; ++r) std::memcpy(to + r * to_stride, out[r], 64);
  }
  static void turn(const Block& in, Block& out) {
    if constexpr (sizeof(T) == 4) {
      for (i64 c = 0; c < tile; c += 4)
        for (i64 r = 0; r < tile; r += 4) turn_four(&in[c][r], &out[r][c]);
    } else {
      for (i64 r = 0; r < tile; ++r)
        for (i64 c = 0; c < tile; ++c) out[r][c] = in[c][r];
    }
  }
  // Transposes 4 x 4 words of a block.
  static void turn_four(const T* in, T* out) {
    typedef std::uint32_t V __attribute__((vector_size(16)));
    V a, b, c, d;
    std::memcpy(&a, in, 16), std::memcpy(&b, in + tile, 16);
    std::memcpy(&c, in + 2 * tile, 16), std::memcpy(&d, in + 3 * tile, 16);
    const V ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const V cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const V rows[4] = {__builtin_shufflevector(ab0, cd0, 0, 1, 4, 5), __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7),
                       __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5), __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7)};
    for (int i = 0; i < 4; ++i) std::memcpy(out + i * tile, &rows[i], 16);
  }
  static void write_around(T* to, const T* from) {
#if defined(__SSE2__)
    for (int i = 0; i < 4; ++i)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, _mm_load_si128(reinterpret_cast<const __m128i*>(from) + i));
#else
    std::memcpy(to, from, 64);
#endif
  }
};

}  // namespace TANDEM_NS::cpu::detail
