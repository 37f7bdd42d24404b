// Definitions of cpu/layout/band.hpp.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/cpu/layout/band.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu {

TANDEM_INLINE void band_part(const KernelCall& c, i64 lower, i64 upper) {
  const Shape& s = c.out[0].shape();
  const i64 rows = s.dim(-2), columns = s.dim(-1);
  if (s.size() == 0) return;
  const std::size_t width = size_of(c.out[0].spec->dtype);
  const char* from = c.in[0].as<const char>();
  char* to = c.out[0].as<char>();
  const i64 row_bytes = columns * static_cast<i64>(width);
  parallel_for(s.size() / columns, std::max<i64>(1, (1 << 17) / row_bytes), [=](i64 first, i64 last) {
    for (i64 r = first; r < last; ++r) {
      const i64 i = r % rows;
      const i64 begin = lower < 0 || lower >= i ? 0 : std::min(i - lower, columns);
      const i64 end = upper < 0 || upper >= columns - i ? columns : std::max<i64>(i + upper + 1, 0);
      const std::size_t head = static_cast<std::size_t>(begin) * width,
                        kept = static_cast<std::size_t>(std::max(end, begin)) * width,
                        all = static_cast<std::size_t>(row_bytes), at = static_cast<std::size_t>(r) * all;
      std::memset(to + at, 0, head);
      if (to != from) std::memcpy(to + at + head, from + at + head, kept - head);
      std::memset(to + at + kept, 0, all - kept);
    }
  });
}

}  // namespace TANDEM_NS::cpu
