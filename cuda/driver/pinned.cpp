#include "cuda/driver/pinned.hpp"

#include <array>
#include <mutex>
#include <string>

#include "cuda/driver/device.hpp"
#include "tandem/base/error.hpp"

namespace TANDEM_NS::cuda {
namespace {

// A queue: the oldest is taken first, whose copy has most likely ended. Never destroyed, as those of the device's
// memory.
struct Pool {
  static constexpr std::size_t most = 8;
  std::mutex mutex;
  std::array<Chunk, most> free;
  std::size_t first = 0, count = 0;

  bool put(const Chunk& c) {
    const std::lock_guard lock(mutex);
    if (count == most) return false;
    free[(first + count++) % most] = c;
    return true;
  }
  bool take(Chunk& c) {
    const std::lock_guard lock(mutex);
    if (count == 0) return false;
    --count;
    c = free[first++ % most];
    first %= most;
    return true;
  }
};
Pool& pool_of(int device) {
  static Pool* const pools = new Pool[max_devices];
  return pools[device];
}

void destroy(const Chunk& c) noexcept {
  if (c.copied) (void)cudaEventSynchronize(c.copied), (void)cudaEventDestroy(c.copied);
  (void)cudaFreeHost(c.data);
  (void)cudaGetLastError();
}

}  // namespace

Chunk take_chunk(int device) {
  Chunk c;
  if (pool_of(device).take(c)) return c;
  if (const cudaError_t status = cudaHostAlloc(&c.data, chunk_bytes, cudaHostAllocDefault); status != cudaSuccess) {
    if (status != cudaErrorMemoryAllocation) check(status, "copy", "page-locked memory");
    (void)cudaGetLastError();
    errors::raise<errors::ResourceExhaustedError>("copy", "the system does not lock " + std::to_string(chunk_bytes) +
                                                              " more bytes of its memory for copies to GPU:" +
                                                              std::to_string(device) + "; x.to(device) copies without");
  }
  // A thread that waits for it sleeps: the wait may be as long as a step of a training.
  const cudaError_t status = cudaEventCreateWithFlags(&c.copied, cudaEventDisableTiming | cudaEventBlockingSync);
  if (status != cudaSuccess) destroy(c);
  check(status, "copy", "event");
  return c;
}
void give_chunk(int device, const Chunk& chunk) noexcept {
  if (!pool_of(device).put(chunk)) destroy(chunk);
}
void trim_chunks(int device) {
  for (Chunk c; pool_of(device).take(c);) destroy(c);
}

}  // namespace TANDEM_NS::cuda
