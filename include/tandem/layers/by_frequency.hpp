// The order of a vocabulary that is learned from data, and a given one without its special tokens. For the definitions
// of the layers that have one.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "tandem/layers/discrete.hpp"

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
/// A given vocabulary without the special tokens that get_vocabulary() puts before it, if it begins with all of them.
///   specials  the mask if there is one, then the token of unknown ones, once for each of their ids
///   mask      null: none
///   unknown   the token of unknown ones; null: it may be a token of the vocabulary, which only `invert` confuses
///   text      a token as an error has it
///   returns   whether it began with them
///   throws    errors::InvalidArgumentError, in the layer's name, for one of them at another place
template <class T, class Text>
bool strip_specials(const char* layer, std::vector<T>& given, const std::vector<T>& specials, const T* mask,
                    const T* unknown, const Text& text) {
  const bool has_them = given.size() >= specials.size() && std::equal(specials.begin(), specials.end(), given.begin());
  const std::size_t first = has_them ? specials.size() : 0;
  for (std::size_t i = first; i < given.size(); ++i) {
    const bool is_mask = mask && given[i] == *mask;
    if (!is_mask && !(unknown && given[i] == *unknown)) continue;
    raise_special(layer, is_mask ? "mask_token" : "oov_token", text(given[i]), i, specials.size());
  }
  given.erase(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(first));
  return first > 0;
}

}  // namespace TANDEM_NS::layers::detail
