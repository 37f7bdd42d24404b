// Spec: what is known of a value before it is computed: shape, dtype, device.
#pragma once
#include "tandem/base/device.hpp"
#include "tandem/base/dtype.hpp"
#include "tandem/base/shape.hpp"

namespace TANDEM_NS {

struct Spec {
  Shape shape;
  DType dtype = DType::float32;
  Device device;

  std::size_t bytes() const { return static_cast<std::size_t>(shape.size()) * size_of(dtype); }
  friend bool operator==(const Spec& a, const Spec& b) {
    return a.dtype == b.dtype && a.device == b.device && a.shape == b.shape;
  }
};

/// "float32[2,3]"
inline std::string to_string(const Spec& s) { return name(s.dtype) + to_string(s.shape); }

}  // namespace TANDEM_NS
