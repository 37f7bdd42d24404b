// Long folds in chunks on several threads, with partial results combined in a fixed order. For the definitions of
// folds.
#pragma once
#include <cstring>

#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/reduce/fold.hpp"

namespace TANDEM_NS::cpu::detail {

inline constexpr i64 fold_grain = 32768;  // elements worth handing to another thread
inline constexpr i64 most_chunks = 64;    // per output

// A chunk's length depends on the fold's length only, so the result does not depend on the number of threads.
inline i64 chunk_of(i64 length) {
  const i64 even = (length + most_chunks - 1) / most_chunks;
  return length <= 2 * fold_grain ? length : even < fold_grain ? fold_grain : (even + 1023) / 1024 * 1024;
}
// Combines `count` rows of n values at `from` pairwise into the first.
inline void join_by_pairs(const FoldKernel& k, char* from, i64 count, i64 n) {
  const i64 row = n * static_cast<i64>(k.width);
  for (i64 step = 1; step < count; step *= 2)
    for (i64 i = 0; i + step < count; i += 2 * step) k.join(from + i * row, from + (i + step) * row, n);
}
// Computes each output from its chunks: piece(output, chunk, to).
template <class Piece>
void join_chunks(const FoldKernel& k, i64 outputs, i64 chunks, char* out, const Piece& piece) {
  const auto width = static_cast<i64>(k.width);
  alignas(64) char partial[most_chunks * 16 * 16];
  if (outputs <= 16) {
    parallel_for(outputs * chunks, 1, [&](i64 begin, i64 end) {
      for (i64 i = begin; i < end; ++i) piece(i / chunks, i % chunks, partial + i * width);
    });
    for (i64 o = 0; o < outputs; ++o) {
      join_by_pairs(k, partial + o * chunks * width, chunks, 1);
      std::memcpy(out + o * width, partial + o * chunks * width, k.width);
    }
    return;
  }
  parallel_for(outputs, 1, [&](i64 begin, i64 end) {
    alignas(64) char own[most_chunks * 16];
    for (i64 o = begin; o < end; ++o) {
      for (i64 c = 0; c < chunks; ++c) piece(o, c, own + c * width);
      join_by_pairs(k, own, chunks, 1);
      std::memcpy(out + o * width, own, k.width);
    }
  });
}

}  // namespace TANDEM_NS::cpu::detail
