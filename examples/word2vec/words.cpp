#include "words.hpp"

#include <array>
#include <stdexcept>

#include "examples/support/corpus.hpp"

namespace {

constexpr std::size_t piece = 1 << 18;  // bytes read at once

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

}  // namespace

WordReader::WordReader(const std::string& path, Place from) : files_(corpus::files_of(path)) { open(from); }

void WordReader::open(Place from) {
  file_ = from.file, start_ = from.byte;
  buffer_.clear();
  at_ = 0;
  if (file_ >= static_cast<std::int64_t>(files_.size())) return;
  const std::filesystem::path& path = files_[static_cast<std::size_t>(file_)];
  in_ = std::ifstream(path, std::ios::binary);
  in_.seekg(start_);
  if (!in_) throw std::runtime_error("corpus: cannot read " + path.string());
}

bool WordReader::fill() {
  start_ += static_cast<std::int64_t>(at_);
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t left = buffer_.size();
  buffer_.resize(left + piece);
  in_.read(buffer_.data() + left, piece);
  const auto read = static_cast<std::size_t>(in_.gcount());
  buffer_.resize(left + read);
  const auto name = [&] { return files_[static_cast<std::size_t>(file_)].string(); };
  if (in_.bad()) throw std::runtime_error("corpus: cannot read " + name());
  if (corpus::is_binary(std::string_view(buffer_).substr(left)))
    throw std::runtime_error("corpus: " + name() + " is binary, not text");
  return read > 0;
}

std::string_view WordReader::next() {
  word_.clear();
  while (file_ < static_cast<std::int64_t>(files_.size())) {
    for (; at_ < buffer_.size(); ++at_) {
      if (const char c = letter(buffer_[at_])) word_ += c;
      else if (!word_.empty()) return word_;
      else if (buffer_[at_] == '\n') ++line_;
    }
    if (fill()) continue;
    if (!word_.empty()) return word_;
    open({file_ + 1, 0});
    ++line_;
  }
  return {};
}

std::int64_t WordReader::size_of(std::int64_t file) const {
  return static_cast<std::int64_t>(std::filesystem::file_size(files_[static_cast<std::size_t>(file)]));
}
std::int64_t WordReader::bytes_before(Place place) const {
  std::int64_t n = place.byte;
  for (std::int64_t i = 0; i < place.file; ++i) n += size_of(i);
  return n;
}
Place WordReader::place_at(std::int64_t bytes) const {
  Place p{0, bytes};
  for (; p.file + 1 < static_cast<std::int64_t>(files_.size()) && p.byte > size_of(p.file); ++p.file)
    p.byte -= size_of(p.file);
  return p;
}
