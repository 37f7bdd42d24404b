// The functions of the CUDA runtime, of the library's driver and of a Backend that the stand-in needs (stand_in.hpp).
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cuda/driver/device.hpp"
#include "cuda/driver/memory.hpp"
#include "cuda/driver/pinned.hpp"
#include "cuda/driver/uploads.hpp"
#include "tandem/base/error.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/core/op.hpp"
#include "tandem/ops/transfer.hpp"
#include "tests/data_gpu/stand_in.hpp"

using Work = std::function<void()>;

struct CUstream_st {
  std::deque<Work> work;
  std::int64_t given = 0, done = 0;
};
// Behind what a stream had been given when it was recorded.
struct CUevent_st {
  cudaStream_t stream = nullptr;
  std::int64_t position = 0;
};

namespace stand_in {
namespace {

using namespace tandem;

struct Gpu {
  std::recursive_mutex mutex;  // guards what follows; work runs with it held
  std::vector<cudaStream_t> streams;
  cuda::Queue queue{};
  Counts counts{};
  std::map<void*, std::size_t> pinned, device;
  std::map<std::string, int> failures;  // by call: how often it does not fail before
};
Gpu& gpu() {
  static Gpu* const g = new Gpu;  // tensors may outlive every static
  return *g;
}
using Lock = std::lock_guard<std::recursive_mutex>;
thread_local int current_device = 0;

void submit(cudaStream_t s, Work work) {
  const Lock lock(gpu().mutex);
  s->work.push_back(std::move(work));
  ++s->given;
}
void reach(cudaStream_t s, std::int64_t position) {
  while (s && s->done < position) {
    const Work next = std::move(s->work.front());
    s->work.pop_front();
    next();  // may run other streams, which wait for nothing that this one was given later
    ++s->done;
  }
}
bool fails(const char* call) {
  const auto found = gpu().failures.find(call);
  if (found == gpu().failures.end() || found->second-- > 0) return false;
  gpu().failures.erase(found);
  return true;
}

void wait(int) {
  const Lock lock(gpu().mutex);
  ++gpu().counts.waits;
  reach(gpu().queue.stream, gpu().queue.stream->given);
}
void copy(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes) {
  if (from_device.kind != Device::gpu) {  // pageable memory has been read when this returns
    const std::vector<char> read(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
    return submit(gpu().queue.stream, [=] { std::memcpy(to, read.data(), bytes); });
  }
  submit(gpu().queue.stream, [=] { std::memcpy(to, from, bytes); });
  if (to_device.kind != Device::gpu) wait(0);
}
// A kernel has its operands, their specs and what lies on the host by value, as a launch.
struct Launch {
  const OpDef* op;
  std::size_t inputs;
  Attrs attrs;
  std::vector<Operand> operands;
  std::vector<Spec> specs;
  std::vector<std::vector<char>> on_host;

  Launch(const OpDef& o, const KernelCall& call) : op(&o), inputs(call.in.size()), attrs(call.attrs) {
    operands.assign(call.in.begin(), call.in.end());
    operands.insert(operands.end(), call.out.begin(), call.out.end());
    for (const Operand& x : operands) {
      const char* const data = static_cast<const char*>(x.data);
      const bool is_host = x.spec->device.kind == Device::cpu;
      specs.push_back(*x.spec);
      on_host.emplace_back(data, data + (is_host ? x.spec->bytes() : 0));
    }
  }
  void operator()() {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      operands[i].spec = &specs[i];
      if (specs[i].device.kind == Device::cpu) operands[i].data = on_host[i].data();
    }
    const Span<const Operand> all(operands);
    op->cpu({all.first(inputs), all.subspan(inputs), attrs, nullptr, op->name, {}});
  }
};
void launch(const OpDef& op, const KernelCall& call, Stream) {
  if (&op == &transfer_op) return op.cpu(call);  // calls copy()
  const Lock lock(gpu().mutex);
  ++gpu().counts.kernels;
  submit(gpu().queue.stream, Launch(op, call));
}
const Backend backend{.count = [] { return 1; },
                      .why_off = [] { return ""; },
                      .allocate = &cuda::allocate,
                      .release = &cuda::release,
                      .copy = &copy,
                      .launch = &launch,
                      .synchronize = &wait,
                      .has_kernel = [](const OpDef& op) { return op.cpu && !op.workspace; },
                      .uses_workspace = false,
                      .memory_info = &cuda::memory_info_of,
                      .set_memory_limit = &cuda::limit_memory,
                      .uploads = &cuda::uploads};

}  // namespace

Installed::Installed() {
  if (!gpu().queue.stream) (void)cudaStreamCreateWithFlags(&gpu().queue.stream, cudaStreamNonBlocking);
  backends[Device::gpu] = &backend;
}
Installed::~Installed() {
  run_all();
  cuda::trim_memory(0);
  backends[Device::gpu] = nullptr;
}
void run_copies() {
  const Lock lock(gpu().mutex);
  for (cudaStream_t s : gpu().streams)
    if (s != gpu().queue.stream) reach(s, s->given);
}
void run_all() {
  run_copies();
  const Lock lock(gpu().mutex);
  reach(gpu().queue.stream, gpu().queue.stream->given);
}
std::int64_t trim() {
  cuda::trim_chunks(0);
  return cuda::trim_memory(0);
}
void select(int device) { current_device = device; }
int selected() { return current_device; }
void fail(const char* call, int after) {
  const Lock lock(gpu().mutex);
  gpu().failures[call] = after;
}
Counts counts() {
  const Lock lock(gpu().mutex);
  return gpu().counts;
}

}  // namespace stand_in

