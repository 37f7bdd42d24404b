// Definitions of data/file.hpp.
#pragma once
#include "tandem/data/content.hpp"
#include "tandem/data/file.hpp"
#include "tandem/util/lines.hpp"

namespace TANDEM_NS::data {

namespace detail {

// Reads up to `limit` bytes, in pieces that grow with what has been read: the size of the content of compressed data is
// not known.
TANDEM_INLINE std::string read_content(FileContent& content, std::uint64_t limit) {
  constexpr std::uint64_t least = std::uint64_t{1} << 16;
  std::string text;
  for (;;) {
    const std::uint64_t size = text.size(), left = std::min(limit, content.most()) - size;
    const std::uint64_t piece = content.compressed() ? std::min(left, std::max(least, size)) : left;
    if (piece == 0) return text;
    text.resize(size + piece);
    const std::size_t n = content.read(text.data() + size, piece);
    text.resize(size + n);
    if (n < piece) return text;
  }
}

}  // namespace detail

TANDEM_INLINE std::string detail::read_file(const char* op, const std::string& path, i64 max_bytes) {
  const std::uint64_t limit = limit_of(op, max_bytes);
  FileContent content(op, path);
  if (!content.compressed() && content.file_size() > limit) raise_limit(op, path, limit);
  std::string text = read_content(content, limit);
  char more;
  if (content.read(&more, 1)) raise_limit(op, path, limit);  // this also checks the end of compressed data
  return text;
}
TANDEM_INLINE std::string read_file(const std::string& path, ReadOptions options) {
  return detail::read_file("read_file", path, options.max_bytes);
}
TANDEM_INLINE std::vector<std::string> read_lines(const std::string& path, ReadOptions options) {
  const std::string text = detail::read_file("read_lines", path, options.max_bytes);
  const std::vector<std::string_view> lines = lines_of(text);
  return {lines.begin(), lines.end()};
}
TANDEM_INLINE std::vector<std::string_view> lines_of(std::string_view text) { return tandem::detail::lines_of(text); }

}  // namespace TANDEM_NS::data
