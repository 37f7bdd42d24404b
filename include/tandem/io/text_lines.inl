// Definitions of io/text_lines.hpp.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/base/error.hpp"
#include "tandem/io/text_lines.hpp"

namespace TANDEM_NS::io {

TANDEM_INLINE TextLineReader::TextLineReader(const std::string& path, TextLineOptions o)
    : input_("TextLineReader", path, o.compression), limit_(static_cast<u64>(o.max_line_bytes)) {
  if (o.max_line_bytes < 0)
    errors::raise<errors::InvalidArgumentError>("TextLineReader", "max_line_bytes must not be negative");
}
TANDEM_INLINE std::string TextLineReader::place() const {
  return input_.path() + ": line " + std::to_string(read_) +
         (start_ ? " after byte " + std::to_string(start_) : std::string()) + " at byte " + std::to_string(line_at_);
}
// Reads until the window holds a line's end, or the file's: its place in the window. Returns whether there is a LF.
TANDEM_INLINE bool TextLineReader::extend(std::size_t& end) {
  for (;;) {
    const std::size_t before = end;
    const std::string_view window = input_.peek(before + 1);
    if (window.size() == before) return false;
    const void* const found = std::memchr(window.data() + before, '\n', window.size() - before);
    end = found ? static_cast<std::size_t>(static_cast<const char*>(found) - window.data()) : window.size();
    if (end > limit_) skip_long_line();
    if (found) return true;
  }
}
TANDEM_INLINE void TextLineReader::skip_long_line() {
  for (std::string_view window = input_.window(); !window.empty(); window = input_.peek(1)) {
    const std::size_t end = window.find('\n');
    input_.skip(end == window.npos ? window.size() : end + 1);
    if (end != window.npos) break;
  }
  ended_ = false;
  errors::raise<errors::ResourceExhaustedError>(
      "TextLineReader", place() + ": it has more than max_line_bytes = " + std::to_string(limit_) + " bytes");
}
TANDEM_INLINE bool TextLineReader::next(std::string_view& line) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (ended_) return false;
  ended_ = true;  // unless the line is found
  if (input_.position() == 0 && input_.peek(byte_order_mark.size()).starts_with(byte_order_mark))
    input_.skip(byte_order_mark.size());
  ++read_;
  line_at_ = position();
  std::size_t end = 0;
  const bool has_end = extend(end);
  ended_ = false;
  if (!has_end && end == 0) {
    --read_;
    return false;
  }
  const std::string_view window = input_.window();
  line = window.substr(0, end - (has_end && end && window[end - 1] == '\r'));
  input_.skip(end + has_end);
  return true;
}
TANDEM_INLINE bool TextLineReader::next(std::string& line) {
  std::string_view view;
  if (!next(view)) return false;
  line.assign(view);
  return true;
}
TANDEM_INLINE void TextLineReader::seek(i64 position) {
  if (position < 0) errors::raise<errors::InvalidArgumentError>("TextLineReader", "a position is not negative");
  input_.seek(static_cast<u64>(position));
  start_ = line_at_ = position, read_ = 0, ended_ = false;
}

}  // namespace TANDEM_NS::io