namespace TANDEM_NS::cuda {

void use_device(int device) { stand_in::select(device); }
const Queue& queue(int) { return stand_in::gpu().queue; }
void check(cudaError_t status, const char* op, const char* what) {
  if (status != cudaSuccess) errors::raise<errors::CudaError>(op, what);
}

}  // namespace TANDEM_NS::cuda

extern "C" {

using stand_in::gpu, stand_in::Lock, stand_in::fails;

cudaError_t cudaSetDevice(int device) { return stand_in::select(device), cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = stand_in::selected(), cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) {
  const Lock lock(gpu().mutex);
  return gpu().streams.push_back(*s = new CUstream_st), cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  const Lock lock(gpu().mutex);
  return stand_in::reach(s, s->given), cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  const Lock lock(gpu().mutex);
  if (fails("cudaStreamWaitEvent")) return cudaErrorUnknown;
  stand_in::submit(s, [event = *e] { stand_in::reach(event.stream, event.position); });
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  const Lock lock(gpu().mutex);
  if (fails("cudaEventCreateWithFlags")) return cudaErrorUnknown;
  return ++gpu().counts.events, *e = new CUevent_st, cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  const Lock lock(gpu().mutex);
  return --gpu().counts.events, delete e, cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  const Lock lock(gpu().mutex);
  if (fails("cudaEventRecord")) return cudaErrorUnknown;
  return *e = {s, s->given}, cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  const Lock lock(gpu().mutex);
  return stand_in::reach(e->stream, e->position), cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
  const Lock lock(gpu().mutex);
  return !e->stream || e->stream->done >= e->position ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t s) {
  const Lock lock(gpu().mutex);
  if (fails("cudaMemcpyAsync")) return cudaErrorUnknown;
  ++gpu().counts.copies;
  return stand_in::submit(s, [=] { std::memcpy(to, from, bytes); }), cudaSuccess;
}
cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  const Lock lock(gpu().mutex);
  if (fails("cudaHostAlloc")) return cudaErrorMemoryAllocation;
  gpu().pinned[*p = std::malloc(bytes)] = bytes;
  gpu().counts.pinned += static_cast<std::int64_t>(bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  const Lock lock(gpu().mutex);
  const auto found = gpu().pinned.find(p);
  gpu().counts.pinned -= static_cast<std::int64_t>(found->second);
  gpu().pinned.erase(found);
  return std::free(p), cudaSuccess;
}
// Fresh memory is full of something: what is not copied is found out.
cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  const Lock lock(gpu().mutex);
  gpu().device[*p = std::aligned_alloc(256, (bytes + 255) / 256 * 256)] = bytes;
  gpu().counts.device += static_cast<std::int64_t>(bytes);
  return std::memset(*p, 0xa5, bytes), cudaSuccess;
}
// Waits for the device.
cudaError_t cudaFree(void* p) {
  stand_in::run_all();
  const Lock lock(gpu().mutex);
  const auto found = gpu().device.find(p);
  gpu().counts.device -= static_cast<std::int64_t>(found->second);
  gpu().device.erase(found);
  return std::free(p), cudaSuccess;
}

}  // extern "C"
