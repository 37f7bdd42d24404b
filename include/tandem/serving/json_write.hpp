// Writing JSON: texts, numbers, tensors. For the definitions of the protocols. Part of the component tandem::serving.
#pragma once
#include <string>
#include <string_view>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::serving::impl {

/// Appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
TANDEM_API void append_json_text(std::string& to, std::string_view text);
/// Appends elements [from, from + count) of a tensor on the host, with commas between them: floats in the shortest form
/// that reads back as the same value, with ".0" if they are whole; NaN, Infinity and -Infinity. Strings are texts, or
/// {"b64": "..."} if as_bytes is set or they are not UTF-8.
///   throws  errors::UnimplementedError for complex and quantized dtypes
TANDEM_API void append_json_elements(std::string& to, const Tensor& t, i64 from, i64 count, bool as_bytes);
/// Appends a tensor as nested lists, from axis `axis` on: the part that begins with element `from`.
TANDEM_API void append_json_tensor(std::string& to, const Tensor& t, int axis, i64 from, bool as_bytes);

}  // namespace TANDEM_NS::serving::impl
