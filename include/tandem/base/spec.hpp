// Spec: what is known about a value before it is computed: shape, dtype, device. TensorSpec is the same type.
#pragma once
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tandem/base/device.hpp"
#include "tandem/base/dtype.hpp"
#include "tandem/base/shape.hpp"

namespace TANDEM_NS {

/// Shape, dtype and device of a tensor, or of what a traced function or a host function expects:
/// TensorSpec({none, 128}, float32), x.spec(). One type under two names, as a class and in TensorFlow's spelling.
struct Spec {
  Spec() = default;
  explicit Spec(const Shape& s) : shape(s) {}
  explicit Spec(std::initializer_list<i64> s) : shape(s) {}  // Spec({}) is a scalar
  Spec(const Shape& s, DType d, Device at = {}) : shape(s), dtype(d), device(at) {}
  /// With a name, as in TensorFlow. It is not kept.
  template <std::convertible_to<std::string_view> Name>
  Spec(const Shape& s, DType d, const Name&) : shape(s), dtype(d) {}
  /// The spec of an existing value, which is x.spec() itself.
  static Spec from_spec(const Spec& spec) { return spec; }

  std::size_t bytes() const { return static_cast<std::size_t>(shape.size()) * size_of(dtype); }
  /// Whether a value of spec `o` is accepted: equal dtypes and compatible shapes.
  bool is_compatible_with(const Spec& o) const { return dtype == o.dtype && shape.is_compatible_with(o.shape); }
  friend bool operator==(const Spec& a, const Spec& b) {
    return a.dtype == b.dtype && a.device == b.device && a.shape == b.shape;
  }

  Shape shape;
  DType dtype = DType::float32;
  Device device = {};
};
using TensorSpec = Spec;

/// "float32[2,3]"
inline std::string to_string(const Spec& s) { return name(s.dtype) + detail::dims_text(s.shape); }

}  // namespace TANDEM_NS
