// The work of the rows scenario: sorting, searching and scanning the rows (or, with axis 0, the columns) of a matrix.
// Every competitor's file follows these lists.
#pragma once
#include <cstdint>
#include <string>

namespace bench::rows {

struct Case {
  std::int64_t rows, length;  // of a row; the matrix is [rows, length], for axis 0 [length, rows]
  int axis = 1;

  std::string name(const char* operation) const {
    return std::string("rows/") + operation + "_" + std::to_string(rows) + "x" + std::to_string(length) +
           (axis == 0 ? "_axis0" : "");
  }
  std::int64_t height() const { return axis == 0 ? length : rows; }
  std::int64_t width() const { return axis == 0 ? rows : length; }
};

inline constexpr Case cases[] = {{1000, 300}, {333, 1001}, {64, 5003}, {8, 50000}, {200, 1500, 0}};

// The number of elements that top_k selects: a short list, and a longer one.
inline constexpr std::int64_t few = 5, many = 100;

// int32 values are below this.
inline constexpr std::int64_t bound = 1000000;
}  // namespace bench::rows
