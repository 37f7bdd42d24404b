// first_gradient: a line through points, by gradients.
#include <cmath>
#include <iostream>

#include <tandem/tensor.hpp>

using namespace tandem;

int main() {
  const Tensor x = constant({0.f, 1.f, 2.f, 3.f}), y = constant({1.f, 3.f, 5.f, 7.f});  // y = 2 x + 1
  const Variable slope(0.f), offset(0.f);
  for (int step = 0; step < 200; ++step) {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(slope * x + offset - y));
    const auto [of_slope, of_offset] = tape.gradient(loss, {slope, offset});
    slope.assign_sub(0.1f * of_slope);
    offset.assign_sub(0.1f * of_offset);
  }
  std::cout << "y = " << slope.item<float>() << " x + " << offset.item<float>() << "\n";
  return std::abs(slope.item<float>() - 2) < 0.01f ? 0 : 1;
}
