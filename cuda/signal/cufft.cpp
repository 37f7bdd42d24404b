// Plans of cuFFT, one for each problem, and their execution. A plan has tables in device memory; its work area is
// scratch memory of the call. A device keeps the plans that were used last; a capture keeps those that it launches.
#include "cuda/signal/cufft.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cuda/driver/capture.hpp"
#include "cuda/driver/device.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/driver/memory.hpp"
#include "tandem/base/error.hpp"

namespace TANDEM_NS::cuda {
namespace {

std::string text_of(cufftResult status) {
  switch (status) {
    case CUFFT_ALLOC_FAILED: return "no memory";
    case CUFFT_INVALID_SIZE: return "a size that it does not support";
    case CUFFT_INVALID_VALUE: return "an invalid value";
    case CUFFT_INTERNAL_ERROR: return "an internal error";
    case CUFFT_EXEC_FAILED: return "the execution failed";
    case CUFFT_SETUP_FAILED: return "the library failed to initialize";
    case CUFFT_NOT_SUPPORTED: return "not supported";
    default: return "status " + std::to_string(static_cast<int>(status));
  }
}
void check_fft(cufftResult status, const char* op, const char* what) {
  if (status == CUFFT_SUCCESS) return;
  check(cudaGetLastError(), op, "cuFFT");  // of a kernel that ran before
  errors::raise<errors::CudaError>(op, std::string("cuFFT: ") + what + ": " + text_of(status));
}

// Whether the program ends: cuFFT may end before the plan of a graph that a static object holds.
std::atomic<bool> program_ends{false};
void watch_the_end() {
  static std::once_flag once;
  std::call_once(once, [] { (void)std::atexit([] { program_ends = true; }); });
}

// Its work may still run when it is destroyed.
class Plan {
 public:
  Plan(const Cufft& f, const Queue& q, const char* op) : f_(f), device_(q.device), stream_(q.stream) {
    check_fft(f.create(&handle_), op, "create");
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    if (program_ends) return;
    int current = -1;
    const bool works = cudaGetDevice(&current) == cudaSuccess && cudaSetDevice(device_) == cudaSuccess;
    if (works && cudaStreamSynchronize(stream_) == cudaSuccess) {
      ++hidden_waits();
      (void)f_.destroy(handle_);
    }
    if (works) (void)cudaSetDevice(current);
    (void)cudaGetLastError();
  }

  cufftResult make(const FourierRows& r, const char* op) {
    const bool from_real = r.kind == FourierKind::to_half, to_real = r.kind == FourierKind::from_half;
    const cudaDataType real = r.is_double ? CUDA_R_64F : CUDA_R_32F, complex = r.is_double ? CUDA_C_64F : CUDA_C_32F;
    const long long half = r.n / 2 + 1;
    long long n = r.n, from_size = to_real ? half : n, to_size = from_real ? half : n;
    check_fft(f_.set_auto_allocation(handle_, 0), op, "work area");
    return f_.make_plan(handle_, 1, &n, &from_size, r.step, r.from_row, from_real ? real : complex, &to_size, r.step,
                        r.to_row, to_real ? real : complex, r.rows, &work_, complex);
  }
  void execute(const KernelCall& c, bool inverse, void* from, void* to) const {
    const Scratch room(c, std::max<std::size_t>(work_, 1));
    check_fft(f_.set_stream(handle_, queue_of(c).stream), c.op, "stream");
    check_fft(f_.set_work_area(handle_, room.as<void>()), c.op, "work area");
    check_fft(f_.execute(handle_, from, to, inverse ? CUFFT_INVERSE : CUFFT_FORWARD), c.op, "transform");
    if (queue_of(c).stream != stream_) check_fft(f_.set_stream(handle_, stream_), c.op, "stream");  // a capture's ends
  }

 private:
  const Cufft& f_;
  int device_;
  cudaStream_t stream_;  // of the device
  cufftHandle handle_ = CUFFT_PLAN_NULL;
  std::size_t work_ = 0;
};

using Key = std::array<i64, 7>;
Key key_of(const FourierRows& r) {
  return {static_cast<i64>(r.kind), r.is_double, r.n, r.step, r.from_row, r.to_row, r.rows};
}

// What a device keeps. The lock is held while a transform is launched, because stream and work area are the plan's.
struct Kept {
  struct Entry {
    std::shared_ptr<const Plan> plan;
    u64 last_use;
  };
  std::mutex mutex;
  std::map<Key, Entry> plans;
  u64 uses = 0;

  void make_room() {
    if (plans.size() < most_fourier_plans) return;
    auto oldest = plans.begin();
    for (auto at = plans.begin(); at != plans.end(); ++at)
      if (at->second.last_use < oldest->second.last_use) oldest = at;
    plans.erase(oldest);
  }
};
Kept& kept_of(int device) {
  static Kept* const all = new Kept[max_devices];
  return all[device];
}

std::shared_ptr<const Plan> make_plan(const Cufft& f, const Queue& q, const FourierRows& r, const char* op) {
  watch_the_end();
  const std::string what = "a plan for " + std::to_string(r.rows) + " rows of " + std::to_string(r.n);
  for (bool again = false;; again = true) {
    const auto plan = std::make_shared<Plan>(f, q, op);
    const cufftResult status = plan->make(r, op);
    if (status == CUFFT_SUCCESS) return plan;
    // Any of these may be a lack of memory, which the cache may hold.
    const bool may_lack =
        status == CUFFT_ALLOC_FAILED || status == CUFFT_INTERNAL_ERROR || status == CUFFT_SETUP_FAILED;
    if (may_lack && !again && trim_memory(q.device)) continue;
    if (status == CUFFT_ALLOC_FAILED)
      errors::raise<errors::ResourceExhaustedError>(
          op, "cuFFT: " + what + ": no memory on GPU:" + std::to_string(q.device));
    check_fft(status, op, what.c_str());
  }
}

}  // namespace

void transform_rows(const KernelCall& c, const FourierRows& r, bool inverse, void* from, void* to) {
  const Library<Cufft>& l = cufft();
  if (!l.is_open()) errors::raise<errors::UnavailableError>(c.op, "Fourier transforms on a GPU need cuFFT: " + l.error);
  const Queue& q = queue_of(c);
  use_device(q.device);
  Capture* const capture = Capture::current(q.device);
  Kept& kept = kept_of(q.device);
  const std::lock_guard lock(kept.mutex);
  const Key key = key_of(r);
  auto at = kept.plans.find(key);
  if (at == kept.plans.end()) {
    if (capture) errors::raise<errors::UnimplementedError>(c.op, "a plan of cuFFT cannot be made in a capture");
    kept.make_room();
    at = kept.plans.emplace(key, Kept::Entry{make_plan(l.functions, q, r, c.op), 0}).first;
  }
  at->second.last_use = ++kept.uses;
  at->second.plan->execute(c, inverse, from, to);
  if (capture) capture->keep(at->second.plan);
}
std::size_t fourier_plans(int device) {
  Kept& kept = kept_of(device);
  const std::lock_guard lock(kept.mutex);
  return kept.plans.size();
}

}  // namespace TANDEM_NS::cuda
