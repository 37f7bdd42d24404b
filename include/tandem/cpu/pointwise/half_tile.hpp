// HalfTile: a tile of half-precision operands as float32, on which a float32 kernel runs. For kernels that compute
// rows, columns or segments independently of each other.
#pragma once
#include <algorithm>

#include "tandem/core/allocator.hpp"
#include "tandem/cpu/pointwise/half.hpp"

namespace TANDEM_NS::cpu {

inline constexpr i64 half_tile_numbers = 4096;  // of one operand, where a kernel can choose: a third of an L1 cache

class HalfTile {
 public:
  /// Room for that many numbers, of all operands together.
  HalfTile(DType d, i64 numbers)
      : dtype_(d),
        rows_(half_rows(d)),
        scratch_(static_cast<std::size_t>(numbers) * sizeof(float)),
        next_(static_cast<float*>(scratch_.data())) {}

  DType dtype() const { return dtype_; }
  void clear() { next_ = static_cast<float*>(scratch_.data()); }
  float* room(i64 numbers) {
    float* const at = next_;
    next_ += numbers;
    return at;
  }
  /// A float32 copy of `rows` rows of n elements, which are `ld` apart and become adjacent.
  float* widen(const void* from, i64 ld, i64 rows, i64 n) {
    float* const to = room(rows * n);
    if (ld == n) rows_.widen(from, 0, to, 0, 1, rows * n);
    else rows_.widen(from, ld, to, n, rows, n);
    return to;
  }
  /// Stores adjacent rows of n numbers as rows that are `ld` apart.
  void round(const float* from, void* to, i64 ld, i64 rows, i64 n) const {
    if (ld == n) rows_.round(from, 0, to, 0, 1, rows * n);
    else rows_.round(from, n, to, ld, rows, n);
  }

 private:
  DType dtype_;
  const HalfRows& rows_;
  memory::Scratch scratch_;
  float* next_;
};

/// Calls f(tile, at, count) for rows [begin, end) of n elements, a tile at a time, which has room for three operands.
template <class F>
void each_half_tile(DType d, i64 begin, i64 end, i64 n, const F& f) {
  const i64 most = std::clamp<i64>(half_tile_numbers / std::max<i64>(n, 1), 1, end - begin);
  HalfTile tile(d, 3 * most * std::max<i64>(n, 1));
  for (; begin < end; begin += most) {
    tile.clear();
    f(tile, begin, std::min(most, end - begin));
  }
}

}  // namespace TANDEM_NS::cpu
