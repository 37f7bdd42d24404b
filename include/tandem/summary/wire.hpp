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

using io::detail::append_dims;
using io::detail::append_field;
using io::detail::append_fixed;
using io::detail::append_integer;
using io::detail::append_message;
using io::detail::append_tag;
using io::detail::append_varint;
using io::detail::data_type;
using io::detail::WireType;

/// Value.tensor with numbers, whose bytes are little-endian.
inline std::string tensor_value(DType dtype, std::initializer_list<i64> dims, std::string_view bytes) {
  std::string to;
  append_message(to, 8, [&] {
    append_integer(to, 1, data_type(dtype));
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
    append_integer(to, 1, data_type(DType::string));
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
    if (plugin.data_class) append_integer(to, 4, plugin.data_class);
  });
  return to;
}

}  // namespace TANDEM_NS::summary::detail
