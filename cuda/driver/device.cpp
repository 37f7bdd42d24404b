// Device detection, the devices' queues, synchronization, and conversion of device faults into errors.
#include "cuda/driver/device.hpp"

#include <pthread.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/driver/capture.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/driver/memory.hpp"
#include "tandem/base/error.hpp"

namespace TANDEM_NS::cuda {
namespace {

std::string driver_trouble() {
  const Library<Driver>& d = driver();
  if (!d.is_open()) return "no NVIDIA driver: " + d.error;
  const CUresult status = d.functions.init(0);
  if (status == CUDA_SUCCESS) return {};
  const char* text = nullptr;
  d.functions.error_string(status, &text);
  return std::string("the NVIDIA driver failed to initialize: ") + (text ? text : "unknown error");
}
std::string version(int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); }
std::string runtime_trouble(cudaError_t status) {
  std::string s = cudaGetErrorString(status);
  int has = 0;
  if (status == cudaErrorInsufficientDriver && driver().functions.version(&has) == CUDA_SUCCESS)
    s += " (the driver supports CUDA " + version(has) + ", the library was built with " + version(CUDART_VERSION) + ")";
  return s;
}
// Of the current device. A library built for other architectures fails at its first kernel, so this is checked in
// advance: of device 0 at once, of the others when they are first used, because a check occupies memory of the device.
std::string architecture_trouble(int device) {
  if (const cudaError_t status = probe(); status != cudaSuccess) {
    (void)cudaGetLastError();
    int major = 0, minor = 0;
    (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    return "its kernels were not built for compute capability " + std::to_string(major) + "." + std::to_string(minor) +
           ": " + cudaGetErrorString(status) + " (see CMAKE_CUDA_ARCHITECTURES)";
  }
  return {};
}
// Of a device that need not be the current one; the calling thread keeps the one that it has selected.
std::string trouble_of(int device) {
  int current = 0;
  cudaError_t status = cudaGetDevice(&current);
  if (status == cudaSuccess && current != device) status = cudaSetDevice(device);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    return "GPU:" + std::to_string(device) + " cannot be selected: " + cudaGetErrorString(status);
  }
  std::string trouble = architecture_trouble(device);
  if (current != device && cudaSetDevice(current) != cudaSuccess) (void)cudaGetLastError();
  return trouble;
}
Devices look() {
  Devices d;
  d.why_off = driver_trouble();
  if (!d.why_off.empty()) return d;
  const cudaError_t status = cudaGetDeviceCount(&d.count);
  if (status != cudaSuccess || d.count == 0) {
    d.why_off = status != cudaSuccess ? runtime_trouble(status) : "the driver found no device";
    d.count = 0;
    return d;
  }
  d.count = std::min(d.count, max_devices);
  d.why_off = trouble_of(0);
  if (!d.why_off.empty()) d.count = 0;
  return d;
}

// What this thread has selected last, or -1.
thread_local int selected = -1;

// Whether this process is a child, and its parent had used a GPU: the driver does not work in it.
std::atomic<bool> in_child{false};

Queue make_queue(int device) {
  [[maybe_unused]] static const int once = pthread_atfork(nullptr, nullptr, [] { in_child = true; });
  if (const std::string trouble = device ? architecture_trouble(device) : std::string(); !trouble.empty())
    errors::raise<errors::UnavailableError>("device",
                                            "GPU:" + std::to_string(device) + " cannot be used: " + trouble +
                                                "; config::set_visible_devices or CUDA_VISIBLE_DEVICES leave it out");
  Queue q{device, nullptr, nullptr, nullptr, false};
  void* page = nullptr;
  int pageable = 0;
  check(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, device), "device", "attributes");
  q.reads_pageable = pageable != 0;
  check(cudaEventCreateWithFlags(&q.event, cudaEventDisableTiming), "device", "event");
  check(cudaStreamCreateWithFlags(&q.stream, cudaStreamNonBlocking), "device", "stream");
  check(cudaHostAlloc(&page, sizeof(Fault), cudaHostAllocMapped), "device", "page for errors");
  q.fault = ::new (page) Fault{};
  return q;
}

// The ops launched on a device, of which the last ones are kept by name. Those up to `ended` have run.
struct Launches {
  static constexpr u64 kept = 8;
  std::atomic<u64> count{0}, ended{0};
  std::atomic<const char*> names[kept] = {};

  void add(const char* op) { names[count.fetch_add(1) % kept].store(op, std::memory_order_relaxed); }
  /// "matmul, relu", "... matmul, relu": what may be running, the last 8 of it.
  std::string running() const {
    const u64 end = count.load(), begin = std::max(ended.load(), end > kept ? end - kept : 0);
    std::string s = begin > ended.load() ? "..." : "";
    for (u64 i = begin; i < end; ++i)
      if (const char* op = names[i % kept].load(std::memory_order_relaxed))
        s += (s.empty() ? "" : s == "..." ? " " : ", ") + std::string(op);
    return s;
  }
};
Launches& launches_of(int device) {
  static Launches* const all = new Launches[max_devices];
  return all[device];
}
std::atomic<bool>& blocking() {
  static std::atomic<bool> value{[] {
    const char* const wish = std::getenv("TANDEM_CUDA_LAUNCH_BLOCKING");
    return wish && std::string(wish) == "1";
  }()};
  return value;
}
[[noreturn]] void raise_asynchronous(cudaError_t status) {
  std::string ops;
  for (int d = 0; d < devices().count; ++d)
    if (const std::string s = launches_of(d).running(); !s.empty())
      ops += (ops.empty() ? "GPU:" : "; GPU:") + std::to_string(d) + ": " + s;
  errors::raise<errors::CudaError>(
      "device", std::string("an op launched before failed: ") + cudaGetErrorString(status) + " (launched since the " +
                    "last wait: " + (ops.empty() ? "none" : ops) +
                    "; TANDEM_CUDA_LAUNCH_BLOCKING=1 or cuda::set_launch_blocking(true) finds out which)");
}

