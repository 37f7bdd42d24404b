// Definitions of serving/json_tensor.hpp.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>

#include "tandem/serving/json_number.hpp"
#include "tandem/serving/json_tensor.hpp"
#include "tandem/util/base64.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE JsonTensor::JsonTensor(std::string name, DType dtype, const std::optional<Shape>& shape)
    : name_(std::move(name)), dtype_(dtype), shape_(shape) {
  std::fill(dims_, dims_ + max_rank, none);
  if (shape_) rank_ = shape_->rank();
}
TANDEM_INLINE void JsonTensor::begin(int level) {
  begun_at_ = level_ = level;
  deepest_ = std::max(deepest_, level);
  is_begun_ = true;
}
TANDEM_INLINE bool JsonTensor::on(const JsonEvent& e) {
  if (b64_ != no) {
    if (!encoded(e)) return false;
  } else {
    switch (e.kind) {
      case JsonEvent::begin_list: begin_list(); return false;
      case JsonEvent::end_list: end_list(); break;
      case JsonEvent::number: number(e); break;
      case JsonEvent::text: text(e.content); break;
      case JsonEvent::begin_object:
        if (dtype_ != DType::string) fail_element("an object");
        b64_ = opened;
        return false;
      case JsonEvent::boolean:
        if (dtype_ != DType::bool_) fail_element(e.value ? "true" : "false");
        begin_element();
        static_cast<bool*>(data_)[size_] = e.value;
        end_element();
        break;
      default: fail_element("null");
    }
  }
  return level_ == begun_at_;
}

TANDEM_INLINE void JsonTensor::fail(const std::string& what) const {
  errors::raise<errors::InvalidArgumentError>("serving",
                                              "the input '" + name_ + "' takes " + expected() + ", but " + what);
}
TANDEM_INLINE void JsonTensor::fail_element(const std::string& what) const {
  fail("has " + what + (level_ ? " at " + position() : ""));
}
TANDEM_INLINE std::string JsonTensor::position() const {
  std::string r;
  for (int i = 0; i < level_; ++i) r += '[' + std::to_string(counts_[i]) + ']';
  return r;
}
TANDEM_INLINE std::string JsonTensor::expected() const {
  return shape_ ? to_string(Spec(*shape_, dtype_)) : std::string(tandem::name(dtype_));
}

TANDEM_INLINE void JsonTensor::begin_list() {
  if (level_ == (rank_ >= 0 ? rank_ : max_rank)) fail_element("a list");
  counts_[level_++] = 0;
  deepest_ = std::max(deepest_, level_);
}
TANDEM_INLINE void JsonTensor::end_list() {
  i64& dim = dims_[--level_];
  const i64 n = counts_[level_], wanted = shape_ ? shape_->dim(level_) : none;
  const auto length = [&] {
    return "a list" + (level_ ? " at " + position() : "") + " has " + std::to_string(n) + " elements";
  };
  if (wanted != none && n != wanted) fail(length());
  if (dim != none && n != dim) fail(length() + ", those before it have " + std::to_string(dim));
  dim = n;
  if (level_) ++counts_[level_ - 1];
}
TANDEM_INLINE void JsonTensor::begin_element() {
  if (rank_ < 0 && deepest_ == level_) rank_ = level_;
  if (level_ != rank_)
    fail_element(rank_ < 0 ? "an element among lists" : "an element in " + std::to_string(level_) + " lists");
  if (size_ == capacity_) grow();
}
TANDEM_INLINE void JsonTensor::end_element() {
  ++size_;
  if (level_) ++counts_[level_ - 1];
}
TANDEM_INLINE void JsonTensor::grow() {
  const i64 capacity = capacity_ ? 2 * capacity_ : rank_ ? 64 : 1;
  const Tensor larger = Tensor::allocate({Shape{capacity}, dtype_, {}});
  if (dtype_ == DType::string)
    for (i64 i = 0; i < size_; ++i) std::swap(static_cast<Bytes*>(larger.raw())[i], static_cast<Bytes*>(data_)[i]);
  else if (size_) std::memcpy(larger.raw(), data_, static_cast<std::size_t>(size_) * size_of(dtype_));
  buffer_ = larger, data_ = larger.raw(), capacity_ = capacity;
}

