// Definitions of io/tar.hpp: archives. An archive is a sequence of blocks of 512 bytes: for each file a header and its
// content, padded with zeros; a block of zeros ends it. Sources: POSIX.1-2017, pax; the manual of GNU tar, "Basic Tar
// Format".
#pragma once
#include <algorithm>
#include <charconv>

#include "tandem/base/error.hpp"
#include "tandem/io/tar.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::io {

namespace detail {

inline constexpr std::size_t tar_block = 512;
inline constexpr u64 largest_tar_extension = u64{1} << 20;  // a name and a few numbers
inline constexpr u64 largest_tar_size = u64{1} << 62;

// A text field, which a zero byte ends unless it is full.
inline std::string_view tar_text(std::string_view header, std::size_t at, std::size_t n) {
  const std::string_view field = header.substr(at, n);
  return field.substr(0, field.find('\0'));
}
// A number in octal digits, or binary behind a first byte of 0x80; false if it is neither.
inline bool tar_number(std::string_view header, std::size_t at, std::size_t n, u64& x) {
  std::string_view field = header.substr(at, n);
  x = 0;
  if (static_cast<unsigned char>(field[0]) == 0x80) {
    for (const char c : field.substr(1)) {
      if (x >> 55) return false;
      x = x << 8 | static_cast<unsigned char>(c);
    }
    return true;
  }
  field = field.substr(std::min(field.find_first_not_of(' '), field.size()));
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), x, 8);
  field.remove_prefix(static_cast<std::size_t>(end - field.data()));
  return error == std::errc() && field.find_first_not_of(std::string_view(" \0", 2)) == field.npos;
}
// Whether the checksum, whose field counts as spaces, is that of the header.
inline bool has_tar_checksum(std::string_view header) {
  constexpr std::size_t at = 148, n = 8;
  u64 sum = n * ' ', stored = 0;
  for (std::size_t i = 0; i < header.size(); ++i)
    if (i < at || i >= at + n) sum += static_cast<unsigned char>(header[i]);
  return tar_number(header, at, n, stored) && stored == sum;
}
// The records of a pax header, "LENGTH KEY=VALUE\n"; false if they are damaged.
template <class F>
bool for_each_pax_record(std::string_view text, const F& f) {
  while (!text.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || length > text.size() || length < digits + 3 || text[digits] != ' ' ||
        text[length - 1] != '\n')
      return false;
    const std::string_view record = text.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == record.npos || !f(record.substr(0, equals), record.substr(equals + 1))) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace detail

// The header of a file, with what extensions before it say.
struct TarReader::Header {
  std::string name;
  u64 size = 0;
  char type = '0';
  bool has_name = false;  // from an extension, as given_size
  std::optional<u64> given_size;

  bool is_extension() const { return type == 'x' || type == 'g' || type == 'L' || type == 'K'; }
};

