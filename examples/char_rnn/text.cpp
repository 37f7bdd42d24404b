#include "text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "examples/support/corpus.hpp"

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.good() && !in.eof()) throw std::runtime_error("corpus: cannot read " + path.string());
  return text;
}

}  // namespace

std::string read_corpus(const std::string& path) {
  std::string text;
  for (const fs::path& file : corpus::files_of(path)) {
    text += read_file(file);
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  std::erase(text, '\r');
  if (text.empty()) throw std::runtime_error("corpus: " + path + " is empty");
  if (corpus::is_binary(text)) throw std::runtime_error("corpus: " + path + " is binary, not text");
  return text;
}

Vocabulary Vocabulary::of(std::string_view text) {
  std::array<std::size_t, 256> count{};
  for (char c : text) ++count[static_cast<unsigned char>(c)];
  const std::size_t least = std::max<std::size_t>(2, text.size() / 100000);
  std::string characters;
  for (std::size_t c = 0; c < 256; ++c)
    if (count[c] >= least) characters += static_cast<char>(c);
  return Vocabulary(characters);
}

Vocabulary::Vocabulary(std::string_view characters) : characters_(characters) {
  index_.fill(-1);
  for (std::size_t i = 0; i < characters_.size(); ++i)
    index_[static_cast<unsigned char>(characters_[i])] = static_cast<std::int32_t>(i);
}

std::vector<std::int32_t> Vocabulary::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  ids.reserve(text.size());
  for (char c : text)
    if (const std::int32_t i = index_[static_cast<unsigned char>(c)]; i >= 0) ids.push_back(i);
  return ids;
}
