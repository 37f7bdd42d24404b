// Definitions of serving/tensor_proto.hpp.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "tandem/base/half.hpp"
#include "tandem/serving/rows.hpp"
#include "tandem/serving/tensor_proto.hpp"

namespace TANDEM_NS::serving::impl {

static_assert(std::endian::native == std::endian::little, "tensor_content has the bytes of little-endian machines");

TANDEM_INLINE void append_tensor(std::string& to, std::uint32_t field, const Tensor& given) {
  const Tensor x = given.cpu();
  std::string head;
  io::detail::append_integer(head, 1, io::detail::data_type(x.dtype()));
  io::detail::append_message(head, 2, [&] { io::detail::append_dims(head, x.shape()); });
  if (x.dtype() == DType::string) {
    for (i64 i = 0; i < x.size(); ++i) io::detail::append_field(head, 8, static_cast<const Bytes*>(x.raw())[i].view());
    io::detail::append_field(to, field, head);
    return;
  }
  const std::size_t bytes = x.spec().bytes();
  std::string length;
  io::detail::append_tag(length, 4, io::detail::WireType::bytes);
  io::detail::append_varint(length, bytes);
  io::detail::append_tag(to, field, io::detail::WireType::bytes);
  io::detail::append_varint(to, head.size() + length.size() + bytes);
  to += head;
  to += length;
  if (bytes) to.append(static_cast<const char*>(x.raw()), bytes);
}

[[noreturn]] TANDEM_INLINE void refuse_tensor(const std::string& what, const std::string& why) {
  errors::raise<errors::InvalidArgumentError>("serving", what + ": " + why);
}
TANDEM_INLINE DType dtype_of(u64 number, const std::string& what) {
  for (int d = 0; d < dtype_count; ++d)
    if (static_cast<u64>(io::detail::data_type(static_cast<DType>(d))) == number) return static_cast<DType>(d);
  refuse_tensor(what, "the dtype " + std::to_string(number) + " of its TensorProto is not supported");
}

// What a TensorProto says but for its values, which are read when their dtype is known.
struct TensorFields {
  std::optional<u64> dtype;
  Shape shape;
  std::string_view content;
};

TANDEM_INLINE Shape parse_shape(std::string_view message, const std::string& what) {
  Shape shape;
  io::detail::WireReader dims(message);
  while (dims.next()) {
    if (dims.is(3, io::detail::WireType::varint) && dims.number()) refuse_tensor(what, "its shape has an unknown rank");
    if (!dims.is(2, io::detail::WireType::bytes)) continue;
    i64 size = 0;
    io::detail::WireReader dim(dims.bytes());
    while (dim.next())
      if (dim.is(1, io::detail::WireType::varint)) size = static_cast<i64>(dim.number());
    if (!dim.ok() || size < 0) refuse_tensor(what, "its shape is not valid");
    if (shape.rank() == max_rank)
      refuse_tensor(what, "its shape has more than " + std::to_string(max_rank) + " dimensions");
    shape.push_back(size);
  }
  if (!dims.ok()) refuse_tensor(what, "its shape is damaged");
  return shape;
}
TANDEM_INLINE TensorFields parse_fields(std::string_view message, const std::string& what) {
  TensorFields f;
  io::detail::WireReader in(message);
  while (in.next()) {
    if (in.is(1, io::detail::WireType::varint)) f.dtype = in.number();
    else if (in.is(2, io::detail::WireType::bytes)) f.shape = parse_shape(in.bytes(), what);
    else if (in.is(4, io::detail::WireType::bytes)) f.content = in.bytes();
  }
  if (!in.ok()) refuse_tensor(what, "its TensorProto is damaged");
  return f;
}

// The field that has the values of a dtype.
TANDEM_INLINE std::uint32_t value_field(DType d) {
  switch (d) {
    case DType::float32: return 5;
    case DType::float64: return 6;
    case DType::string: return 8;
    case DType::complex64: return 9;
    case DType::int64: return 10;
    case DType::bool_: return 11;
    case DType::complex128: return 12;
    case DType::float16:
    case DType::bfloat16: return 13;
    case DType::uint32: return 16;
    case DType::uint64: return 17;
    default: return 7;  // the integers of up to 32 bits
  }
}

TANDEM_INLINE void append_values(std::string& to, DType d, const io::detail::WireReader& in, const std::string& what) {
  using io::detail::WireType;
  const std::size_t part = is_complex(d) ? size_of(d) / 2 : size_of(d);
  const bool is_fixed = is_complex(d) || d == DType::float32 || d == DType::float64;
  const WireType single = !is_fixed ? WireType::varint : part == 4 ? WireType::fixed32 : WireType::fixed64;
  const auto number = [&](u64 x) {
    if (d == DType::bool_) x = x != 0;
    to.append(reinterpret_cast<const char*>(&x), part);  // the low bytes
  };
  if (in.type() == single) return number(in.number());
  if (in.type() != WireType::bytes || (is_fixed && in.bytes().size() % part))
    refuse_tensor(what, "its values are damaged, or of another type");
  if (is_fixed) {
    to.append(in.bytes());
    return;
  }
  for (std::string_view left = in.bytes(); !left.empty();) {
    u64 x = 0;
    if (!io::detail::read_varint(left, x)) refuse_tensor(what, "its values are damaged");
    number(x);
  }
}
// Takes the bytes of elements that have no value of their own off what a message may fill.
TANDEM_INLINE void take_fill(i64& fill, i64 elements, std::size_t width, const std::string& what) {
  const i64 bytes = std::max<i64>(elements, 0) * static_cast<i64>(width);
  if (bytes > fill)
    errors::raise<errors::ResourceExhaustedError>(
        "serving", what + ": the message fills more memory with repeated values than a message may have");
  fill -= bytes;
}
// One text fills a shape of any size that takes no memory worth mentioning: its copies share their bytes.
TANDEM_INLINE Tensor texts_of(std::string_view message, const Shape& shape, i64 size, const std::string& what,
                              i64& fill) {
  std::vector<Bytes> texts;
  for (io::detail::WireReader in(message); in.next();)
    if (in.is(8, io::detail::WireType::bytes)) {
      if (in.bytes().size() > most_string_bytes)
        refuse_tensor(what, "it has in element " + std::to_string(texts.size()) + " " + too_long(in.bytes().size()));
      texts.emplace_back(in.bytes());
    }
  if (static_cast<i64>(texts.size()) != size && (texts.size() != 1 || size > (1 << 20)))
    refuse_tensor(what, "it has " + std::to_string(texts.size()) + " strings, its shape " + to_string(shape) +
                            " takes " + std::to_string(size));
  take_fill(fill, size - static_cast<i64>(texts.size()), sizeof(Bytes), what);
  const Tensor t = Tensor::allocate({shape, DType::string, Device()});
  for (i64 i = 0; i < size; ++i)
    static_cast<Bytes*>(t.raw())[i] = texts[texts.size() == 1 ? 0 : static_cast<std::size_t>(i)];
  return t;
}

TANDEM_INLINE Tensor parse_tensor(std::string_view message, const std::string& what, i64& fill) {
  const TensorFields f = parse_fields(message, what);
  if (!f.dtype) refuse_tensor(what, "its TensorProto has no dtype");
  const DType d = dtype_of(*f.dtype, what);
  i64 size = 1, others = 1;  // others: without the sizes of 0
  for (const i64 n : f.shape)
    if (__builtin_mul_overflow(size, n, &size) || __builtin_mul_overflow(others, n ? n : 1, &others))
      refuse_tensor(what, "its shape " + to_string(f.shape) + " is too large");
  if (size == 0 && others > most_of_empty)
    refuse_tensor(what, "its shape " + to_string(f.shape) + " has no elements, but sizes that are too large");
  if (d == DType::string) return texts_of(message, f.shape, size, what, fill);
  std::string values;
  if (f.content.empty())
    for (io::detail::WireReader in(message); in.next();)
      if (in.field() == value_field(d)) append_values(values, d, in, what);
  const std::string_view bytes = f.content.empty() ? std::string_view(values) : f.content;
  const std::size_t width = size_of(d), count = bytes.size() / width;
  // A few values may stand for many, as long as that takes no memory worth mentioning.
  const bool fills = f.content.empty() && count > 0 && static_cast<i64>(count) < size && size <= (1 << 20);
  if (bytes.size() % width || (static_cast<i64>(count) != size && !fills))
    refuse_tensor(what, "it has " + std::to_string(bytes.size()) + " bytes of values, its shape " + to_string(f.shape) +
                            " takes " + std::to_string(size) + " of " + name(d));
  take_fill(fill, size - static_cast<i64>(count), width, what);
  const Tensor t = Tensor::allocate({f.shape, d, Device()});
  char* const to = static_cast<char*>(t.raw());
  if (count) std::memcpy(to, bytes.data(), bytes.size());
  for (i64 i = static_cast<i64>(count); i < size; ++i)
    std::memcpy(to + static_cast<std::size_t>(i) * width, bytes.data() + (count - 1) * width, width);
  if (d == DType::bool_)
    for (i64 i = 0; i < size; ++i) to[i] = to[i] != 0;
  return t;
}

}  // namespace TANDEM_NS::serving::impl
