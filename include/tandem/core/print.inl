// Definitions of core/print.hpp.
#pragma once
#include <cstdlib>
#include <ostream>
#include <string_view>
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/core/print.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace detail {

template <class T>
T element(const void* data, i64 i) {
  return static_cast<const T*>(data)[i];
}
// Appends ".0" to "1": a float must not look like an integer.
inline std::string with_point(std::string s) {
  if (s.find_first_not_of("-0123456789") == std::string::npos) s += ".0";
  return s;
}
template <class F>
std::string float_text(F x) {
  return with_point(shortest_text(x));
}
// The shortest decimal form that converts back to the same 16 bits.
template <class H>
std::string half_text(H x) {
  const float f = static_cast<float>(x);
  for (int digits = 1; digits < 9; ++digits) {
    const float rounded = std::strtof(rounded_text(f, digits).c_str(), nullptr);
    if (H(rounded).bits == x.bits) return float_text(rounded);
  }
  return float_text(f);
}
template <class F>
std::string complex_text(F re, F im) {
  const std::string imaginary = shortest_text(im);
  return shortest_text(re) + (imaginary[0] == '-' ? "" : "+") + imaginary + "j";
}

inline std::string element_text(DType dtype, const void* p, i64 i) {
  switch (dtype) {
    case DType::float32: return float_text(element<float>(p, i));
    case DType::float64: return float_text(element<double>(p, i));
    case DType::float16: return half_text(element<Half>(p, i));
    case DType::bfloat16: return half_text(element<BFloat16>(p, i));
    case DType::complex64: return complex_text(element<float>(p, 2 * i), element<float>(p, 2 * i + 1));
    case DType::complex128: return complex_text(element<double>(p, 2 * i), element<double>(p, 2 * i + 1));
    case DType::bool_: return element<unsigned char>(p, i) ? "true" : "false";
    case DType::string: return escaped_text(static_cast<const Bytes*>(p)[i].view());
    case DType::qint8:
    case DType::int8: return std::to_string(element<std::int8_t>(p, i));
    case DType::int16: return std::to_string(element<std::int16_t>(p, i));
    case DType::qint32:
    case DType::int32: return std::to_string(element<std::int32_t>(p, i));
    case DType::int64: return std::to_string(element<i64>(p, i));
    case DType::quint8:
    case DType::uint8: return std::to_string(element<std::uint8_t>(p, i));
    case DType::uint16: return std::to_string(element<std::uint16_t>(p, i));
    case DType::uint32: return std::to_string(element<std::uint32_t>(p, i));
    case DType::uint64: return std::to_string(element<u64>(p, i));
  }
  return "?";
}

// Writes nested brackets. Walks the values twice: the first walk only measures, so that the numbers of a matrix
// align in columns.
struct ValuePrinter {
  const Operand& t;
  i64 edge;  // -1: everything
  std::size_t width = 0;
  bool measuring = true;
  std::string out = {};

  int rank() const { return t.shape().rank(); }
  bool cut(int axis) const { return edge >= 0 && t.shape().dim(axis) - edge > edge; }
  void leaf(i64 i) {
    const std::string s = element_text(t.spec->dtype, t.data, i);
    if (measuring) width = rank() > 1 && t.spec->dtype != DType::string && s.size() > width ? s.size() : width;
    else out.append(s.size() < width ? width - s.size() : 0, ' ') += s;
  }
  void separate(int axis) {
    if (measuring) return;
    out += ',';
    if (axis == rank() - 1) out += ' ';
    else out.append(static_cast<std::size_t>(rank() - 1 - axis), '\n').append(static_cast<std::size_t>(axis + 1), ' ');
  }
  void walk(int axis, i64 first) {
    if (axis == rank()) return leaf(first);
    const i64 n = t.shape().dim(axis);
    i64 stride = 1;
    for (int a = axis + 1; a < rank(); ++a) stride *= t.shape().dim(a);
    if (!measuring) out += '[';
    for (i64 i = 0; i < n; ++i) {
      if (i) separate(axis);
      if (cut(axis) && i == edge) {
        if (!measuring) out += "...";
        i = n - edge - 1;
        continue;
      }
      walk(axis + 1, first + i * stride);
    }
    if (!measuring) out += ']';
  }
};

// The number of elements; of an empty tensor that of the innermost brackets.
inline i64 written_items(const Shape& shape) {
  i64 n = 1;
  for (const i64 d : shape) {
    if (d == 0) break;
    n *= d;
  }
  return n;
}

// "MatMul:0"; "?" if the tensor does not belong to the trace.
inline std::string traced_name(const Tensor& t) {
  const std::string name = context.stager ? TANDEM_VIRTUAL(*context.stager, Stager::name_of)(t) : std::string();
  return escaped_text(name.empty() ? "?" : name);
}

TANDEM_INLINE std::string values_text(const Tensor& t) { return (t.rank() > 1 ? "\n" : "") + values_to_string(t); }
[[gnu::cold]] TANDEM_INLINE std::string spec_text(const Spec& s) {
  return ", shape=" + to_string(s.shape) + ", dtype=" + name(s.dtype) +
         (s.device.kind != Device::cpu ? ", device=" + to_string(s.device) : std::string()) + ")";
}

}  // namespace detail

TANDEM_INLINE std::string values_to_string(const Tensor& t, FormatOptions o) {
  if (t.is_symbolic()) detail::raise_symbolic(t, "to_string");
  Tensor host = t;
  if (t.device().kind != Device::cpu) {  // not t.cpu(), which is an op
    host = Tensor::allocate({t.shape(), t.dtype(), {}});
    copy_bytes(host.raw(), {}, t.raw(), t.device(), t.spec().bytes());
  }
  return values_to_string(Operand{host.raw(), &host.spec()}, o);
}
TANDEM_INLINE std::string values_to_string(const Operand& x, FormatOptions o) {
  detail::ValuePrinter p{x, detail::written_items(x.shape()) > o.threshold ? o.edge : -1};
  if (p.rank() > 1 && x.size()) p.walk(0, 0);
  p.measuring = false;
  p.walk(0, 0);
  return std::move(p.out);
}
TANDEM_INLINE std::string index_to_string(const Shape& shape, i64 flat) {
  std::string s;
  for (int a = shape.rank(); a-- > 0; flat /= shape.dim(a))
    s = std::to_string(flat % shape.dim(a)) + (s.empty() ? "" : "," + s);
  return "[" + s + "]";
}
TANDEM_INLINE std::string element_to_string(const Operand& x, i64 index) {
  return detail::element_text(x.spec->dtype, x.data, index);
}
TANDEM_INLINE std::string to_string(const Tensor& t) {
  if (!t.is_set()) {
    try {
      t.raise_unset();
    } catch (const errors::OpError& e) {
      return std::string("tandem.Tensor(unset: ") + e.what() + ")";
    }
  }
  if (t.is_symbolic()) return "tandem.Tensor(" + detail::traced_name(t) + detail::spec_text(t.spec());
  return "tandem.Tensor(" + detail::values_text(t) + detail::spec_text(t.spec());
}
TANDEM_INLINE std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << to_string(t); }

}  // namespace TANDEM_NS
