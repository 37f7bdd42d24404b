// Interleaves the elements of a few arrays, or takes them apart again, in one pass. For concat, stack and split along
// a last axis.
#pragma once
#include <cstdint>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::cpu::detail {

inline constexpr int most_interleaved = 4;

/// whole[i * parts + p] = part[p][i], or the reverse, for i in [first, last).
using Interleave = void (*)(void* whole, void* const* part, i64 first, i64 last);

template <bool Join, class T, int Parts>
void interleave(void* whole, void* const* part, i64 first, i64 last) {
  T* y = static_cast<T*>(whole) + first * Parts;
  T* x[Parts];
  for (int p = 0; p < Parts; ++p) x[p] = static_cast<T*>(part[p]);
  for (i64 i = first; i < last; ++i, y += Parts) {
#pragma GCC unroll 4
    for (int p = 0; p < Parts; ++p) {
      if constexpr (Join) y[p] = x[p][i];
      else x[p][i] = y[p];
    }
  }
}
template <bool Join, class T>
Interleave interleave_of(unsigned parts) {
  switch (parts) {
    case 2: return &interleave<Join, T, 2>;
    case 3: return &interleave<Join, T, 3>;
    case 4: return &interleave<Join, T, 4>;
    default: return nullptr;
  }
}
/// The function for so many parts of elements of so many bytes; null if there is none.
template <bool Join>
Interleave interleave_of(unsigned parts, i64 width) {
  if (width == 4) return interleave_of<Join, std::uint32_t>(parts);
  return width == 8 ? interleave_of<Join, std::uint64_t>(parts) : nullptr;
}

}  // namespace TANDEM_NS::cpu::detail
