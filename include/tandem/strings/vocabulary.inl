// Definitions of strings/vocabulary.hpp.
#pragma once
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <unordered_set>

#include "tandem/core/scope.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/strings/string_kernels.hpp"
#include "tandem/strings/vocabulary.hpp"
#include "tandem/util/lines.hpp"
#include "tandem/util/text_file.hpp"

namespace TANDEM_NS::lookup {

TANDEM_INLINE Vocabulary::Vocabulary(std::vector<std::string> words, VocabularyOptions o) : words_(std::move(words)) {
  const tandem::detail::CallSite call(o);
  words_.insert(words_.begin(), o.unknown);
  table_ = make_ref<impl::Table>(DType::string, DType::int64);
  for (std::size_t i = 0; i < words_.size(); ++i)
    if (!table_->texts.emplace(words_[i], impl::Value{i, {}}).second)
      strings::impl::raise("Vocabulary", "the word " + strings::impl::in_quotes(words_[i]) + " occurs twice");
  const tandem::detail::OutsideTrace outside;
  mapping_ = constant(words_);
}
TANDEM_INLINE Vocabulary Vocabulary::from_counts(std::vector<std::pair<std::string, i64>> counts,
                                                 VocabularyCountOptions o) {
  const tandem::detail::CallSite call(o);
  if (o.max_size < 0)
    strings::impl::raise("Vocabulary", "max_size must not be negative, but is " + std::to_string(o.max_size));
  std::sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::unordered_set<std::string_view> seen;
  for (const auto& [word, count] : counts)
    if (!seen.insert(word).second)
      strings::impl::raise("Vocabulary", "the word " + strings::impl::in_quotes(word) + " occurs twice");
  std::vector<std::string> words;
  for (const auto& [word, count] : counts) {
    if (o.max_size && static_cast<i64>(words.size()) + 1 >= o.max_size) break;
    if (count >= o.min_count && word != o.unknown) words.push_back(word);
  }
  return Vocabulary(std::move(words), {.name = o.name, .where = o.where, .unknown = o.unknown});
}
TANDEM_INLINE Vocabulary Vocabulary::load(const std::string& path) {
  const std::string text = io::detail::read_regular_file("Vocabulary::load", path);
  const std::vector<std::string_view> lines = tandem::detail::lines_of(text);
  std::vector<std::string> words(lines.begin(), lines.end());
  if (words.empty()) errors::raise<errors::DataLossError>("Vocabulary::load", path + " has no words");
  const std::string unknown = words[0];
  words.erase(words.begin());
  try {
    return Vocabulary(std::move(words), {.unknown = unknown});
  } catch (const errors::InvalidArgumentError& e) {
    errors::raise<errors::DataLossError>("Vocabulary::load", path + ": " + e.message());
  }
}
TANDEM_INLINE void Vocabulary::save(const std::string& path) const {
  std::string text;
  for (const std::string& w : words_) {
    if (w.find_first_of("\r\n") != w.npos)
      strings::impl::raise("Vocabulary::save", "the word " + strings::impl::in_quotes(w) + " has a line break");
    (text += w) += '\n';
  }
  tandem::detail::write_text_file("Vocabulary::save", path, text);
}
TANDEM_INLINE const std::string& Vocabulary::word(i64 index) const {
  if (index < 0 || index >= size())
    strings::impl::raise("Vocabulary::word",
                         "index " + std::to_string(index) + " is out of range [0, " + std::to_string(size()) + ")");
  return words_[static_cast<std::size_t>(index)];
}
TANDEM_INLINE i64 Vocabulary::index(const std::string& word) const {
  const auto at = table_->texts.find(word);
  return at == table_->texts.end() ? 0 : static_cast<i64>(at->second.bits);
}
TANDEM_INLINE Tensor Vocabulary::encode(const Tensor& words, OpOptions o) const {
  return apply1(table_find_op, rules::TableAttrs{table_, 0}, o, words);
}
TANDEM_INLINE Tensor Vocabulary::decode(const Tensor& indices, OpOptions o) const {
  return index_to_string(indices, mapping_, {.name = o.name, .where = o.where, .default_value = words_[0]});
}

}  // namespace TANDEM_NS::lookup
