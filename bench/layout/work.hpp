// The work of the layout scenario: moving data (concat, stack, transpose, slices) and choosing it (where), from
// matrices that fit into the caches to such that do not.
#pragma once
#include <cstdint>
#include <string>

namespace bench::layout {

struct Size {
  std::int64_t rows, columns;

  std::string name(const char* operation) const {
    return std::string("layout/") + operation + "_" + std::to_string(rows) + "x" + std::to_string(columns);
  }
  std::int64_t count() const { return rows * columns; }
};

inline constexpr Size sizes[] = {{300, 200}, {1000, 777}, {3000, 1111}, {4096, 4096}};

// Each of the tensors that are joined or from which is chosen has such a size.
inline constexpr std::int64_t parts = 3;

// Exchange of the two inner axes of [batch, tokens, heads, width], as attention does.
inline constexpr std::int64_t batch = 12, tokens = 200, heads = 8, width = 64;
inline constexpr const char* swap_heads = "layout/transpose_12x200x8x64_0213";
}  // namespace bench::layout
