// Definitions of serving/json_write.hpp.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "tandem/serving/json_write.hpp"
#include "tandem/util/base64.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE void append_json_text(std::string& to, std::string_view text) {
  to += '"';
  for (std::size_t i = 0; i < text.size();) {
    const tandem::detail::Utf8Unit unit = tandem::detail::utf8_unit(text, i);
    const char c = text[i];
    if (!unit.is_character) to += "\xef\xbf\xbd";
    else if (c == '"' || c == '\\') (to += '\\') += c;
    else if (c == '\n') to += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      ((to += "\\u00") += "0123456789abcdef"[c / 16]) += "0123456789abcdef"[c % 16];
    else to.append(text, i, unit.bytes);
    i += unit.bytes;
  }
  to += '"';
}

template <class T>
void append_json_number(std::string& to, T x) {
  if constexpr (std::is_integral_v<T>) {
    char at[24];
    to.append(at, std::to_chars(at, at + sizeof at, x).ptr);
  } else if (std::isnan(x)) {
    to += "NaN";
  } else if (std::isinf(x)) {
    to += x < 0 ? "-Infinity" : "Infinity";
  } else {
    char at[40];
    char* const end = tandem::detail::write_shortest(at, x);
    to.append(at, end);
    if (std::none_of(at, end, [](char c) { return c == '.' || c == 'e'; })) to += ".0";
  }
}
inline void append_json_number(std::string& to, bool x) { to += x ? "true" : "false"; }
inline void append_json_number(std::string& to, Half x) { append_json_number(to, static_cast<float>(x)); }
inline void append_json_number(std::string& to, BFloat16 x) { append_json_number(to, static_cast<float>(x)); }

TANDEM_INLINE void append_json_string(std::string& to, std::string_view bytes, bool as_bytes) {
  if (!as_bytes && tandem::detail::is_utf8(bytes)) return append_json_text(to, bytes);
  to += "{\"b64\":\"";
  tandem::detail::append_base64(to, bytes, tandem::detail::base64_digits, true);
  to += "\"}";
}
template <class T>
void append_json_elements_of(std::string& to, const Tensor& t, i64 from, i64 count) {
  const T* const x = static_cast<const T*>(t.raw());
  for (i64 i = 0; i < count; ++i) {
    if (i) to += ',';
    append_json_number(to, x[from + i]);
  }
}
TANDEM_INLINE void append_json_elements(std::string& to, const Tensor& t, i64 from, i64 count, bool as_bytes) {
  switch (t.dtype()) {
    case DType::float32: return append_json_elements_of<float>(to, t, from, count);
    case DType::float64: return append_json_elements_of<double>(to, t, from, count);
    case DType::float16: return append_json_elements_of<Half>(to, t, from, count);
    case DType::bfloat16: return append_json_elements_of<BFloat16>(to, t, from, count);
    case DType::int8: return append_json_elements_of<std::int8_t>(to, t, from, count);
    case DType::int16: return append_json_elements_of<std::int16_t>(to, t, from, count);
    case DType::int32: return append_json_elements_of<std::int32_t>(to, t, from, count);
    case DType::int64: return append_json_elements_of<i64>(to, t, from, count);
    case DType::uint8: return append_json_elements_of<std::uint8_t>(to, t, from, count);
    case DType::uint16: return append_json_elements_of<std::uint16_t>(to, t, from, count);
    case DType::uint32: return append_json_elements_of<std::uint32_t>(to, t, from, count);
    case DType::uint64: return append_json_elements_of<u64>(to, t, from, count);
    case DType::bool_: return append_json_elements_of<bool>(to, t, from, count);
    case DType::string:
      for (i64 i = 0; i < count; ++i) {
        if (i) to += ',';
        append_json_string(to, static_cast<const Bytes*>(t.raw())[from + i].view(), as_bytes);
      }
      return;
    default:
      errors::raise<errors::UnimplementedError>(
          "serving", std::string("JSON cannot hold values of dtype ") + name(t.dtype()) + "; cast them in the model");
  }
}
TANDEM_INLINE void append_json_tensor(std::string& to, const Tensor& t, int axis, i64 from, bool as_bytes) {
  if (axis == t.rank()) return append_json_elements(to, t, from, 1, as_bytes);
  const i64 n = t.shape().dim(axis);
  to += '[';
  if (axis + 1 == t.rank()) {
    append_json_elements(to, t, from, n, as_bytes);
  } else {
    i64 step = 1;
    for (int i = axis + 1; i < t.rank(); ++i) step *= t.shape().dim(i);
    for (i64 i = 0; i < n; ++i) {
      if (i) to += ',';
      append_json_tensor(to, t, axis + 1, from + i * step, as_bytes);
    }
  }
  to += ']';
}

}  // namespace TANDEM_NS::serving::impl
