// Definitions of core/context.hpp.
#pragma once
#include <atomic>

#include "tandem/core/context.hpp"
#include "tandem/core/replication.hpp"

namespace TANDEM_NS {
TANDEM_INLINE TANDEM_API constinit thread_local ThreadContext context{};
TANDEM_INLINE TANDEM_API constinit thread_local bool detail::training = false;
TANDEM_INLINE TANDEM_API constinit thread_local bool detail::training_is_set = false;
TANDEM_INLINE TANDEM_API constinit thread_local bool detail::checks_gradients = false;
TANDEM_INLINE TANDEM_API constinit thread_local const detail::LayerCall* detail::layer_call = nullptr;
TANDEM_INLINE TANDEM_API constinit thread_local bool detail::strict_shapes = false;
TANDEM_INLINE TANDEM_API constinit thread_local Replication* detail::replication = nullptr;
TANDEM_INLINE TANDEM_API constinit thread_local i64 detail::parts_of_batch = 1;
inline constinit TANDEM_API std::atomic<std::uint64_t> id_source{1};

TANDEM_INLINE std::uint64_t new_id_block() {
  constexpr std::uint64_t block = 1 << 16;
  const std::uint64_t first = id_source.fetch_add(block, std::memory_order_relaxed);
  context.next_id = first + 1;
  context.last_id = first + block;
  return first;
}
}  // namespace TANDEM_NS
