// The work of the adam scenario: one step of Adam over three parameters that make up a small MLP (269k) and the MNIST
// CNN (3.27M).
#pragma once
#include <array>
#include <cstdint>

namespace bench::adam {

struct Case {
  const char* name;
  std::int64_t count;
  std::array<std::int64_t, 3> parts() const { return {count * 3 / 4, count / 4, 256}; }
  std::int64_t total() const { return parts()[0] + parts()[1] + parts()[2]; }
};

inline constexpr Case cases[] = {{"adam/269k", 269322}, {"adam/3.27M", 3274634}};
inline constexpr double learning_rate = 1e-3, beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-8;
}  // namespace bench::adam
