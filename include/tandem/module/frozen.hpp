// Which modules are frozen, as one number: traces that depend on it compare it at each call. Not here: freezing
// (module/module.hpp).
#pragma once
#include <atomic>
#include <cstdint>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS::detail {

/// The exclusive or of the marks of all modules that are frozen, themselves or with an enclosing one, which tells their
/// set from other sets.
inline TANDEM_API constinit std::atomic<std::uint64_t> frozen_modules{0};
inline std::uint64_t frozen_state() { return frozen_modules.load(std::memory_order_acquire); }

/// The mark of a module with this id: 64 random bits (splitmix64).
inline std::uint64_t frozen_mark(std::uint64_t id) {
  id += 0x9e3779b97f4a7c15;
  id = (id ^ (id >> 30)) * 0xbf58476d1ce4e5b9;
  id = (id ^ (id >> 27)) * 0x94d049bb133111eb;
  return id ^ (id >> 31);
}
/// Tells the trace in progress, if any, that it depends on which modules are frozen.
inline void tell_frozen_read() {
  if (context.stager) TANDEM_VIRTUAL(*context.stager, Stager::reads_frozen)();
}

}  // namespace TANDEM_NS::detail
