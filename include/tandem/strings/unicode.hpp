// Code points of Unicode text, and conversion between encodings. Part of the component tandem::strings.
#pragma once
#include <string>

#include "tandem/strings/text.hpp"

namespace TANDEM_NS::strings {

/// How text is encoded.
enum class Encoding : std::uint8_t { utf8, utf16_be, utf32_be };
inline constexpr Encoding utf8 = Encoding::utf8, utf16_be = Encoding::utf16_be, utf32_be = Encoding::utf32_be;
/// What becomes of malformed input: the replacement character, nothing, or an error. Malformed UTF-8 is divided as
/// Unicode recommends (15.0, section 3.9) and Python and ICU do it: a character that is cut off is one replacement,
/// another byte that begins none is one, too.
enum class MalformedText : std::uint8_t { replace, ignore, strict };

struct UnicodeOptions {
  TANDEM_OP_OPTIONS;
  MalformedText errors = MalformedText::replace;
  std::int32_t replacement_char = 0xfffd;
};
/// The code points of all strings in turn, and how many each string has: values are int32.
///   x         string
///   throws    errors::InvalidArgumentError, naming the element, for malformed text with `.errors = strict`; for a
///             replacement that is not a code point
///   gradient  none (non-differentiable)
TANDEM_API Pieces unicode_decode(const Tensor& x, Encoding input_encoding, UnicodeOptions = {});
/// The inverse of unicode_decode.
///   row_lengths  int32 or int64, not negative
///   values       int32, [sum of row_lengths]; what is not a code point is malformed
///   returns      string, the shape of row_lengths
///   throws       errors::InvalidArgumentError if the lengths do not add up, or as unicode_decode
///   gradient     none (non-differentiable)
TANDEM_API Tensor unicode_encode(const Tensor& row_lengths, const Tensor& values, Encoding output_encoding,
                                 UnicodeOptions = {});
/// Converts each string to another encoding, or to well-formed text of the same one. Otherwise as unicode_decode.
///   returns   string, the shape of x
///   gradient  none (non-differentiable)
TANDEM_API Tensor unicode_transcode(const Tensor& x, Encoding input_encoding, Encoding output_encoding,
                                    UnicodeOptions = {});

}  // namespace TANDEM_NS::strings

namespace TANDEM_NS {

template <>
inline constexpr int enumerators<strings::Encoding> = 3;
template <>
inline constexpr int enumerators<strings::MalformedText> = 3;

TANDEM_OPS(unicode_ops, unicode_decode, unicode_encode, unicode_transcode)

namespace rules {
struct UnicodeAttrs {
  strings::Encoding from, to;
  strings::MalformedText errors;
  i64 replacement;
  TANDEM_ATTRS(UnicodeAttrs, from, to, errors, replacement);
};
}  // namespace rules
}  // namespace TANDEM_NS
