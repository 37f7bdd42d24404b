// What attention does where a mask, or causality, hides keys or values that are not finite: their weights are 0, but 0
// times a NaN is NaN. The kernels multiply everything, look at what comes out, and compute again with the functions of
// this file if it is not finite. For the definitions of attention.hpp.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

#include "tandem/core/kernel.hpp"
#include "tandem/cpu/attention/plan.hpp"

namespace TANDEM_NS::cpu::detail {

/// Rows of `width` numbers.
template <class T>
struct RowsOf {
  T* x;
  i64 ld;
  RowsOf from(i64 row) const { return {x + row * ld, ld}; }
};

/// The bits of a number, and those of its exponent, all of which are set in NaN and infinity.
template <class T>
struct ExponentOf;
template <>
struct ExponentOf<float> {
  using Bits = std::uint32_t;
  static constexpr Bits mask = 0x7f800000u;
};
template <>
struct ExponentOf<double> {
  using Bits = std::uint64_t;
  static constexpr Bits mask = 0x7ff0000000000000u;
};
template <class T>
bool is_finite_number(T x) {
  using E = ExponentOf<T>;
  return (std::bit_cast<typename E::Bits>(x) & E::mask) != E::mask;
}
/// Whether no number of a list has all bits of `mask` set. In blocks of a constant size, which are vectorized.
template <class Bits>
bool none_has(const Bits* x, i64 n, Bits mask) {
  constexpr i64 block = 64;
  i64 i = 0;
  for (; i + block <= n; i += block) {
    Bits most = 0;
    for (i64 k = 0; k < block; ++k) {
      const Bits b = x[i + k] & mask;
      most = b > most ? b : most;
    }
    if (most == mask) return false;
  }
  for (; i < n; ++i)
    if ((x[i] & mask) == mask) return false;
  return true;
}
/// Whether rows are finite, by the sums of their squares, on packs. Where these overflow the answer is false, which
/// costs time only.
template <class T>
bool are_finite(RowsOf<const T> x, i64 rows, i64 width) {
  constexpr i64 most = 64;
  const auto dots = attention_kernels<T>().dots;
  T sums[most];
  for (i64 r = 0; r < rows; r += most) {
    const i64 n = rows - r < most ? rows - r : most;
    const T* const from = x.from(r).x;
    dots(from, from, x.ld, n, width, sums);
    for (i64 i = 0; i < n; ++i)
      if (!is_finite_number(sums[i])) return false;
  }
  return true;
}
template <class T>
bool are_finite(const T* x, i64 n) {
  constexpr i64 width = 1024;
  const i64 rows = n / width;
  return are_finite<T>({x, width}, rows, width) && are_finite<T>({x + rows * width, width}, 1, n % width);
}
inline bool is_finite_operand(const Operand& o) {
  switch (o.spec->dtype) {
    case DType::float64: return are_finite(o.as<const double>(), o.size());
    case DType::float32: return are_finite(o.as<const float>(), o.size());
    case DType::float16: return none_has<std::uint16_t>(o.as<const std::uint16_t>(), o.size(), 0x7c00);
    default: return none_has<std::uint16_t>(o.as<const std::uint16_t>(), o.size(), 0x7f80);
  }
}
inline bool are_finite_operands(Span<const Operand> all) {
  for (const Operand& o : all)
    if (!is_finite_operand(o)) return false;
  return true;
}

/// A copy of rows with 0 in place of what is not finite; the distance of rows is kept, because products may depend on
/// it.
template <class T>
class FiniteRows {
 public:
  FiniteRows(RowsOf<const T> x, i64 rows, i64 width) : room_(rows * x.ld), rows_{room_.data(), x.ld} {
    for (i64 r = 0; r < rows; ++r)
      for (i64 i = 0; i < width; ++i) {
        const T v = x.x[r * x.ld + i];
        room_.data()[r * x.ld + i] = is_finite_number(v) ? v : T(0);
      }
  }
  operator RowsOf<const T>() const { return rows_; }

 private:
  const TileRoom<T> room_;
  const RowsOf<const T> rows_;
};

/// Whether row r of a tile sees its key i.
template <class T>
bool sees_key(const AttentionTile<T>& t, i64 r, i64 i) {
  if (t.causal && i >= t.allowed + r) return false;
  return !t.bias || t.bias[r * t.bias_ld + i] != -std::numeric_limits<T>::infinity();
}
/// to[row] += weights(row, key) x[key], over what is not finite in x and keys that rows see. `keyed`: x belongs to keys
/// and `to` to rows; otherwise x belongs to rows and `to` to keys.
template <class T>
void add_not_finite(const AttentionTile<T>& t, const T* weights, bool keyed, RowsOf<const T> x, i64 width,
                    RowsOf<T> to) {
  const i64 from = keyed ? t.n : t.rows, results = keyed ? t.rows : t.n;
  for (i64 j = 0; j < from; ++j)
    for (i64 c = 0; c < width; ++c) {
      const T v = x.x[j * x.ld + c];
      if (is_finite_number(v)) continue;
      for (i64 i = 0; i < results; ++i) {
        const i64 row = keyed ? i : j, key = keyed ? j : i;
        if (sees_key(t, row, key)) to.x[i * to.ld + c] += weights[row * t.ld + key] * v;
      }
    }
}

}  // namespace TANDEM_NS::cpu::detail
