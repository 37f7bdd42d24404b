// The `sim` device: memory of its own, poisoned when it is handed out and without any access right except while a
// launch runs the CPU's kernel on it or a copy goes through. So a tensor that strays from its device dies at the first
// touch. One thread may use it. Not here: the kernels, which are the CPU's.
#pragma once
#include <cstdint>

#include "tandem/core/tensor.hpp"

namespace sim {

inline constexpr tandem::Device device{tandem::Device::sim, 0};

/// The device exists while one of these lives.
class Installed {
 public:
  Installed();
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  ~Installed();
};

/// Blocks that are allocated now, and launches so far.
struct Counts {
  std::int64_t blocks, launches;
};
Counts counts();

/// Whether the process may read this address now.
bool is_readable(const void* p);

}  // namespace sim
