// Definitions of strings/unicode.hpp.
#pragma once
#include "tandem/strings/string_kernels.hpp"
#include "tandem/strings/unicode.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {
namespace strings::impl {

inline bool is_code_point(i64 c) { return c >= 0 && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff); }

// The code point at s[at], which moves on; -1 if it is malformed.
inline i64 next_utf8(std::string_view s, std::size_t& at) {
  const auto [n, is_character] = tandem::detail::utf8_unit(s, at);
  if (!is_character) return at += n, -1;
  const auto byte = [&](std::size_t k) { return static_cast<i64>(static_cast<unsigned char>(s[at + k])); };
  i64 c = n == 1 ? byte(0) : byte(0) & (0xff >> (n + 1));
  for (std::size_t k = 1; k < n; ++k) c = c << 6 | (byte(k) & 0x3f);
  return at += n, c;
}
inline i64 big_endian(std::string_view s, std::size_t at, std::size_t bytes) {
  i64 c = 0;
  for (std::size_t k = 0; k < bytes; ++k) c = c << 8 | static_cast<unsigned char>(s[at + k]);
  return c;
}
inline i64 next_utf16(std::string_view s, std::size_t& at) {
  if (s.size() - at < 2) return at = s.size(), -1;
  const i64 first = big_endian(s, at, 2);
  at += 2;
  if (is_code_point(first)) return first;
  if (first > 0xdbff || s.size() - at < 2) return -1;
  const i64 second = big_endian(s, at, 2);
  if (second < 0xdc00 || second > 0xdfff) return -1;
  return at += 2, 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}
inline i64 next_utf32(std::string_view s, std::size_t& at) {
  if (s.size() - at < 4) return at = s.size(), -1;
  const i64 c = big_endian(s, at, 4);
  return at += 4, is_code_point(c) ? c : -1;
}
// Calls point(c) for each code point of s.
template <class F>
void decode(const KernelCall& c, i64 element, std::string_view s, const F& point) {
  const auto& a = c.attrs.get<rules::UnicodeAttrs>();
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t from = at;
    const i64 p = a.from == Encoding::utf8       ? next_utf8(s, at)
                  : a.from == Encoding::utf16_be ? next_utf16(s, at)
                                                 : next_utf32(s, at);
    if (p < 0 && a.errors == MalformedText::strict)
      raise(c.op, "malformed text at byte " + std::to_string(from) + " of element " + std::to_string(element));
    if (p >= 0) point(p);
    else if (a.errors == MalformedText::replace) point(a.replacement);
  }
}
inline void append_bytes(std::string& to, i64 c, int bytes) {
  for (int k = bytes - 1; k >= 0; --k) to += static_cast<char>(c >> (8 * k));
}
inline void append_utf8(std::string& to, i64 c) {
  if (c < 0x80) return to.push_back(static_cast<char>(c));
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  to += static_cast<char>((0xff00 >> (more + 1) & 0xff) | c >> (6 * more));
  for (int k = more - 1; k >= 0; --k) to += static_cast<char>(0x80 | (c >> (6 * k) & 0x3f));
}
inline void append_point(std::string& to, i64 c, Encoding encoding) {
  if (encoding == Encoding::utf8) return append_utf8(to, c);
  if (encoding == Encoding::utf32_be) return append_bytes(to, c, 4);
  if (c < 0x10000) return append_bytes(to, c, 2);
  append_bytes(to, 0xd800 + ((c - 0x10000) >> 10), 2);
  append_bytes(to, 0xdc00 + ((c - 0x10000) & 0x3ff), 2);
}

inline void check_replacement(const InferCall& c) {
  const i64 r = c.get<rules::UnicodeAttrs>().replacement;
  if (!is_code_point(r)) raise(c.op.name, "the replacement " + std::to_string(r) + " is not a code point");
}
TANDEM_INLINE Specs infer_unicode_decode(const InferCall& c) {
  check_replacement(c);
  return {host_spec(c.spec(0).shape, DType::int64), host_spec(Shape{none}, DType::int32)};
}
TANDEM_INLINE Specs resolve_unicode_decode(const KernelCall& c) {
  i64 n = 0;
  for (i64 i = 0; i < c.in[0].size(); ++i) decode(c, i, c.in[0].as<const Bytes>()[i].view(), [&](i64) { ++n; });
  return {host_spec(c.in[0].shape(), DType::int64), host_spec(Shape{n}, DType::int32)};
}
TANDEM_INLINE void unicode_decode_kernel(const KernelCall& c) {
  std::int32_t* to = c.out[1].as<std::int32_t>();
  for (i64 i = 0; i < c.in[0].size(); ++i) {
    const std::int32_t* const from = to;
    decode(c, i, c.in[0].as<const Bytes>()[i].view(), [&](i64 p) { *to++ = static_cast<std::int32_t>(p); });
    c.out[0].as<i64>()[i] = to - from;
  }
}

