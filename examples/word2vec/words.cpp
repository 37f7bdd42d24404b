#include "words.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include <tandem/data.hpp>

#include "examples/support/corpus.hpp"
#include "examples/support/utf8.hpp"

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

TextFiles::TextFiles(const std::string& path) {
  for (const std::filesystem::path& file : corpus::files_of(path)) {
    std::ifstream in(file, std::ios::binary);
    char magic[2] = {};
    in.read(magic, 2);
    if (in.bad() || !in.is_open()) throw std::runtime_error("corpus: cannot read " + file.string());
    File f{file.string(), {}, static_cast<std::int64_t>(std::filesystem::file_size(file)), false};
    if (magic[0] == '\x1f' && magic[1] == '\x8b') {
      f.compressed = true;
      f.content = tandem::data::read_file(f.name);
      f.size = static_cast<std::int64_t>(f.content.size());
    }
    files_.push_back(std::move(f));
  }
}

std::int64_t TextFiles::bytes_before(Place place) const {
  std::int64_t n = place.byte;
  for (std::int64_t i = 0; i < place.file; ++i) n += size(i);
  return n;
}
Place TextFiles::place_at(std::int64_t bytes) const {
  Place p{0, bytes};
  for (; p.file + 1 < count() && p.byte > size(p.file); ++p.file) p.byte -= size(p.file);
  return p;
}

std::uint64_t TextFiles::hash() const {
  std::uint64_t hash = tandem::data::fingerprint("");
  std::string part(piece, '\0');
  for (const File& f : files_) {
    if (f.compressed) {
      hash = tandem::data::fingerprint(f.content, hash);
      continue;
    }
    std::ifstream in(f.name, std::ios::binary);
    while (in.read(part.data(), piece) || in.gcount() > 0)
      hash = tandem::data::fingerprint({part.data(), static_cast<std::size_t>(in.gcount())}, hash);
    if (in.bad() || !in.eof()) throw std::runtime_error("corpus: cannot read " + f.name);
  }
  return hash;
}

WordReader::WordReader(const TextFiles& files, Place from) : files_(files) { open(from); }

void WordReader::open(Place from) {
  file_ = from.file, start_ = from.byte;
  buffer_.clear();
  at_ = 0;
  if (file_ >= files_.count() || files_.content(file_)) return;
  in_ = std::ifstream(files_.name(file_), std::ios::binary);
  in_.seekg(start_);
  if (!in_) throw std::runtime_error("corpus: cannot read " + files_.name(file_));
}

bool WordReader::fill() {
  start_ += static_cast<std::int64_t>(at_);
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t left = buffer_.size();
  if (const std::string* const content = files_.content(file_)) {
    const std::size_t from = static_cast<std::size_t>(start_) + left;
    if (from < content->size()) buffer_.append(*content, from, piece);
  } else {
    buffer_.resize(left + piece);
    in_.read(buffer_.data() + left, piece);
    buffer_.resize(left + static_cast<std::size_t>(in_.gcount()));
    if (in_.bad()) throw std::runtime_error("corpus: cannot read " + files_.name(file_));
  }
  if (corpus::is_binary(std::string_view(buffer_).substr(left)))
    throw std::runtime_error("corpus: " + files_.name(file_) + " is binary, not text");
  return buffer_.size() > left;
}

std::string_view WordReader::word() {
  const bool is_ascii =
      std::none_of(word_.begin(), word_.end(), [](char c) { return static_cast<signed char>(c) < 0; });
  if (!is_ascii) word_ = utf8::repaired(word_);
  return word_;
}

std::string_view WordReader::next() {
  word_.clear();
  while (file_ < files_.count()) {
    for (; at_ < buffer_.size(); ++at_) {
      if (const char c = letter(buffer_[at_])) word_ += c;
      else if (!word_.empty()) return word();
      else if (buffer_[at_] == '\n') ++line_;
    }
    if (fill()) continue;
    if (!word_.empty()) return word();
    open({file_ + 1, 0});
    ++line_;
  }
  return {};
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = letter(c);
  return text;
}
