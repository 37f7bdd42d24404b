// The functions of the CUDA runtime, of the library's driver and of a Backend that the stand-in needs (stand_in.hpp).
#include "tests/distribute_nccl/runtime.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "cuda/driver/after_wait.hpp"
#include "cuda/queue.hpp"
#include "tandem/base/error.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/core/op.hpp"
#include "tests/distribute_nccl/stand_in.hpp"

struct CUstream_st {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  bool is_busy = false, ends = false;
  std::thread thread{[this] { run(); }};

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return ends || !work.empty(); });
      if (work.empty()) return;
      const std::function<void()> next = std::move(work.front());
      work.pop_front();
      is_busy = true;
      lock.unlock();
      next();
      lock.lock();
      is_busy = false;
      changed.notify_all();
    }
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return work.empty() && !is_busy; });
  }
};

// What was recorded, and what of it has been reached.
struct CUevent_st {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    int recorded = 0, reached = 0;
  };
  std::shared_ptr<State> state = std::make_shared<State>();
};

namespace stand_in {
namespace {

using namespace tandem;

thread_local int device = 0;

struct Gpu {
  cuda::Queue queue{};
  std::atomic<std::int64_t> waits{0};
  std::atomic<bool> refuses_questions{false};
  std::mutex mutex;  // guards `asked`
  std::vector<cuda::AfterWait*> asked;
};
std::array<Gpu, gpus>* all = nullptr;
Gpu& gpu(int index) { return (*all)[static_cast<std::size_t>(index)]; }

void wait(int index) {
  ++gpu(index).waits;
  gpu(index).queue.stream->wait();
  const std::lock_guard lock(gpu(index).mutex);
  for (cuda::AfterWait* a : gpu(index).asked) a->raise_errors();
}
void* allocate(std::size_t bytes, int) {
  void* const p = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
  std::memset(p, 0xa5, bytes);
  return p;
}
void release(void* p, std::size_t, int index) {
  submit(gpu(index).queue.stream, [p] { std::free(p); });
}
void copy(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes) {
  const int index = to_device.kind == Device::gpu ? to_device.index : from_device.index;
  if (from_device.kind != Device::gpu) {  // the host's memory may change as soon as this returns
    auto copied = std::make_shared<std::vector<char>>(bytes);
    std::memcpy(copied->data(), from, bytes);
    return submit(gpu(index).queue.stream, [=] { std::memcpy(to, copied->data(), bytes); });
  }
  submit(gpu(index).queue.stream, [=] { std::memcpy(to, from, bytes); });
  if (to_device.kind != Device::gpu) wait(index);
}
// A kernel of the CPU runs at once, on a device that has nothing else to do; a collective is as asynchronous as on a
// GPU. Its function is the one for GPUs too, which a library without CUDA has not: library_test.cpp looks for it.
void launch(const OpDef& op, const KernelCall& call, Stream stream) {
  KernelCall c = call;
  c.stream = {stream.device, &gpu(stream.device.index).queue};
  if (!op.flags.collective) gpu(stream.device.index).queue.stream->wait();
  op.cpu(c);
}
const Backend backend{.count = [] { return gpus; },
                      .why_off = [] { return ""; },
                      .allocate = &allocate,
                      .release = &release,
                      .copy = &copy,
                      .launch = &launch,
                      .synchronize = &wait,
                      .has_kernel = [](const OpDef& op) { return op.cpu != nullptr; },
                      .uses_workspace = true};

}  // namespace

Installed::Installed() {
  all = new std::array<Gpu, gpus>;
  for (int i = 0; i < gpus; ++i) gpu(i).queue.device = i, gpu(i).queue.stream = new CUstream_st;
  backends[Device::gpu] = &backend;
}
Installed::~Installed() {
  backends[Device::gpu] = nullptr;
  for (int i = 0; i < gpus; ++i) cudaStreamDestroy(gpu(i).queue.stream);
  delete all;
}
std::int64_t waits(int index) { return gpu(index).waits; }
void submit(cudaStream_t stream, std::function<void()> work) {
  const std::lock_guard lock(stream->mutex);
  stream->work.push_back(std::move(work));
  stream->changed.notify_all();
}
int current_device() { return device; }
void refuse_questions(int index) { gpu(index).refuses_questions = true; }

}  // namespace stand_in

namespace TANDEM_NS::cuda {

void use_device(int index) { stand_in::device = index; }
void check(cudaError_t status, const char* op, const char* what) {
  if (status != cudaSuccess) errors::raise<errors::CudaError>(op, what);
}
void add_after_wait(int device, AfterWait& asked) {
  if (stand_in::gpu(device).refuses_questions) errors::raise<errors::ResourceExhaustedError>("nccl", "no room");
  const std::lock_guard lock(stand_in::gpu(device).mutex);
  stand_in::gpu(device).asked.push_back(&asked);
}
void remove_after_wait(int device, AfterWait& asked) {
  const std::lock_guard lock(stand_in::gpu(device).mutex);
  std::erase(stand_in::gpu(device).asked, &asked);
}

}  // namespace TANDEM_NS::cuda

extern "C" {

cudaError_t cudaSetDevice(int index) { return stand_in::device = index, cudaSuccess; }
cudaError_t cudaDeviceGetPCIBusId(char* text, int room, int index) {
  std::snprintf(text, static_cast<std::size_t>(room), "0000:0%d:00.0", index);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) { return *s = new CUstream_st, cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  {
    const std::lock_guard lock(s->mutex);
    s->ends = true;
    s->changed.notify_all();
  }
  s->thread.join();
  delete s;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return *e = new CUevent_st, cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t e) { return delete e, cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  const auto state = e->state;
  int number = 0;
  {
    const std::lock_guard lock(state->mutex);
    number = ++state->recorded;
  }
  stand_in::submit(s, [=] {
    const std::lock_guard lock(state->mutex);
    state->reached = number;
    state->changed.notify_all();
  });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  const auto state = e->state;
  int number = 0;
  {
    const std::lock_guard lock(state->mutex);
    number = state->recorded;
  }
  stand_in::submit(s, [=] {
    std::unique_lock lock(state->mutex);
    state->changed.wait(lock, [&] { return state->reached >= number; });
  });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
  const std::lock_guard lock(e->state->mutex);
  return e->state->reached >= e->state->recorded ? cudaSuccess : cudaErrorNotReady;
}

}  // extern "C"
