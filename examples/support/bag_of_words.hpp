// Texts as bags of words: which of the most frequent words a text has.
#pragma once
#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <tandem/tandem.hpp>
#include <vector>

namespace words {

/// The runs of letters of a text, in lower case.
inline std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c))) words.back() += static_cast<char>(std::tolower(c));
    else if (!words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// Numbers the `size` most frequent words, from 0.
inline std::map<std::string, std::size_t> vocabulary(const std::vector<std::vector<std::string>>& texts,
                                                     std::int64_t size) {
  std::map<std::string, std::int64_t> counts;
  for (const std::vector<std::string>& text : texts)
    for (const std::string& word : text) ++counts[word];
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [word, n] : counts) order.emplace_back(-n, word);
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), static_cast<std::size_t>(size)));
  std::map<std::string, std::size_t> numbers;
  for (const auto& entry : order) numbers.emplace(entry.second, numbers.size());
  return numbers;
}

/// A row for each text: 1 for the words that it has, 0 for the other words of the vocabulary. float32
inline tandem::Tensor bags(const std::vector<std::string>& texts, std::int64_t vocabulary_size) {
  std::vector<std::vector<std::string>> words;
  for (const std::string& text : texts) words.push_back(split(text));
  const std::map<std::string, std::size_t> numbers = vocabulary(words, vocabulary_size);
  std::vector<float> bags(texts.size() * numbers.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const std::string& word : words[i])
      if (const auto at = numbers.find(word); at != numbers.end()) bags[i * numbers.size() + at->second] = 1;
  return reshape(tandem::constant(bags),
                 {static_cast<std::int64_t>(texts.size()), static_cast<std::int64_t>(numbers.size())});
}

}  // namespace words
