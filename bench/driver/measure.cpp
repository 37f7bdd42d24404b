// Rounds, quartiles and the comparison of results.
#include "measure.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <exception>
#include <sstream>

namespace bench::driver {
namespace {

double at_fraction(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

void take_sample(Side& side) {
  if (!side.error.empty()) return;
  try {
    side.samples.push_back(side.sample());
  } catch (const std::exception& error) {
    side.error = error.what();
  }
}
}  // namespace

Quartiles quartiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {at_fraction(values, 0.25), at_fraction(values, 0.5), at_fraction(values, 0.75)};
}

Quartiles figure(const Side& side, Figure which) {
  std::vector<double> all;
  for (const Cost& cost : side.samples) all.push_back(cost.*which);
  return quartiles(std::move(all));
}

Quartiles ratio(const Side& peer, const Side& ours, Figure which) {
  std::vector<double> all;
  const std::size_t rounds = std::min(peer.samples.size(), ours.samples.size());
  for (std::size_t i = 0; i < rounds; ++i) all.push_back(peer.samples[i].*which / ours.samples[i].*which);
  return quartiles(std::move(all));
}

void take_rounds(std::vector<Side>& sides, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) {
      for (auto side = sides.begin(); side != sides.end(); ++side) take_sample(*side);
    } else {
      for (auto side = sides.rbegin(); side != sides.rend(); ++side) take_sample(*side);
    }
  }
}

Result parse_result(const std::string& line) {
  Result result;
  std::size_t picked = 0;
  std::istringstream in(line);
  in >> result.count >> result.sum_abs >> result.weighted >> picked;
  for (std::string word; in >> word;) result.samples.push_back(std::stod(word));  // stod reads nan and inf, >> does not
  return result;
}

std::string difference(const Result& a, const Result& b, double tolerance) {
  if (a.count != b.count) return fmt::format("results differ in length: {} and {}", a.count, b.count);
  const double mean = a.sum_abs / static_cast<double>(std::max(1L, a.count));
  for (std::size_t i = 0; i < a.samples.size(); ++i) {
    const bool close = std::fabs(a.samples[i] - b.samples[i]) <= tolerance * (std::fabs(a.samples[i]) + mean);
    if (!close) return fmt::format("results differ: {:f} and {:f}", a.samples[i], b.samples[i]);
  }
  const bool close = std::fabs(a.weighted - b.weighted) <= tolerance * a.sum_abs &&
                     std::fabs(a.sum_abs - b.sum_abs) <= tolerance * a.sum_abs;
  return close ? "" : "results differ in their sums";
}
}  // namespace bench::driver