TANDEM_INLINE void JsonTensor::fail_number(std::string_view s) const {
  std::string text(s.substr(0, 40));
  if (is_floating(dtype_)) text += std::string(" (beyond the range or precision of ") + tandem::name(dtype_) + ")";
  fail_element(text);
}
template <class T>
void JsonTensor::number_as(std::string_view s) {
  T x;
  ScannedNumber n;
  const bool negative = s.front() == '-';
  if (scan_number(s.data(), s.data() + s.size(), n)) {
    if (!to_element(n, x)) fail_number(s);
  } else if constexpr (std::is_integral_v<T>) {
    fail_number(s);
  } else {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    x = T(s.back() == 'N' ? std::numeric_limits<float>::quiet_NaN() : negative ? -infinity : infinity);
  }
  begin_element();
  static_cast<T*>(data_)[size_] = x;
  end_element();
}
// The number, and those that follow it in its list: most of a large request is numbers, for which RapidJSON takes more
// than twice as long.
template <class T>
void JsonTensor::numbers(const JsonEvent& e) {
  number_as<T>(e.content);
  if (level_ == begun_at_) return;
  JsonCursor& c = *e.cursor;
  const auto skip_space = [&](const char* p) {
    while (p != c.end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
    return p;
  };
  for (ScannedNumber n;;) {
    const char* p = skip_space(c.at);
    T x;
    if (p == c.end || *p != ',' || !scan_number(skip_space(p + 1), c.end, n)) return;
    if (!to_element(n, x)) fail_number({n.begin, static_cast<std::size_t>(n.end - n.begin)});
    if (size_ == capacity_) grow();
    static_cast<T*>(data_)[size_] = x;
    end_element();
    c.at = n.end;
  }
}
TANDEM_INLINE void JsonTensor::number(const JsonEvent& e) {
  switch (dtype_) {
    case DType::float32: return numbers<float>(e);
    case DType::float64: return numbers<double>(e);
    case DType::float16: return numbers<Half>(e);
    case DType::bfloat16: return numbers<BFloat16>(e);
    case DType::int8: return numbers<std::int8_t>(e);
    case DType::int16: return numbers<std::int16_t>(e);
    case DType::int32: return numbers<std::int32_t>(e);
    case DType::int64: return numbers<i64>(e);
    case DType::uint8: return numbers<std::uint8_t>(e);
    case DType::uint16: return numbers<std::uint16_t>(e);
    case DType::uint32: return numbers<std::uint32_t>(e);
    case DType::uint64: return numbers<u64>(e);
    default: fail_number(e.content);
  }
}

TANDEM_INLINE void JsonTensor::text(std::string_view s) {
  if (dtype_ != DType::string) fail_element("the text " + tandem::detail::escaped_text(s.substr(0, 40)));
  if (s.size() > most_string_bytes) fail_element(too_long(s.size()));
  add(Bytes(s));
}
TANDEM_INLINE void JsonTensor::add(Bytes s) {
  begin_element();
  static_cast<Bytes*>(data_)[size_] = std::move(s);
  end_element();
}
// An event in {"b64": "..."}; true if the object ends.
TANDEM_INLINE bool JsonTensor::encoded(const JsonEvent& e) {
  if (b64_ == opened && e.kind == JsonEvent::key && e.content == "b64") {
    b64_ = has_key;
  } else if (b64_ == has_key && e.kind == JsonEvent::text) {
    std::string bytes;
    if (!tandem::detail::decode_base64(e.content, bytes, tandem::detail::base64_digits))
      fail_element("what is not base64");
    if (bytes.size() > most_string_bytes) fail_element(too_long(bytes.size()));
    decoded_ = Bytes(bytes);
    b64_ = has_text;
  } else if (b64_ == has_text && e.kind == JsonEvent::end_object) {
    b64_ = no;
    add(std::move(decoded_));
    return true;
  } else {
    fail_element("an object that is not {\"b64\": \"...\"}");
  }
  return false;
}

TANDEM_INLINE Tensor JsonTensor::finish() {
  Shape shape;
  const int rank = rank_ >= 0 ? rank_ : deepest_;
  for (int i = 0; i < rank; ++i) {
    i64 n = i < begun_at_ ? counts_[i] : dims_[i];
    if (n == none) n = shape_ && shape_->dim(i) != none ? shape_->dim(i) : 0;  // in a list without elements
    shape.push_back(n);
  }
  if (!size_) return Tensor::allocate({shape, dtype_, {}});
  return Tensor::view_of(buffer_, {shape, dtype_, {}});
}

}  // namespace TANDEM_NS::serving::impl
