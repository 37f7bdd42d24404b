// Definitions of summary/tensor_view.hpp.
#pragma once
#include <bit>
#include <cstring>

#include "tandem/summary/tensor_view.hpp"

namespace TANDEM_NS::summary::detail {

using io::detail::WireReader;
using io::detail::WireType;

TANDEM_INLINE bool parse_shape(std::string_view bytes, std::vector<i64>& to) {
  WireReader dims(bytes);
  while (dims.next()) {
    if (!dims.is(2, WireType::bytes)) continue;
    WireReader dim(dims.bytes());
    i64 size = 0;
    while (dim.next())
      if (dim.is(1, WireType::varint)) size = static_cast<i64>(dim.number());
    if (!dim.ok() || size < 0 || to.size() == 254) return false;
    to.push_back(size);
  }
  return dims.ok();
}
// Appends the numbers of a field: one, or several that are packed. `decode` makes a double of 64 bits.
template <class F>
bool append_numbers(const WireReader& field, WireType type, std::vector<double>& to, const F& decode) {
  if (field.type() == type) to.push_back(decode(field.number()));
  if (field.type() != WireType::bytes) return field.type() == type;
  std::string_view left = field.bytes();
  while (!left.empty()) {
    u64 x = 0;
    std::uint32_t half = 0;
    const bool good = type == WireType::varint    ? io::detail::read_varint(left, x)
                      : type == WireType::fixed64 ? io::detail::read_fixed(left, x)
                                                  : io::detail::read_fixed(left, half);
    if (!good) return false;
    to.push_back(decode(type == WireType::fixed32 ? half : x));
  }
  return true;
}
TANDEM_INLINE bool append_doubles(const WireReader& field, std::vector<double>& to) {
  return append_numbers(field, WireType::fixed64, to, [](u64 x) { return std::bit_cast<double>(x); });
}
TANDEM_INLINE bool parse_tensor_field(const WireReader& r, TensorView& to) {
  const auto integer = [](u64 x) { return static_cast<double>(static_cast<i64>(x)); };
  switch (r.field()) {
    case 1:
      if (r.type() == WireType::varint) to.type = r.number();
      return true;
    case 2: return r.type() != WireType::bytes || parse_shape(r.bytes(), to.shape);
    case 4:
      if (r.type() == WireType::bytes) to.content = r.bytes();
      return true;
    case 5:
      return append_numbers(r, WireType::fixed32, to.numbers, [](u64 x) {
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(x)));
      });
    case 6: return append_doubles(r, to.numbers);
    case 7:
    case 10:
    case 11: return append_numbers(r, WireType::varint, to.numbers, integer);
    case 8:
      if (r.type() == WireType::bytes) to.texts.emplace_back(r.bytes());
      return true;
    default: return true;
  }
}
TANDEM_INLINE bool parse_tensor(std::string_view bytes, TensorView& to) {
  WireReader r(bytes);
  while (r.next())
    if (!parse_tensor_field(r, to)) return false;
  return r.ok();
}
TANDEM_INLINE i64 TensorView::size() const {
  i64 n = 1;
  for (const i64 d : shape)
    if (__builtin_mul_overflow(n, d, &n)) return -1;
  return n;
}

template <class T>
bool content_as(std::string_view content, i64 size, std::vector<double>& to) {
  if (content.size() / sizeof(T) != static_cast<u64>(size) || content.size() % sizeof(T)) return false;
  for (std::size_t at = 0; at < content.size(); at += sizeof(T)) {
    T x;
    std::memcpy(&x, content.data() + at, sizeof x);
    to.push_back(static_cast<double>(x));
  }
  return true;
}
TANDEM_INLINE bool numbers_of(const TensorView& t, i64 most, std::vector<double>& to) {
  const i64 size = t.size();
  if (size < 0 || size > most) return false;
  if (t.content.empty()) {
    to = t.numbers;
    if (to.size() == 1 && size > 1) to.resize(static_cast<std::size_t>(size), to[0]);  // one value fills the shape
    return to.size() == static_cast<u64>(size);
  }
  switch (t.type) {
    case 1: return content_as<float>(t.content, size, to);
    case 2: return content_as<double>(t.content, size, to);
    case 3: return content_as<std::int32_t>(t.content, size, to);
    case 9: return content_as<i64>(t.content, size, to);
    default: return false;
  }
}

}  // namespace TANDEM_NS::summary::detail
