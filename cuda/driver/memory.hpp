// The caching allocator of device memory: free lists by size class per device, ordered by the device's one stream. A
// released block may be reused immediately, since its next use runs after its previous one.
#pragma once
#include <cstddef>

#include "tandem/core/allocator.hpp"

namespace TANDEM_NS::cuda {

/// Allocates at least `bytes` bytes, 256-byte aligned, not null.
///   throws  errors::ResourceExhaustedError above the limit, or if the device has no memory left, after all caches and
///           what is held were emptied
void* allocate(std::size_t bytes, int device);
void release(void* p, std::size_t bytes, int device);

memory::Info memory_info_of(int device);
void limit_memory(std::int64_t bytes, int device);
void reset_memory_peak(int device);
/// Returns cached blocks, and what is held, to the device; returns the number of bytes.
std::int64_t trim_memory(int device);

/// Memory that its owner has allocated and does not use now. It counts as live.
class Held {
 public:
  /// Releases it; returns whether there was some. Any thread calls it: what it locks must not be locked during an
  /// allocation.
  virtual bool empty() noexcept = 0;

 protected:
  ~Held() = default;
};
/// Lets allocate(), before it raises, and trim_memory() empty it. It is removed before its lifetime ends.
void add_held(int device, Held& held);
void remove_held(int device, Held& held);

}  // namespace TANDEM_NS::cuda
