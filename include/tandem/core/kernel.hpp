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

/// The inside of an elementwise kernel for one dtype: out[i] = f(in[0][i], ...) for i in [0, n), dense operands. `out`
/// may be one of the inputs if its elements are as wide.
struct DenseLoop {
  /// `streamed` stores past the caches (`out` on a 64-byte boundary).
  void (*run)(const void* const* in, void* out, i64 n, const void* params, bool streamed) = nullptr;
  const void* params = nullptr;  // the call's attributes, where f reads them
  bool costly = false;           // worth a second thread earlier
};

}  // namespace TANDEM_NS
