// Definitions of attrs/attrs.hpp.
#pragma once
#include "tandem/attrs/attrs.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {
namespace detail {

// The fields as lossless text. Equality and hashing use it, because neither is on a hot path.
struct AttrPrinter final : AttrVisitor {
  std::string out;
  bool exact = false;

  void key(const char* name) { out += (out.empty() ? "" : " ") + std::string(name) + "="; }
  void number(const char* name, i64 value) override { key(name), out += std::to_string(value); }
  void real(const char* name, double value) override {
    key(name), out += exact ? std::to_string(std::bit_cast<u64>(value)) : shortest_text(value);
  }
  void text(const char* name, const std::string& value) override { key(name), out += "\"" + value + "\""; }
  void numbers(const char* name, const i64* values, int count) override {
    key(name);
    if (count < 0) {
      out += "not given";
      return;
    }
    out += "[";
    for (int i = 0; i < count; ++i)
      out += (i ? "," : "") + (values[i] == none ? std::string("None") : std::to_string(values[i]));
    out += "]";
  }
  void opaque(const char* name, const Opaque* value) override {
    key(name), out += value ? TANDEM_VIRTUAL(*value, Opaque::kind)() : "nothing";
    if (exact) out += std::to_string(reinterpret_cast<std::uintptr_t>(value));
  }
};
TANDEM_INLINE std::string exact_text(const Attrs& a) {
  AttrPrinter p;
  p.exact = true;
  a.visit(p);
  return std::move(p.out);
}

TANDEM_INLINE i64 read_number(AttrReader& r, const char* name, i64 low, i64 high) {
  const i64 value = TANDEM_VIRTUAL(r, AttrReader::number)(name);
  if (value < low || value > high) TANDEM_VIRTUAL(r, AttrReader::misfit)(name);
  return value;
}
TANDEM_INLINE void read_field(AttrReader& r, const char* name, Shape& to) {
  i64 dims[max_rank];
  const int rank = TANDEM_VIRTUAL(r, AttrReader::numbers)(name, dims);
  if (rank < 0) TANDEM_VIRTUAL(r, AttrReader::misfit)(name);
  to = Shape(Span<const i64>(dims, static_cast<std::size_t>(rank)));
}
TANDEM_INLINE void read_field(AttrReader& r, const char* name, Axes& to) {
  i64 axes[max_rank];
  const int count = TANDEM_VIRTUAL(r, AttrReader::numbers)(name, axes);
  to = count < 0 ? Axes() : Axes::none();
  for (int i = 0; i < count; ++i) {
    if (axes[i] < INT8_MIN || axes[i] > INT8_MAX) TANDEM_VIRTUAL(r, AttrReader::misfit)(name);
    to.push_back(axes[i]);
  }
}
TANDEM_INLINE void read_field(AttrReader& r, const char* name, Device& to) {
  const i64 place = read_number(r, name, 0, device_kinds * 256 - 1);
  to = {static_cast<Device::Kind>(place / 256), static_cast<std::uint8_t>(place % 256)};
}

}  // namespace detail

TANDEM_INLINE std::string to_string(const Attrs& a) {
  detail::AttrPrinter p;
  a.visit(p);
  return std::move(p.out);
}
TANDEM_INLINE bool operator==(const Attrs& a, const Attrs& b) { return detail::exact_text(a) == detail::exact_text(b); }
TANDEM_INLINE std::size_t hash(const Attrs& a) { return std::hash<std::string>()(detail::exact_text(a)); }

}  // namespace TANDEM_NS
