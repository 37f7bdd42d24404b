// Numbers and texts that all processes of a training have in common.
#pragma once
#include <tandem/distribute.hpp>
#include <tandem/tensor.hpp>

#include <string>
#include <vector>

#include "examples/support/workers.hpp"

namespace workers {

// What follows is called by all processes.
/// Combines each number with those of the other processes.
inline std::vector<double> reduce(const Strategy& strategy, tandem::distribute::ReduceOp op,
                                  const std::vector<double>& numbers) {
  const auto host = tandem::device("CPU:0");
  return strategy.reduce(op, tandem::constant(numbers)).to_vector<double>();
}
inline double largest(const Strategy& strategy, double number) {
  return reduce(strategy, tandem::distribute::ReduceOp::max, {number})[0];
}
/// Whether a condition is true in a process.
inline bool any(const Strategy& strategy, bool condition) { return largest(strategy, condition) > 0; }
/// The text that the first process has.
inline std::string shared(const Strategy& strategy, const std::string& text) {
  const auto host = tandem::device("CPU:0");
  const auto of_first = [&](const tandem::Tensor& x) {
    return tandem::distribute::broadcast(x, {.group = strategy.group()});
  };
  const auto size = of_first(tandem::constant(static_cast<std::int64_t>(text.size()))).item<std::int64_t>();
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  bytes.resize(static_cast<std::size_t>(size));
  bytes = of_first(tandem::constant(bytes)).to_vector<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

}  // namespace workers
