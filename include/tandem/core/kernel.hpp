// All that a kernel may see: pointers, specs, attributes, scratch. No tensor, no tape.
#pragma once
#include <span>

#include "tandem/base/attrs.hpp"
#include "tandem/base/spec.hpp"

namespace TANDEM_NS {

struct Operand {
  void* data;
  const Spec* spec;

  const Shape& shape() const { return spec->shape; }
  i64 size() const { return spec->shape.size(); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

struct KernelCall {
  std::span<const Operand> in, out;
  const Attrs& attrs;
  void* workspace = nullptr;  // as many bytes as the row's workspace() asked for, 64-byte aligned
  const char* op = "";        // for error texts
  void* stream = nullptr;     // the device's queue, where it has one
};
using KernelFn = void (*)(const KernelCall&);

}  // namespace TANDEM_NS