TANDEM_INLINE Specs infer_unicode_encode(const InferCall& c) {
  check_replacement(c);
  if (c.spec(1).dtype != DType::int32 || c.spec(1).shape.rank() != 1)
    tandem::detail::raise_specs(c, "the values must be int32 [n]");
  return Specs(host_spec(c.spec(0).shape, DType::string));
}
TANDEM_INLINE void unicode_encode_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::UnicodeAttrs>();
  const std::int32_t* from = c.in[1].as<const std::int32_t>();
  i64 left = c.in[1].size();
  for (i64 i = 0; i < c.in[0].size(); ++i) {
    const i64 n =
        c.in[0].spec->dtype == DType::int64 ? c.in[0].as<const i64>()[i] : c.in[0].as<const std::int32_t>()[i];
    if (n < 0 || n > left)
      raise(c.op, "row length " + std::to_string(n) + " of element " + std::to_string(i) + " is out of [0, " +
                      std::to_string(left) + "], the values that are left");
    std::string s;
    for (left -= n; from != c.in[1].as<const std::int32_t>() + (c.in[1].size() - left); ++from) {
      if (!is_code_point(*from) && a.errors == MalformedText::strict)
        raise(c.op, std::to_string(*from) + " in element " + std::to_string(i) + " is not a code point");
      if (is_code_point(*from)) append_point(s, *from, a.to);
      else if (a.errors == MalformedText::replace) append_point(s, a.replacement, a.to);
    }
    c.out[0].as<Bytes>()[i] = Bytes(s);
  }
  if (left) raise(c.op, std::to_string(left) + " values are left after the last row");
}

TANDEM_INLINE Specs infer_unicode_transcode(const InferCall& c) {
  check_replacement(c);
  return Specs(host_spec(c.spec(0).shape, DType::string));
}
TANDEM_INLINE void unicode_transcode_kernel(const KernelCall& c) {
  const Encoding to = c.attrs.get<rules::UnicodeAttrs>().to;
  for (i64 i = 0; i < c.in[0].size(); ++i) {
    std::string s;
    decode(c, i, c.in[0].as<const Bytes>()[i].view(), [&](i64 p) { append_point(s, p, to); });
    c.out[0].as<Bytes>()[i] = Bytes(s);
  }
}

}  // namespace strings::impl

TANDEM_INLINE constexpr OpDef unicode_decode_op{.name = "unicode_decode",
                                                .infer = &strings::impl::infer_unicode_decode,
                                                .cpu = &strings::impl::unicode_decode_kernel,
                                                .dtypes = strings::impl::text,
                                                .outputs = 2,
                                                .host_inputs = strings::impl::all_on_host,
                                                .flags = {.non_differentiable = true},
                                                .attrs = &detail::attr_type<rules::UnicodeAttrs>,
                                                .rare = {.resolve = &strings::impl::resolve_unicode_decode}};
TANDEM_INLINE constexpr OpDef unicode_encode_op{.name = "unicode_encode",
                                                .input_names = "row_lengths, values",
                                                .infer = &strings::impl::infer_unicode_encode,
                                                .cpu = &strings::impl::unicode_encode_kernel,
                                                .dtypes = dtypes::index,
                                                .inputs = 2,
                                                .host_inputs = strings::impl::all_on_host,
                                                .flags = {.non_differentiable = true},
                                                .attrs = &detail::attr_type<rules::UnicodeAttrs>};
TANDEM_INLINE constexpr OpDef unicode_transcode_op{.name = "unicode_transcode",
                                                   .infer = &strings::impl::infer_unicode_transcode,
                                                   .cpu = &strings::impl::unicode_transcode_kernel,
                                                   .dtypes = strings::impl::text,
                                                   .host_inputs = strings::impl::all_on_host,
                                                   .flags = {.non_differentiable = true},
                                                   .attrs = &detail::attr_type<rules::UnicodeAttrs>};

namespace strings {

TANDEM_INLINE Pieces unicode_decode(const Tensor& x, Encoding from, UnicodeOptions o) {
  const Tensor* const in[] = {&x};
  const rules::UnicodeAttrs a{from, from, o.errors, o.replacement_char};
  const Tensors out = apply(unicode_decode_op, in, a, {o.name, o.where});
  return {out[0], out[1]};
}
TANDEM_INLINE Tensor unicode_encode(const Tensor& row_lengths, const Tensor& values, Encoding to, UnicodeOptions o) {
  return apply1(unicode_encode_op, rules::UnicodeAttrs{to, to, o.errors, o.replacement_char}, {o.name, o.where},
                row_lengths, values);
}
TANDEM_INLINE Tensor unicode_transcode(const Tensor& x, Encoding from, Encoding to, UnicodeOptions o) {
  return apply1(unicode_transcode_op, rules::UnicodeAttrs{from, to, o.errors, o.replacement_char}, {o.name, o.where},
                x);
}

}  // namespace strings
}  // namespace TANDEM_NS
