// The emulated device's memory: one region that no one may touch but kernels and copies.
#pragma once
#include <cstddef>

namespace emulator {

/// While one lives, device memory can be read and written. They nest.
class Unlocked {
 public:
  Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked();
};

void* take(std::size_t bytes);  // null when the region is full
void give_back(void* p);
bool is_device(const void* p);  // whether it is an address in the region
bool has_crashed();             // whether a kernel has failed, which cudaGetLastError() says next, and no wait

}  // namespace emulator
