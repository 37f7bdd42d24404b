// The work of the conv2d scenario: convolutions with as much padding as keeps the size, channels last. With gradients:
// to the filter, and to the input where it is not a picture (more than one channel). Inference: the convolution, batch
// normalization by given statistics, and relu.
#pragma once
#include <cstdint>
#include <string>

namespace bench::conv2d {

struct Case {
  std::int64_t batch, size, channels, window, filters;
  bool input_gradient() const { return channels > 1; }
  double operations() const {
    return 2.0 * static_cast<double>(batch * size * size) * static_cast<double>(window * window * channels * filters);
  }
  std::string name(const char* what) const {
    const auto text = [](std::int64_t n) { return std::to_string(n); };
    return std::string("conv2d/") + what + "_" + text(batch) + "x" + text(size) + "x" + text(size) + "x" +
           text(channels) + "_" + text(window) + "x" + text(window) + "x" + text(filters);
  }
};

inline constexpr Case cases[] = {{32, 28, 1, 5, 32}, {128, 28, 1, 5, 32}, {128, 14, 32, 5, 64}, {32, 56, 64, 3, 64}};
// Batches of pictures, and one picture in the deep layers of a residual network.
inline constexpr Case inference_cases[] = {
    {32, 28, 128, 3, 128}, {1, 14, 256, 3, 256}, {1, 7, 512, 3, 512}, {1, 14, 1024, 1, 256}};
inline constexpr double epsilon = 1e-3;
inline constexpr const char* inference = "inference";
inline constexpr const char* forward = "forward";
inline constexpr const char* forward_backward = "forward_backward";
}  // namespace bench::conv2d
