// A text as numbers of its characters, for character models: read_corpus, Vocabulary.
#pragma once
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tandem/data.hpp>
#include <vector>

#include "examples/support/corpus.hpp"

/// Reads the bytes of a file, or of all regular files of a folder in name order, plain or compressed by gzip.
///   throws  std::runtime_error naming the path if it is missing, empty or binary; otherwise as tandem::data::read_file
inline std::string read_corpus(const std::string& path) {
  std::string text;
  for (const std::filesystem::path& file : corpus::files_of(path)) {
    text += tandem::data::read_file(file.string());
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  std::erase(text, '\r');
  if (text.empty()) throw std::runtime_error("corpus: " + path + " is empty");
  if (corpus::is_binary(text)) throw std::runtime_error("corpus: " + path + " is binary, not text");
  return text;
}

/// The sorted characters that a model knows; all others are dropped.
class Vocabulary {
 public:
  /// All bytes that occur at least 10 times per million (and at least twice) in the text.
  static Vocabulary of(std::string_view text) {
    std::array<std::size_t, 256> count{};
    for (const char c : text) ++count[static_cast<unsigned char>(c)];
    const std::size_t least = std::max<std::size_t>(2, text.size() / 100000);
    std::string characters;
    for (std::size_t c = 0; c < 256; ++c)
      if (count[c] >= least) characters += static_cast<char>(c);
    return Vocabulary(characters);
  }
  explicit Vocabulary(std::string_view characters) : characters_(characters) {
    index_.fill(-1);
    for (std::size_t i = 0; i < characters_.size(); ++i)
      index_[static_cast<unsigned char>(characters_[i])] = static_cast<std::int32_t>(i);
  }

  const std::string& characters() const { return characters_; }
  std::int64_t size() const { return static_cast<std::int64_t>(characters_.size()); }
  std::vector<std::int32_t> encode(std::string_view text) const {
    std::vector<std::int32_t> ids;
    ids.reserve(text.size());
    for (const char c : text)
      if (const std::int32_t i = index_[static_cast<unsigned char>(c)]; i >= 0) ids.push_back(i);
    return ids;
  }
  char operator[](std::int64_t i) const { return characters_[static_cast<std::size_t>(i)]; }

 private:
  std::string characters_;
  std::array<std::int32_t, 256> index_;
};
