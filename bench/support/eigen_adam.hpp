// Adam by hand in Eigen, blocked for the cache: the framework-free reference for the optimizer and the training
// steps.
#pragma once
#include <cmath>

#include "eigen.hpp"

namespace bench {

struct EigenAdam {
  double learning_rate = 1e-3, beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-8;
  std::int64_t count = 0;

  /// Must be called once per step, before update().
  void advance() { ++count; }

  void update(float* w, const float* g, float* m, float* v, std::int64_t n) const {
    const double correct_1 = 1 - std::pow(beta_1, count), correct_2 = std::sqrt(1 - std::pow(beta_2, count));
    const auto rate = static_cast<float>(learning_rate * correct_2 / correct_1),
               eps = static_cast<float>(epsilon * correct_2);
    const auto b1 = static_cast<float>(beta_1), b2 = static_cast<float>(beta_2);
    split(n, [=](std::int64_t from, std::int64_t length) {
      constexpr std::int64_t block = 2048;
      for (std::int64_t at = from; at < from + length; at += block) {
        const std::int64_t size = std::min(block, from + length - at);
        ArrayMap weight(w + at, size), first(m + at, size), second(v + at, size);
        const ConstArrayMap gradient(g + at, size);
        first = b1 * first + (1 - b1) * gradient;
        second = b2 * second + (1 - b2) * gradient.square();
        weight -= rate * first / (second.sqrt() + eps);
      }
    });
  }
};

/// A parameter with its gradient and the two moments of Adam.
struct EigenParameter {
  Matrix value, gradient, first, second;

  EigenParameter() = default;
  explicit EigenParameter(Matrix initial)
      : value(std::move(initial)),
        gradient(Matrix::Zero(value.rows(), value.cols())),
        first(Matrix::Zero(value.rows(), value.cols())),
        second(Matrix::Zero(value.rows(), value.cols())) {}

  void update(const EigenAdam& adam) {
    adam.update(value.data(), gradient.data(), first.data(), second.data(), value.size());
  }
};
}  // namespace bench
