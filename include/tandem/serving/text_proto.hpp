// Protocol buffers as text, or as JSON that is read leniently: the formats of configuration files. For the definitions
// of serving.
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

/// The fields of a text. Comments, lists and all spellings of messages are read; extensions and Any are not. A text
/// that begins with '{' is JSON, read leniently: single quotes, comments and missing commas pass, too. Its names are
/// changed from lowerCamelCase to lower_case; null says nothing.
///   maps    the names of fields that are maps: in JSON an object, whose entries become messages of a key and a value
///   path    names the text in errors
///   throws  errors::InvalidArgumentError with the line
std::vector<TextField> parse_text_proto(std::string_view text, const std::string& path,
                                        const std::vector<std::string_view>& maps = {});

}  // namespace TANDEM_NS::serving::impl
