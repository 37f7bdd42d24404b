// The order of a vocabulary that is learned from data. For the definitions of the layers that learn one.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "tandem/base/shape.hpp"

namespace TANDEM_NS::layers::detail {

/// The tokens of a vocabulary: by descending count, and those that occur equally often in descending order.
///   counts    a map from tokens to counts
///   most      `none`: all
template <class Counts>
auto by_frequency(const Counts& counts, i64 most) {
  using Token = typename Counts::key_type;
  std::vector<std::pair<Token, i64>> pairs(counts.rbegin(), counts.rend());
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<Token> tokens;
  for (const auto& pair : pairs)
    if (most == none || static_cast<i64>(tokens.size()) < most) tokens.push_back(pair.first);
  return tokens;
}

}  // namespace TANDEM_NS::layers::detail
