#include "words.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <tandem/strings.hpp>

#include "examples/support/corpus.hpp"

namespace {

// Maps a byte to its lower case if it belongs to a word, and to 0 otherwise.
constexpr std::array<char, 256> letters = [] {
  std::array<char, 256> t{};
  for (int c = 0; c < 256; ++c) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || c >= 128)
      t[static_cast<std::size_t>(c)] = static_cast<char>(upper ? c + 32 : c);
  }
  return t;
}();
char letter(char c) { return letters[static_cast<unsigned char>(c)]; }
bool is_ascii(char c) { return static_cast<signed char>(c) >= 0; }

std::vector<std::string> paths_of(const std::string& path) {
  std::vector<std::string> r;
  for (const std::filesystem::path& file : corpus::files_of(path)) r.push_back(file.string());
  return r;
}

}  // namespace

Corpus::Corpus(const std::string& path, bool lines)
    : paths_(paths_of(path)),
      blocks_(paths_,
              {.block_bytes = 4096, .unit = lines ? tandem::data::TextUnit::line : tandem::data::TextUnit::word}) {}

std::uint64_t Corpus::hash() const {
  std::uint64_t hash = tandem::data::fingerprint("");
  each_block([&](const std::string& text) { hash = tandem::data::fingerprint(text, hash); });
  return hash;
}

void Corpus::check_text(const std::string& path, std::string_view text) {
  if (corpus::is_binary(text)) throw std::runtime_error("corpus: " + path + " is binary, not text");
}

std::string well_formed(std::string text) {
  using namespace tandem::strings;
  if (std::all_of(text.begin(), text.end(), is_ascii)) return text;
  return unicode_transcode(tandem::constant(text), utf8, utf8).item<std::string>();
}

std::string_view WordReader::next() {
  word_.clear();
  for (; at_ < text_.size(); ++at_) {
    if (const char c = letter(text_[at_])) word_ += c;
    else if (!word_.empty()) break;
    else if (text_[at_] == '\n') ++line_;
  }
  return word_;
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = letter(c);
  return text;
}
