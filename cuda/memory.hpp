// The caching allocator of device memory: free lists by size class a device, in the order of the device's one stream:
// a block that was released may be handed out at once, since whatever uses it next runs after what used it last.
#pragma once
#include <cstddef>

#include "tandem/core/allocator.hpp"

namespace TANDEM_NS::cuda {

/// At least `bytes` bytes, 256-byte aligned, not null.
///   throws  errors::ResourceExhaustedError above the limit, or where the device has no more after all caches were
///   emptied
void* allocate(std::size_t bytes, int device);
void release(void* p, std::size_t bytes, int device);

memory::Info memory_info_of(int device);
void limit_memory(std::int64_t bytes, int device);
void reset_memory_peak(int device);
/// Gives cached blocks back to the device; returns the bytes.
std::int64_t trim_memory(int device);

}  // namespace TANDEM_NS::cuda
