// The `sim` device: separate memory, poisoned on allocation and inaccessible except while a launch runs the CPU
// kernel on it or a copy is in progress. Code that touches a tensor outside its device therefore crashes at once.
// Only one thread may use it. Not here: the kernels, which are those of the CPU.
#pragma once
#include <cstdint>

#include "tandem/core/op.hpp"
#include "tandem/core/tensor.hpp"

namespace sim {

inline constexpr tandem::Device device{tandem::Device::sim, 0};

/// The device exists during the lifetime of this object.
class Installed {
 public:
  Installed();
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  ~Installed();
};

/// The device has no kernel for this op during the lifetime of this object.
class Without {
 public:
  explicit Without(const tandem::OpDef& op);
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;
  ~Without();
};

/// Currently allocated blocks; so far: launches, captures, launches of captures.
struct Counts {
  std::int64_t blocks, launches, captures, replays;
};
Counts counts();

/// Whether the process may read this address now.
bool is_readable(const void* p);

}  // namespace sim
