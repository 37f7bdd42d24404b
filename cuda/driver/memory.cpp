// The device memory cache. Small blocks are carved from slabs, because the driver allocates 2 MiB at a time.
#include "cuda/driver/memory.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/driver/device.hpp"
#include "tandem/base/error.hpp"

namespace TANDEM_NS::cuda {
namespace {

using memory::class_of;
using memory::class_size;
using memory::classes;

constexpr std::size_t smallest = 1024;  // above this, every class is a multiple of 256 bytes
constexpr std::size_t slab = std::size_t(2) << 20;
constexpr std::size_t largest_in_slab = slab / 16;

struct Block {
  Block* next;
  void* data;
};

// Never destroyed: tensors may outlive every static.
struct Pool {
  std::mutex mutex;
  Block* free[classes] = {};
  Block* spare = nullptr;  // list nodes for reuse; the blocks themselves are on the device
  std::vector<char*> slabs[classes];
  memory::Info info;
};

Pool& pool_of(int device) {
  static Pool* const pools = new Pool[max_devices];
  return pools[device];
}
int class_for(std::size_t bytes) { return class_of(bytes < smallest ? smallest : bytes); }
std::int64_t signed_size(int cls) { return static_cast<std::int64_t>(class_size(cls)); }
// What a request counts as live, and against the limit: without what its block has more than it needs.
std::int64_t counted(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  return static_cast<std::int64_t>((std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment);
}

void push(Pool& p, int cls, void* data) {
  Block* b = p.spare;
  if (b) p.spare = b->next;
  else b = new Block;
  *b = {p.free[cls], data};
  p.free[cls] = b;
  p.info.cached += signed_size(cls);
}
void* pop(Pool& p, int cls) {
  Block* b = p.free[cls];
  if (!b) return nullptr;
  p.free[cls] = b->next;
  p.info.cached -= signed_size(cls);
  void* data = b->data;
  b->next = p.spare;
  p.spare = b;
  return data;
}

// Makes list nodes for so many more blocks.
void reserve_nodes(Pool& p, std::size_t count) {
  for (const Block* b = p.spare; b && count > 0; b = b->next) --count;
  for (; count > 0; --count) p.spare = new Block{p.spare, nullptr};
}

// Releases the slabs of a class of which every block is free.
std::int64_t trim_slabs(Pool& p, int cls) {
  const std::size_t size = class_size(cls), each = slab / size;
  std::vector<char*> blocks;
  blocks.reserve(p.slabs[cls].size() * each);  // what raises comes before what changes the pool
  while (void* data = pop(p, cls)) blocks.push_back(static_cast<char*>(data));
  std::sort(blocks.begin(), blocks.end());
  std::int64_t freed = 0;
  std::erase_if(p.slabs[cls], [&](char* begin) {
    const auto first = std::lower_bound(blocks.begin(), blocks.end(), begin);
    const auto end = std::lower_bound(first, blocks.end(), begin + slab);
    if (static_cast<std::size_t>(end - first) != each) return false;
    blocks.erase(first, end);
    (void)cudaFree(begin);
    freed += static_cast<std::int64_t>(slab);
    return true;
  });
  for (char* data : blocks) push(p, cls, data);
  return freed;
}
std::int64_t trim_locked(Pool& p) {
  std::int64_t freed = 0;
  for (int cls = 0; cls <= class_of(largest_in_slab); ++cls)
    if (p.free[cls]) freed += trim_slabs(p, cls);
  for (int cls = class_of(largest_in_slab) + 1; cls < classes; ++cls)
    while (void* data = pop(p, cls)) {
      (void)cudaFree(data);  // waits for the device; a failure here would only repeat an earlier one
      freed += signed_size(cls);
    }
  return freed;
}
// Null if the device has no memory left; raises what else is wrong, such as the failure of a kernel that ran before.
void* ask_device(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes);
  if (status != cudaErrorMemoryAllocation) check(status, "allocate", "memory of the device");
  else (void)cudaGetLastError();
  return data;
}
void* from_device(Pool& p, std::size_t bytes) {
  void* const data = ask_device(bytes);
  return data || !trim_locked(p) ? data : ask_device(bytes);
}
void* fresh(Pool& p, int cls) {
  const std::size_t size = class_size(cls);
  ++p.info.misses;
  if (size > largest_in_slab) return from_device(p, size);
  // What raises comes before the slab: one that is not in the lists would be lost.
  std::vector<char*>& slabs = p.slabs[cls];
  if (slabs.size() == slabs.capacity()) slabs.reserve(2 * slabs.size() + 1);
  reserve_nodes(p, slab / size);
  char* const data = static_cast<char*>(from_device(p, slab));
  if (!data) return nullptr;
  slabs.push_back(data);
  for (std::size_t at = size; at + size <= slab; at += size) push(p, cls, data + at);
  return data;
}
// What others hold of a device. Its lock is taken before theirs, and those before the pool's.
struct AllHeld {
  std::mutex mutex;
  std::vector<Held*> all;
};
AllHeld& held_of(int device) {
  static AllHeld* const of_device = new AllHeld[max_devices];
  return of_device[device];
}
bool empty_held(int device) {
  AllHeld& h = held_of(device);
  const std::lock_guard lock(h.mutex);
  bool some = false;
  for (Held* held : h.all) some |= held->empty();
  return some;
}

[[noreturn]] void raise_exhausted(const Pool& p, std::size_t bytes, int device, const std::string& why) {
  errors::raise<errors::ResourceExhaustedError>(
      "allocate", std::to_string(bytes) + " bytes on GPU:" + std::to_string(device) + " " + why +
                      " (live: " + std::to_string(p.info.live) + ", cached: " + std::to_string(p.info.cached) + ")");
}

void* allocate_once(std::size_t bytes, int device) {
  Pool& p = pool_of(device);
  const int cls = class_for(bytes);
  const std::lock_guard lock(p.mutex);
  if (p.info.limit && p.info.live + counted(bytes) > p.info.limit)
    raise_exhausted(p, bytes, device,
                    "would exceed the limit of " + std::to_string(p.info.limit) + "; see cuda::set_memory_limit");
  void* data = pop(p, cls);
  if (!data) data = fresh(p, cls);
  if (!data) raise_exhausted(p, bytes, device, "exceed the device's free memory");
  p.info.live += counted(bytes);
  if (p.info.live > p.info.peak) p.info.peak = p.info.live;
  return data;
}

}  // namespace

void* allocate(std::size_t bytes, int device) {
  use_device(device);
  try {
    return allocate_once(bytes, device);
  } catch (const errors::ResourceExhaustedError&) {
    if (!empty_held(device)) throw;
  }
  return allocate_once(bytes, device);
}
void release(void* data, std::size_t bytes, int device) {
  Pool& p = pool_of(device);
  const int cls = class_for(bytes);
  const std::lock_guard lock(p.mutex);
  push(p, cls, data);
  p.info.live -= counted(bytes);
}

memory::Info memory_info_of(int device) {
  Pool& p = pool_of(device);
  const std::lock_guard lock(p.mutex);
  return p.info;
}
void limit_memory(std::int64_t bytes, int device) {
  Pool& p = pool_of(device);
  const std::lock_guard lock(p.mutex);
  p.info.limit = bytes;
}
void reset_memory_peak(int device) {
  Pool& p = pool_of(device);
  const std::lock_guard lock(p.mutex);
  p.info.peak = p.info.live;
}
std::int64_t trim_memory(int device) {
  use_device(device);
  (void)empty_held(device);
  Pool& p = pool_of(device);
  const std::lock_guard lock(p.mutex);
  return trim_locked(p);
}

void add_held(int device, Held& held) {
  AllHeld& h = held_of(device);
  const std::lock_guard lock(h.mutex);
  h.all.push_back(&held);
}
void remove_held(int device, Held& held) {
  AllHeld& h = held_of(device);
  const std::lock_guard lock(h.mutex);
  std::erase(h.all, &held);
}

}  // namespace TANDEM_NS::cuda
