// Spec: what is known about a value before it is computed: shape, dtype, device. TensorSpec: its user-facing form.
#pragma once
#include <string>
#include <utility>

#include "tandem/base/device.hpp"
#include "tandem/base/dtype.hpp"
#include "tandem/base/shape.hpp"

namespace TANDEM_NS {

struct Spec {
  Shape shape;
  DType dtype = DType::float32;
  Device device = {};

  std::size_t bytes() const { return static_cast<std::size_t>(shape.size()) * size_of(dtype); }
  friend bool operator==(const Spec& a, const Spec& b) {
    return a.dtype == b.dtype && a.device == b.device && a.shape == b.shape;
  }
};

/// "float32[2,3]"
inline std::string to_string(const Spec& s) { return name(s.dtype) + to_string(s.shape); }

/// What a traced function expects of an argument: TensorSpec({none, 128}, float32), optionally with a name. Usable
/// wherever a Spec is expected; the name is informative only.
struct TensorSpec : Spec {
  std::string name;

  explicit TensorSpec(const Shape& shape, DType dtype = DType::float32, std::string name = {})
      : Spec{shape, dtype, {}}, name(std::move(name)) {}
  /// The spec of an existing value: TensorSpec::from_spec(x.spec()).
  static TensorSpec from_spec(const Spec& spec, std::string name = {}) {
    TensorSpec r(spec.shape, spec.dtype, std::move(name));
    r.device = spec.device;
    return r;
  }

  /// Whether a value of spec `o` is accepted: equal dtypes and compatible shapes.
  bool is_compatible_with(const Spec& o) const { return dtype == o.dtype && shape.is_compatible_with(o.shape); }
};

}  // namespace TANDEM_NS
