// The interface of a device other than the CPU: memory, copies, launches. One table per device kind; the CPU needs
// none.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tandem/base/device.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/core/kernel.hpp"
#include "tandem/core/uploads.hpp"

namespace TANDEM_NS {

struct OpDef;

/// What a fused program (ops/fused/fused.hpp) may contain: how many ops and inputs; and which ops, given the dtypes of
/// their inputs and, as the last one, of their result (null: all that the CPU computes).
struct FusionLimits {
  std::size_t ops = 512, inputs = 48;
  bool (*allows)(const OpDef& op, Span<const DType> dtypes) = nullptr;
};

struct Backend {
  int (*count)();                                   // the number of usable devices of this kind
  const char* (*why_off)();                         // the reason why count() is 0
  void* (*allocate)(std::size_t bytes, int index);  // 256-byte aligned; raises ResourceExhaustedError
  void (*release)(void* p, std::size_t bytes, int index);
  void (*copy)(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes);
  void (*launch)(const OpDef& op, const KernelCall& call, Stream stream);  // may return before the kernel has run
  void (*synchronize)(int index);                                          // raises the errors of launched kernels
  bool (*has_kernel)(const OpDef& op);                                     // whether launch() can run the op
  bool uses_workspace = true;  // whether its kernels use the scratch memory that OpDef::workspace asks for
  FusionLimits fusion = {};

  // Captures (CUDA graphs); null where the device has none. Between begin and end, launches on the stream are recorded
  // and not run. end_capture() returns them as one launch, or null if one of them cannot be captured; the operands'
  // addresses and the attributes are part of it, and what the kernels keep in memory of their own must stay valid.
  void (*begin_capture)(Stream stream) = nullptr;
  void* (*end_capture)(Stream stream) = nullptr;
  void (*launch_captured)(void* captured, Stream stream) = nullptr;
  void (*release_captured)(void* captured) = nullptr;
  // Counts the changes of settings that are part of launches (TF32); null: there are none.
  std::uint64_t (*settings)() = nullptr;

  // Null where the device does not count its memory.
  memory::Info (*memory_info)(int index) = nullptr;
  void (*set_memory_limit)(std::int64_t bytes, int index) = nullptr;

  // Copies from the host on a stream of their own, which keep up to so many blocks of the device for the next ones;
  // null: copies are those of copy().
  Ref<Uploads> (*uploads)(int index, std::size_t blocks) = nullptr;
};

/// The table of a device kind; null if the library was built without it. Tests install the `sim` device here.
extern TANDEM_API const Backend* backends[device_kinds];

namespace detail {
/// Bit i: GPU:i may not be used (config::set_visible_devices).
inline constinit TANDEM_API std::atomic<std::uint64_t> hidden_gpus{0};
inline bool is_visible(Device d) {
  return d.kind != Device::gpu || d.index >= 64 || !(hidden_gpus.load(std::memory_order_relaxed) >> d.index & 1);
}
}  // namespace detail

/// Returns the table of a usable device.
///   throws  errors::UnimplementedError with the reason if there is none, or it is hidden,
///           errors::InvalidArgumentError for an invalid index
TANDEM_API const Backend& backend_of(Device device);

/// Whether the op has a kernel for the device, which need not exist on this machine. Passes and plans use it.
TANDEM_API bool has_kernel(const OpDef& op, Device device);

/// Copies bytes between any two devices. Returns when the copy is complete if either side is the CPU.
TANDEM_API void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes);

}  // namespace TANDEM_NS
