// The wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding): the fields of a message, one
// after the other, from bytes that may be damaged or hostile, and their writing. For definitions. Not here: which
// fields a message has. Groups, which no message has had since proto2, are refused.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::io::detail {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// Reads a varint of at most ten bytes from the front of `bytes`; false if there is none.
inline bool read_varint(std::string_view& bytes, u64& x) {
  if (!bytes.empty() && static_cast<unsigned char>(bytes[0]) < 0x80) [[likely]] {
    x = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    return true;
  }
  x = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    x |= u64{byte & 0x7fu} << 7 * i;
    if (byte >= 0x80) continue;
    bytes.remove_prefix(i + 1);
    return i < 9 || byte < 2;
  }
  return false;
}
/// Reads a number of a fixed size, little-endian.
template <class T>
bool read_fixed(std::string_view& bytes, T& x) {
  if (bytes.size() < sizeof x) return false;
  std::memcpy(&x, bytes.data(), sizeof x);
  bytes.remove_prefix(sizeof x);
  return true;
}

/// Goes through the fields of a message.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : left_(message) {}

  /// Reads the next field; false at the end of the message and where it is damaged.
  bool next() {
    if (left_.empty()) return false;
    u64 tag = 0, length = 0;
    ok_ = read_varint(left_, tag) && tag >> 3 != 0 && tag >> 32 == 0;
    if (!ok_) return false;
    field_ = static_cast<std::uint32_t>(tag >> 3), type_ = static_cast<WireType>(tag & 7);
    switch (type_) {
      case WireType::varint: ok_ = read_varint(left_, number_); break;
      case WireType::fixed64: ok_ = read_fixed(left_, number_); break;
      case WireType::fixed32: {
        std::uint32_t x = 0;
        ok_ = read_fixed(left_, x);
        number_ = x;
        break;
      }
      case WireType::bytes:
        ok_ = read_varint(left_, length) && length <= left_.size();
        if (!ok_) break;
        bytes_ = left_.substr(0, static_cast<std::size_t>(length));
        left_.remove_prefix(static_cast<std::size_t>(length));
        break;
      default: ok_ = false;
    }
    return ok_;
  }
  /// Whether what has been read is not damaged.
  bool ok() const { return ok_; }
  std::uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  bool is(std::uint32_t field, WireType type) const { return field_ == field && type_ == type; }
  /// The value of a field that is not of type bytes.
  u64 number() const { return number_; }
  /// The value of a field of type bytes: a text, a message, or packed numbers. Refers to the message.
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view left_, bytes_;
  u64 number_ = 0;
  std::uint32_t field_ = 0;
  WireType type_ = WireType::varint;
  bool ok_ = true;
};

inline void append_varint(std::string& to, u64 x) {
  for (; x >= 0x80; x >>= 7) to += static_cast<char>(x | 0x80);
  to += static_cast<char>(x);
}
inline void append_tag(std::string& to, std::uint32_t field, WireType type) {
  append_varint(to, u64{field} << 3 | static_cast<u64>(type));
}
/// Appends a field of type bytes.
inline void append_field(std::string& to, std::uint32_t field, std::string_view bytes) {
  append_tag(to, field, WireType::bytes);
  append_varint(to, bytes.size());
  to += bytes;
}
/// Appends a field of type varint.
inline void append_integer(std::string& to, std::uint32_t field, i64 x) {
  append_tag(to, field, WireType::varint);
  append_varint(to, static_cast<u64>(x));
}
/// A field of a fixed size: float or double.
template <class T>
void append_fixed(std::string& to, std::uint32_t field, T x) {
  append_tag(to, field, sizeof x == 8 ? WireType::fixed64 : WireType::fixed32);
  to.append(reinterpret_cast<const char*>(&x), sizeof x);
}
/// A field that is a message, whose fields `body` appends.
template <class F>
void append_message(std::string& to, std::uint32_t field, const F& body) {
  append_tag(to, field, WireType::bytes);
  const std::size_t at = to.size();
  to += '\0';  // the length, one byte unless it turns out longer
  body();
  const std::size_t n = to.size() - at - 1;
  if (n < 0x80) {
    to[at] = static_cast<char>(n);
    return;
  }
  std::string length;
  append_varint(length, n);
  to.replace(at, 1, length);
}

/// The number that TensorFlow's DataType has for a dtype.
constexpr int data_type(DType d) {
  constexpr int numbers[dtype_count] = {1, 2, 6, 5, 3, 9, 4, 10, 7, 8, 19, 14, 17, 22, 23, 18, 11, 12, 13};
  return numbers[static_cast<int>(d)];
}
/// The dimensions of a TensorShapeProto; -1: unknown.
template <class Dims>
void append_dims(std::string& to, const Dims& dims) {
  for (const i64 n : dims) append_message(to, 2, [&] { append_integer(to, 1, n); });
}

}  // namespace TANDEM_NS::io::detail
