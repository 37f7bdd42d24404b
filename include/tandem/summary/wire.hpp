// The messages of event files, as far as they are written here: fields of protocol buffers (io/wire.hpp), tensors, what
// says how a tag is shown. For definitions. Field numbers: tensorflow/core/util/event.proto, framework/summary.proto,
// framework/tensor.proto.
#pragma once
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tandem/base/dtype.hpp"
#include "tandem/io/wire.hpp"

namespace TANDEM_NS::summary::detail {

using io::detail::append_field;
using io::detail::append_tag;
using io::detail::append_varint;
using io::detail::WireType;

inline void append_number(std::string& to, std::uint32_t field, i64 x) {
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
  for (const i64 n : dims) append_message(to, 2, [&] { append_number(to, 1, n); });
}
/// Value.tensor with numbers, whose bytes are little-endian.
inline std::string tensor_value(DType dtype, std::initializer_list<i64> dims, std::string_view bytes) {
  std::string to;
  append_message(to, 8, [&] {
    append_number(to, 1, data_type(dtype));
    append_message(to, 2, [&] { append_dims(to, dims); });
    append_field(to, 4, bytes);
  });
  return to;
}
/// Value.tensor with texts.
template <class Dims, class Texts>
std::string texts_value(const Dims& dims, const Texts& texts) {
  std::string to;
  append_message(to, 8, [&] {
    append_number(to, 1, data_type(DType::string));
    append_message(to, 2, [&] { append_dims(to, dims); });
    for (const auto& text : texts) append_field(to, 8, text);
  });
  return to;
}

/// What a plugin of TensorBoard is told about a tag, with the first value that has it: SummaryMetadata.
struct Plugin {
  std::string_view name;
  /// How TensorBoard's loaders keep the values: 1 scalars, 2 tensors, 3 sequences of bytes; 0: what they choose by the
  /// name.
  int data_class = 0;
  std::string_view content = {};
  bool is_written = true;  // false: the value is of a kind that needs no metadata
};
inline std::string metadata_of(const Plugin& plugin, std::string_view description) {
  std::string to;
  append_message(to, 9, [&] {
    append_message(to, 1, [&] {
      append_field(to, 1, plugin.name);
      if (!plugin.content.empty()) append_field(to, 2, plugin.content);
    });
    if (!description.empty()) append_field(to, 3, description);
    if (plugin.data_class) append_number(to, 4, plugin.data_class);
  });
  return to;
}

}  // namespace TANDEM_NS::summary::detail
