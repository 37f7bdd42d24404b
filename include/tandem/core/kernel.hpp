// The interface that kernels see: pointers, specs, attributes, scratch. No tensors, no tapes.
#pragma once

#include "tandem/attrs/attrs.hpp"
#include "tandem/base/span.hpp"
#include "tandem/base/spec.hpp"
#include "tandem/core/packed.hpp"

namespace TANDEM_NS {

struct Operand {
  void* data;
  const Spec* spec;

  const Shape& shape() const { return spec->shape; }
  i64 size() const { return spec->shape.size(); }
  bool is_half() const { return dtypes::half_floating.has(spec->dtype); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

/// A queue of a device, in which kernels and copies run in the order of their launches. A value. The CPU has one
/// stream, which runs everything at once.
struct Stream {
  Device device;
  void* queue = nullptr;  // of the device's backend; null: the device's compute stream

  friend bool operator==(const Stream&, const Stream&) = default;
};

struct KernelCall {
  Span<const Operand> in, out;
  const Attrs& attrs;
  void* workspace = nullptr;      // of the size that the op's workspace() requested, 64-byte aligned
  const char* op = "";            // for error texts
  Stream stream = {};             // where it runs
  PackedForms* packed = nullptr;  // where ops with the flag keeps_packed keep forms of in[1]; may be null
};
using KernelFn = void (*)(const KernelCall&);

/// Whether kernels are built that take half precision as it is. Header-only programs cast its operands to float32.
inline constexpr bool kernels_take_half = !TANDEM_IS_HEADER_ONLY;

/// The inner loop of an elementwise kernel for one dtype: out[i] = f(in[0][i], ...) for i in [0, n), dense operands.
/// `out` may alias an input whose elements have the same width.
struct DenseLoop {
  /// `streamed` stores bypass the caches (`out` must be on a 64-byte boundary).
  void (*run)(const void* const* in, void* out, i64 n, const void* params, bool streamed) = nullptr;
  const void* params = nullptr;  // the call's attributes, if f reads them
  bool costly = false;           // worth a second thread earlier
};

}  // namespace TANDEM_NS
