// Protocol buffers as text, the format of TensorFlow Serving's configuration files. For the definitions of serving.
// Format: https://protobuf.dev/reference/protobuf/textformat-spec.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace TANDEM_NS::serving::impl {

/// A field: a value as it was written (texts without quotes and escapes), or the fields of a message.
struct TextField {
  std::string name, value;
  bool is_message = false;
  std::vector<TextField> fields = {};
  int line = 0;
};

/// The fields of a text. Comments, lists and all spellings of messages are read; extensions and Any are not.
///   path    names the text in errors
///   throws  errors::InvalidArgumentError with the line
std::vector<TextField> parse_text_proto(std::string_view text, const std::string& path);

}  // namespace TANDEM_NS::serving::impl
