// The corpus as numbers: the vocabulary of characters, and the text as indices into it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Reads the bytes of a file, or of all regular files of a folder in name order.
///   throws  std::runtime_error naming the path if it is missing, empty or binary
std::string read_corpus(const std::string& path);

/// The sorted characters that a model knows; all others are dropped.
class Vocabulary {
 public:
  /// All bytes that occur at least 10 times per million (and at least twice) in the text.
  static Vocabulary of(std::string_view text);
  explicit Vocabulary(std::string_view characters);

  const std::string& characters() const { return characters_; }
  std::int64_t size() const { return static_cast<std::int64_t>(characters_.size()); }
  std::vector<std::int32_t> encode(std::string_view text) const;
  char operator[](std::int64_t i) const { return characters_[static_cast<std::size_t>(i)]; }

 private:
  std::string characters_;
  std::array<std::int32_t, 256> index_;
};
