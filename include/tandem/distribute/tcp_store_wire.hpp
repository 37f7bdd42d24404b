// What TcpStore and its server send each other: frames of fields, each behind its length in 4 bytes, the lowest first.
// For definitions only.
#pragma once
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::distribute::detail {

enum class StoreCall : char { set = 's', find = 'f', add = 'a', list = 'l', tie = 't', untie = 'u' };

/// Longer frames are not accepted.
inline constexpr std::size_t largest_frame = 64 << 20;

inline std::uint32_t read_length(const char* from) {
  std::uint32_t n = 0;
  for (int i = 3; i >= 0; --i) n = n << 8 | static_cast<unsigned char>(from[i]);
  return n;
}

/// Fields that are put together.
class Fields {
 public:
  void put(std::string_view field) { put_length(text_, field.size()), text_ += field; }
  /// All of them, with their length in front.
  std::string frame() const { return frame(text_); }
  const std::string& text() const { return text_; }
  static std::string frame(const std::string& content) {
    std::string r;
    put_length(r, content.size());
    return r + content;
  }

 private:
  static void put_length(std::string& to, std::size_t n) {
    for (int i = 0; i < 4; ++i) to += static_cast<char>(n >> 8 * i & 0xff);
  }
  std::string text_;
};

/// Reads fields; what is cut off reads as empty, and the reader is then at its end and not valid.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : left_(text) {}
  std::string_view next() {
    const std::size_t n = left_.size() < 4 ? SIZE_MAX : read_length(left_.data());
    if (n == SIZE_MAX || left_.size() - 4 < n) {
      left_ = {}, is_valid_ = false;
      return {};
    }
    const std::string_view field = left_.substr(4, n);
    left_.remove_prefix(4 + n);
    return field;
  }
  bool is_at_end() const { return left_.empty(); }
  bool is_valid() const { return is_valid_; }

 private:
  std::string_view left_;
  bool is_valid_ = true;
};

inline bool to_number(std::string_view text, i64& number) {
  const char* const end = text.data() + text.size();
  const std::from_chars_result r = std::from_chars(text.data(), end, number);
  return r.ec == std::errc() && r.ptr == end;
}

}  // namespace TANDEM_NS::distribute::detail
