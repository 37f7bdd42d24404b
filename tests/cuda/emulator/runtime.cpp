// The functions of the CUDA runtime that the library calls, on the emulated device. Streams do everything at once; a
// graph is the work of a stream that captured it.
#include <cuda_runtime.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "tests/cuda/emulator/memory.hpp"
#include "tests/cuda/emulator/stream.hpp"

namespace emulator {
namespace {

constexpr std::size_t region_bytes = std::size_t(1) << 30;
constexpr int device_number = 3;  // one region serves all; the kernels were not built for the last one
thread_local int current_device = 0;
thread_local bool is_current = false;  // a context, as the functions of the driver need: once a device was selected
cudaError_t failure = cudaSuccess;     // of a kernel that ran: what the next wait or request for memory finds
cudaError_t last_error = cudaSuccess;
const void* managed = nullptr;
int peer_accesses = 0;
constexpr unsigned char poison = 0xa5;  // fresh memory: a kernel that relies on zeros is found out

struct Region {
  char* begin;
  int unlocked = 0;
  std::map<std::size_t, std::size_t> taken;  // offset to bytes

  Region()
      : begin(static_cast<char*>(
            mmap(nullptr, region_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    (void)madvise(begin, region_bytes, MADV_HUGEPAGE);  // what protect() takes depends on the number of pages in use
  }
  void protect(int how) {
    if (mprotect(begin, region_bytes, how)) std::abort();
  }
};
Region& region() {
  static auto* const r = new Region;
  return *r;
}

}  // namespace

Unlocked::Unlocked() {
  if (region().unlocked++ == 0) region().protect(PROT_READ | PROT_WRITE);
}
Unlocked::~Unlocked() {
  if (--region().unlocked == 0) region().protect(PROT_NONE);
}
void* take(std::size_t bytes) {
  Region& r = region();
  const std::size_t room = (bytes + 255) / 256 * 256;
  std::size_t at = 0;
  for (const auto& [offset, size] : r.taken) {
    if (offset - at >= room) break;
    at = offset + size;
  }
  if (at + room > region_bytes) return nullptr;
  r.taken[at] = room;
  const Unlocked unlocked;
  std::memset(r.begin + at, poison, room);
  return r.begin + at;
}
void give_back(void* p) {
  if (!p) return;
  constexpr std::size_t page = 4096, large = std::size_t(1) << 20;
  Region& r = region();
  const auto block = r.taken.find(static_cast<std::size_t>(static_cast<char*>(p) - r.begin));
  if (block == r.taken.end()) std::abort();
  const std::size_t begin = (block->first + page - 1) / page * page, end = (block->first + block->second) / page * page;
  if (block->second >= large) (void)madvise(r.begin + begin, end - begin, MADV_DONTNEED);
  r.taken.erase(block);
}

bool is_device(const void* p) {
  const char* const at = static_cast<const char*>(p);
  return at >= region().begin && at < region().begin + region_bytes;
}

bool has_context() { return is_current; }
bool supports_device() { return current_device < device_number - 1; }
void fail() { failure = cudaErrorIllegalAddress; }
bool has_crashed() {
  if (failure == cudaSuccess) return false;
  last_error = std::exchange(failure, cudaSuccess);
  return true;
}
void set_managed(const void* p) { managed = p; }
int peer_access_requests() { return peer_accesses; }
std::size_t taken_bytes() {
  std::size_t n = 0;
  for (const auto& [offset, size] : region().taken) n += size;
  return n;
}

}  // namespace emulator

using Graph = std::vector<std::function<void()>>;

extern "C" {

cudaError_t cudaGetDeviceCount(int* n) { return *n = emulator::device_number, cudaSuccess; }
cudaError_t cudaSetDevice(int device) {
  emulator::is_current = true;
  return emulator::current_device = device, cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) { return *device = emulator::current_device, cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
  return *value = what == cudaDevAttrPageableMemoryAccess ? 0 : 9, cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int, int) { return *text = 0, cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 1, cudaSuccess; }
// Each second access is one peer too many.
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return ++emulator::peer_accesses % 2 ? cudaSuccess : cudaErrorTooManyPeers;
}
const char* cudaGetErrorString(cudaError_t e) {
  return e == cudaErrorMemoryAllocation ? "out of memory" : "an emulated error";
}
cudaError_t cudaGetLastError() { return std::exchange(emulator::last_error, cudaSuccess); }
cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  if (emulator::failure != cudaSuccess) return std::exchange(emulator::failure, cudaSuccess);
  *p = emulator::take(bytes);
  return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void* p) { return emulator::give_back(p), cudaSuccess; }
cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) { return *p = std::calloc(1, bytes), cudaSuccess; }
cudaError_t cudaFreeHost(void* p) { return std::free(p), cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) { return *s = new CUstream_st, cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t s) { return delete s, cudaSuccess; }
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) { return s->captures = true, cudaSuccess; }
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* graph) {
  *graph = reinterpret_cast<cudaGraph_t>(new Graph(std::exchange(s->captured, {})));
  return s->captures = false, cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* e, cudaGraph_t graph, unsigned long long) {
  *e = reinterpret_cast<cudaGraphExec_t>(new Graph(*reinterpret_cast<Graph*>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete reinterpret_cast<Graph*>(graph), cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t e) { return delete reinterpret_cast<Graph*>(e), cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t stream) {
  for (const auto& work : *reinterpret_cast<Graph*>(e)) emulator::submit(stream, work);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  const cudaError_t found = emulator::failure;
  emulator::failure = cudaSuccess;
  return found;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return *e = nullptr, cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
  a->type = p == emulator::managed ? cudaMemoryTypeManaged : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  emulator::submit(stream, [=] {
    const emulator::Unlocked unlocked;
    std::memmove(to, from, bytes);
  });
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t s) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s);
}
cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t stream) {
  return cudaMemset2DAsync(p, bytes, value, bytes, 1, stream);
}
cudaError_t cudaMemset2DAsync(void* p, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  emulator::submit(stream, [=] {
    const emulator::Unlocked unlocked;
    for (std::size_t i = 0; i < height; ++i) std::memset(static_cast<char*>(p) + i * pitch, value, width);
  });
  return cudaSuccess;
}

}  // extern "C"
