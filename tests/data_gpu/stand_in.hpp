// A GPU of host memory whose streams are as late as a GPU may be: what a stream was given runs when something waits for
// it, and of other streams only what that waits for. So each missing event shows: a chunk or block that is used again
// too early has other contents when its copy or kernel runs at last, and a kernel that does not wait for a copy reads
// what was there before. Kernels are those of the CPU. Not here: tests.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stand_in {

/// GPU:0 exists during the lifetime of this object.
class Installed {
 public:
  Installed();
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  ~Installed();
};

/// Runs all that the streams but the compute stream were given, or all streams: an order that a GPU may choose, too.
void run_copies();
void run_all();

/// As cuda::trim.
std::int64_t trim();

/// Selects a device for this thread, and says which one is selected.
void select(int device);
int selected();

/// From now on the call of this name fails at its (n + 1)-th time, once: "cudaHostAlloc", for lack of memory.
void fail(const char* call, int after = 0);

struct Counts {
  std::int64_t pinned;           // bytes of page-locked memory
  std::int64_t device;           // bytes of the device that the driver has given
  std::int64_t events;           // that exist
  std::int64_t copies, kernels;  // given to streams so far
  std::int64_t waits;            // of the host for the compute stream
};
Counts counts();

}  // namespace stand_in