// Takes the fault that kernels have reported, so that one bad index does not affect later calls. Threads share the
// page, as they share the queue: the first that waits gets the fault.
std::optional<Fault> take_fault(const Queue& q) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const std::atomic_ref found(q.fault->found);
  if (found.load(std::memory_order_acquire) != 2) return {};
  const Fault f = *q.fault;
  found.store(0, std::memory_order_release);
  return f;
}
// Raises the fault, if any; called after a wait.
void raise_fault(const Queue& q) {
  const std::optional<Fault> taken = take_fault(q);
  if (!taken) return;
  const Fault& f = *taken;
  const std::string found = " (found on GPU:" + std::to_string(q.device) + "; ";
  if (f.what)
    errors::raise<errors::InvalidArgumentError>(
        f.op, f.unit + (" " + std::to_string(f.position) + " ") + f.what + found + "the result there is invalid)");
  errors::raise<errors::InvalidArgumentError>(
      f.op, (f.unit ? f.unit : "index") + (" " + std::to_string(f.index)) + " at position " +
                std::to_string(f.position) + " is out of range [" + std::to_string(f.low) + ", " +
                std::to_string(f.limit) + ")" + found + "the result is zero there)");
}

struct AskedAfterWait {
  std::mutex mutex;
  std::vector<AfterWait*> all;
};
AskedAfterWait& asked_after_wait(int device) {
  static AskedAfterWait* const of_device = new AskedAfterWait[max_devices];
  return of_device[device];
}
void raise_after_wait(int device) {
  AskedAfterWait& a = asked_after_wait(device);
  const std::lock_guard lock(a.mutex);
  for (AfterWait* asked : a.all) asked->raise_errors();
}

}  // namespace

const Devices& devices() {
  static const auto* const d = new Devices(look());
  return *d;
}

// The runtime's own value counts: other code of the program may have selected another device. A thread that has
// selected none has device 0, but not its context, which functions of the driver need.
void use_device(int device) {
  if (in_child.load(std::memory_order_relaxed))
    errors::raise<errors::UnavailableError>(
        "device",
        "a GPU cannot be used in a process that fork() made after its parent had used one (fork earlier, or use exec)");
  int current = -1;
  check(cudaGetDevice(&current), "device", "selection");
  if (current == device && selected == device) return;
  check(cudaSetDevice(device), "device", "selection");
  selected = device;
}

const Queue& queue(int device) {
  static Queue* const queues = new Queue[max_devices];
  static std::once_flag* const once = new std::once_flag[max_devices];
  use_device(device);
  std::call_once(once[device], [=] { queues[device] = make_queue(device); });
  return queues[device];
}

void wait(int device) {
  if (Capture::current(device)) errors::raise<errors::UnimplementedError>("device", "a wait cannot be captured");
  const Queue& q = queue(device);
  Launches& ops = launches_of(device);
  const u64 before = ops.count.load();
  check(cudaStreamSynchronize(q.stream), "device", "wait");
  for (u64 ended = ops.ended.load(); ended < before && !ops.ended.compare_exchange_weak(ended, before);) continue;
  raise_fault(q);
  raise_after_wait(device);
}

void add_after_wait(int device, AfterWait& asked) {
  AskedAfterWait& a = asked_after_wait(device);
  const std::lock_guard lock(a.mutex);
  a.all.push_back(&asked);
}
void remove_after_wait(int device, AfterWait& asked) {
  AskedAfterWait& a = asked_after_wait(device);
  const std::lock_guard lock(a.mutex);
  std::erase(a.all, &asked);
}

void launching(int device, const char* op) { launches_of(device).add(op); }
void launched(int device, const char* op) {
  if (!blocking().load(std::memory_order_relaxed)) return;
  const Queue& q = queue(device);
  if (const cudaError_t status = cudaStreamSynchronize(q.stream); status != cudaSuccess) {
    (void)cudaGetLastError();
    errors::raise<errors::CudaError>(
        op, std::string("failed on GPU:") + std::to_string(device) + ": " + cudaGetErrorString(status));
  }
  wait(device);
}
void set_blocking(bool value) { blocking() = value; }
bool is_blocking() { return blocking(); }

std::atomic<std::uint64_t>& hidden_waits() {
  static std::atomic<std::uint64_t> n{0};
  return n;
}

void check_device(const char* function, int device) {
  const Devices& d = devices();
  if (device >= 0 && device < d.count) return;
  if (d.count == 0) errors::raise<errors::UnavailableError>(function, "no CUDA device: " + d.why_off);
  errors::raise<errors::InvalidArgumentError>(
      function, "GPU:" + std::to_string(device) + " does not exist; there are " + std::to_string(d.count));
}

bool is_asynchronous(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

void check(cudaError_t status, const char* op, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // else the next launch would report it again
  if (is_asynchronous(status)) raise_asynchronous(status);
  errors::raise<errors::CudaError>(op, std::string(what) + ": " + cudaGetErrorString(status));
}

Scratch::Scratch(const KernelCall& c, std::size_t bytes) : device_(queue_of(c).device), bytes_(bytes), data_(nullptr) {
  if (!bytes) return;
  Capture* const capture = Capture::current(device_);
  data_ = capture ? capture->allocate(bytes) : allocate(bytes, device_);
}
Scratch::~Scratch() {
  if (!data_) return;
  if (Capture* const capture = Capture::current(device_)) capture->release(data_);
  else release(data_, bytes_, device_);
}

}  // namespace TANDEM_NS::cuda