TANDEM_INLINE TarReader::TarReader(const std::string& path, TarOptions o)
    : input_("TarReader", path, o.compression), limit_(static_cast<u64>(o.max_file_bytes)) {
  if (o.max_file_bytes < 0)
    errors::raise<errors::InvalidArgumentError>("TarReader", "max_file_bytes must not be negative");
}
TANDEM_INLINE void TarReader::damaged(const std::string& what) const {
  errors::raise<errors::DataLossError>(
      "TarReader", input_.path() + ": " +
                       (name_.empty() ? std::string("the file") : tandem::detail::escaped_text(name_)) + " at byte " +
                       std::to_string(header_at_) + ": " + what);
}
// Reads one header; false at the end mark.
TANDEM_INLINE bool TarReader::read_header(Header& header) {
  const std::string_view window = input_.peek(detail::tar_block);
  if (window.size() < detail::tar_block) damaged("the archive ends without an end mark: it is cut off");
  const std::string_view block = window.substr(0, detail::tar_block);
  if (block.find_first_not_of('\0') == block.npos) return false;
  if (!detail::has_tar_checksum(block)) damaged("the checksum of its header does not match, or this is not a tar file");
  u64 size = 0;
  if (!detail::tar_number(block, 124, 12, size) || size > detail::largest_tar_size) damaged("its size is damaged");
  header.type = block[156];
  header.size = header.is_extension() ? size : header.given_size.value_or(size);
  if (!header.has_name) {
    const std::string_view prefix =
        block.substr(257, 6) == std::string_view("ustar\0", 6) ? detail::tar_text(block, 345, 155) : "";
    header.name =
        (prefix.empty() ? std::string() : std::string(prefix) + "/") + std::string(detail::tar_text(block, 0, 100));
  }
  input_.skip(detail::tar_block);
  return true;
}
// Reads what the content of an extension says about the file after it.
TANDEM_INLINE void TarReader::read_extension(Header& header) {
  if (header.size > detail::largest_tar_extension) damaged("its extended header is too long");
  const char type = header.type;
  std::string text;
  read_data(header, text);
  if (type == 'L') {
    header.name = text.substr(0, text.find('\0'));
    header.has_name = true;
  } else if (type == 'x') {
    const bool good = detail::for_each_pax_record(text, [&](std::string_view key, std::string_view value) {
      if (key == "path") header.name = std::string(value), header.has_name = true;
      if (key != "size") return true;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), header.given_size.emplace());
      return error == std::errc() && end == value.data() + value.size() &&
             *header.given_size <= detail::largest_tar_size;
    });
    if (!good) damaged("its extended header is damaged");
  }
}
TANDEM_INLINE void TarReader::skip(u64 bytes) {
  while (bytes) {
    const auto n = static_cast<std::size_t>(std::min<u64>(bytes, input_.peek(1).size()));
    if (n == 0) damaged("the archive ends within it");
    input_.skip(n);
    bytes -= n;
  }
}
// Reads the content and its padding. Memory grows with what is read.
TANDEM_INLINE void TarReader::read_data(const Header& header, std::string& to) {
  constexpr u64 block = detail::tar_block;
  to.clear();
  if (input_.has_fewer_than(header.size - std::min<u64>(header.size, input_.window().size())))
    damaged("it has " + std::to_string(header.size) + " bytes, but the archive ends before");
  for (u64 left = header.size; left;) {
    const std::string_view window = input_.peek(1);
    const auto n = static_cast<std::size_t>(std::min<u64>(left, window.size()));
    if (n == 0) damaged("it has " + std::to_string(header.size) + " bytes, but the archive ends before");
    to += window.substr(0, n);
    input_.skip(n);
    left -= n;
  }
  skip((block - header.size % block) % block);
}
TANDEM_INLINE bool TarReader::next(TarEntry& entry) {
  while (!ended_) {
    header_at_ = input_.position();
    name_.clear();
    ended_ = true;  // unless the next header is found
    Header header;
    if (!read_header(header)) return false;
    while (header.is_extension()) {
      read_extension(header);
      if (!read_header(header)) damaged("the archive ends behind an extended header");
    }
    name_ = header.name;
    const bool regular = header.type == '0' || header.type == '\0' || header.type == '7';
    if (regular && header.size <= limit_) {
      read_data(header, entry.data);
      entry.name = std::move(header.name);
      ended_ = false;
      return true;
    }
    // Links, folders and devices have no content, whatever their size says.
    const bool empty = header.type >= '1' && header.type <= '6';
    if (!empty) skip(header.size + (detail::tar_block - header.size % detail::tar_block) % detail::tar_block);
    ended_ = false;
    if (regular) {
      entry.name = std::move(header.name);
      errors::raise<errors::ResourceExhaustedError>(
          "TarReader", input_.path() + ": " + tandem::detail::escaped_text(name_) + " has " +
                           std::to_string(header.size) +
                           " bytes, more than max_file_bytes = " + std::to_string(limit_));
    }
  }
  return false;
}
TANDEM_INLINE void TarReader::seek(i64 position) {
  if (position < 0) errors::raise<errors::InvalidArgumentError>("TarReader", "a position is not negative");
  input_.seek(static_cast<u64>(position));
  ended_ = false;
}

}  // namespace TANDEM_NS::io
