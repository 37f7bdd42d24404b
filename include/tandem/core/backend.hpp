// What a device other than the CPU brings: memory, copies, launches. One table a kind; the CPU needs none.
#pragma once
#include <cstddef>

#include "tandem/base/device.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS {

struct OpDef;

struct Backend {
  int (*count)();                                   // devices of this kind that can be used
  const char* (*why_off)();                         // why count() is 0
  void* (*allocate)(std::size_t bytes, int index);  // 256-byte aligned; raises ResourceExhaustedError
  void (*release)(void* p, std::size_t bytes, int index);
  void (*copy)(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes);
  void (*launch)(const OpDef& op, const KernelCall& call, Device device);  // may return before the kernel has run
  void (*synchronize)(int index);                                          // raises the errors of what was launched
  bool (*has_kernel)(const OpDef& op);              // whether launch() can run the op
};

/// The table of a kind, null where the library was built without it. Tests install the `sim` device here.
extern TANDEM_API const Backend* backends[device_kinds];

/// The table of a device that can be used.
///   throws  errors::UnimplementedError saying why there is none, errors::InvalidArgumentError for a wrong index
TANDEM_API const Backend& backend_of(Device device);

/// Whether the op has a kernel for the device, which need not exist on this machine: passes and plans ask.
TANDEM_API bool has_kernel(const OpDef& op, Device device);

/// Copies between any two devices; returns when the bytes have arrived if either side is the CPU.
TANDEM_API void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes);

}  // namespace TANDEM_NS
