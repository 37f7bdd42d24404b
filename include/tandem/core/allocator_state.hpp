// The shared state of the host allocator. For the definitions of core/allocator.hpp, and for tests that switch its free
// lists off.
#pragma once
#include <atomic>
#include <mutex>

#include "tandem/core/allocator.hpp"

namespace TANDEM_NS::memory {

// Blocks released by threads, and the counters. Never destroyed: global tensors may outlive every other static.
struct Central {
  std::mutex mutex;
  void* head[classes] = {};
  std::int64_t cached = 0;
  std::int64_t bound = 0;  // on `cached`
  std::atomic<std::int64_t> live{0}, peak{0}, limit{0};
  std::atomic<std::int64_t> taken{0};  // allocated from the operating system: live and cached
  std::atomic<std::uint64_t> misses{0}, trims{0};
};
TANDEM_API Central& central();

}  // namespace TANDEM_NS::memory
