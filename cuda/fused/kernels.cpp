#include "cuda/fused/kernels.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>

#include "cuda/driver/device.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/fused/compiler.hpp"
#include "cuda/fused/embedded.hpp"
#include "cuda/fused/image_file.hpp"
#include "cuda/fused/source.hpp"
#include "tandem/base/error.hpp"
#include "tandem/base/warning.hpp"
#include "tandem/cuda.hpp"

namespace TANDEM_NS::cuda {
namespace {

std::string default_folder() {
  if (const char* const folder = std::getenv("TANDEM_CUDA_KERNEL_CACHE")) return folder;
  if (const char* const caches = std::getenv("XDG_CACHE_HOME"); caches && *caches)
    return caches + std::string("/tandem");
  const char* const home = std::getenv("HOME");
  return home && *home ? home + std::string("/.cache/tandem") : std::string();
}
// TANDEM_CUDA_COMPILE, and whether it has a value that means nothing.
struct CompilationWish {
  std::string text;
  KernelCompilation how = KernelCompilation::off;
  bool is_unknown = false;

  CompilationWish() {
    if (const char* const wish = std::getenv("TANDEM_CUDA_COMPILE")) text = wish;
    if (text == "wait") how = KernelCompilation::wait;
    else if (text == "background") how = KernelCompilation::background;
    else is_unknown = !text.empty() && text != "off";
  }
};
std::string error_text(CUresult status) {
  const char* text = nullptr;
  driver().functions.error_string(status, &text);
  return text ? text : "unknown error";
}

// A program and its form on a device, as bytes. It is made for each launch, so it allocates nothing.
class Key {
 public:
  Key(int device, const FusedMachine& m, const FusedForm& form) {
    add(device, form.width, form.axes, m.inputs, m.count, m.slots);
    for (int k = 0; k < m.inputs; ++k) add(m.in_type[k], form.access[k]);
    for (int k = 0; k < m.count; ++k) {
      const FusedInstruction& i = m.code[k];
      add(i.code, i.in[0], i.in[1], i.in[2], i.slot, i.output);
      if (i.output != FusedInstruction::nowhere) add(m.out_type[i.output]);
    }
  }
  std::string_view bytes() const { return {bytes_, size_}; }

 private:
  template <class... N>
  void add(N... n) {
    ((bytes_[size_++] = static_cast<char>(n)), ...);
  }

  char bytes_[6 + 2 * most_fused_inputs + 7 * most_fused_instructions];
  std::size_t size_ = 0;
};
// Looks up without a string of its own.
struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
};

// All text that a kernel is made of, and what else its image depends on.
std::string text_of(const std::string& source, int capability) {
  std::string text = kernel_compiler().version + " sm_" + std::to_string(capability) + "\n";
  for (const EmbeddedFile& file : embedded_files()) (text += file.name) += file.text;
  return text += source;
}

class Kernels {
 public:
  static Kernels& get() {
    static auto* const all = new Kernels;
    // Once it is there, as the handler may call what needs it.
    if (all->wish.is_unknown && !all->warned_of_wish_.exchange(true))
      tandem::detail::warn(("GPU: the environment variable TANDEM_CUDA_COMPILE is \"" + all->wish.text +
                            "\", which is ignored: it may be off, background or wait")
                               .c_str());
    return *all;
  }

  /// Null: not there yet.
  CUfunction find(int device, const FusedMachine& machine, const FusedForm& form, KernelCompilation how) {
    if (!kernel_compiler().why_off.empty()) return warn_once(kernel_compiler().why_off), nullptr;
    const Key key(device, machine, form);
    std::unique_lock lock(mutex_);
    if (stopped_) return nullptr;
    if (const auto at = known_.find(key.bytes()); at != known_.end()) return at->second;
    Job job{device, std::string(key.bytes()), fused_source(machine, form)};
    known_.emplace(job.key, nullptr);
    if (how == KernelCompilation::wait) {
      lock.unlock();
      return make(job);
    }
    jobs_.push_back(std::move(job));
    const std::string trouble = start();
    lock.unlock();
    if (!trouble.empty()) warn_once(trouble);
    return nullptr;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return !running_; });
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    known_.clear();
  }
  KernelCounts counts() {
    const std::lock_guard lock(mutex_);
    KernelCounts r = counts_;
    r.launched = launched;
    return r;
  }
  std::string folder() {
    const std::lock_guard lock(mutex_);
    return folder_;
  }
  void set_folder(const std::string& folder) {
    const std::lock_guard lock(mutex_);
    folder_ = folder;
  }

  const CompilationWish wish;
  std::atomic<KernelCompilation> compilation{wish.how};
  std::atomic<u64> changes{0}, launched{0};

 private:
  struct Job {
    int device;
    std::string key, source;
  };
  // Ends the thread before the libraries that it uses: they were opened before this was made. A compilation that has
  // begun is waited for. In a process that fork() made there is no thread.
  struct AtExit {
    const pid_t process = ::getpid();
    ~AtExit() {
      if (::getpid() == process) Kernels::get().stop();
    }
  };

  // Without the lock, as the handler may call what needs it.
  void warn_once(const std::string& why) {
    if (!warned_.exchange(true))
      tandem::detail::warn(("GPU: fused groups of traced functions are interpreted, not compiled: " + why).c_str());
  }

  // With the lock held. Returns why there is no thread, or nothing; the jobs then wait for the next call.
  std::string start() {
    if (running_) return {};
    if (thread_.joinable()) thread_.join();  // it has ended its loop
    static const AtExit at_exit;
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error& e) {
      return std::string("the system starts no thread for it: ") + e.what();
    }
    running_ = true;
    return {};
  }
  void work() {
    std::unique_lock lock(mutex_);
    while (!jobs_.empty()) {
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      try {
        (void)make(job);
      } catch (const std::exception&) {  // of a handler of warnings: no call is here that could raise it
      }
      lock.lock();
    }
    running_ = false;
    idle_.notify_all();
  }
  void stop() {
    std::unique_lock lock(mutex_);
    jobs_.clear();
    stopped_ = true;
    compilation = KernelCompilation::off;
    lock.unlock();
    if (thread_.joinable()) thread_.join();
  }

  // Without the lock.
  CUfunction make(const Job& job) {
    CUfunction function = nullptr;
    std::string error;
    try {
      function = loaded(job, error);
    } catch (const std::exception& e) {
      error = e.what();
    }
    {
      const std::lock_guard lock(mutex_);
      known_[job.key] = function;
      ++(function ? counts_.ready : counts_.failed);
    }
    if (function) ++changes;
    else warn_once(error);
    return function;
  }
  CUfunction loaded(const Job& job, std::string& error) {
    use_device(job.device);
    int major = 0, minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, job.device), "fused", "attributes");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, job.device), "fused", "attributes");
    const int capability = 10 * major + minor;
    const std::string text = text_of(job.source, capability), from = folder();
    if (!from.empty())
      if (const std::string kept = read_image(from, text); !kept.empty())
        if (const CUfunction function = load(kept, error)) return function;
    const KernelImage image = compile_kernel(job.source, capability);
    if (image.bytes.empty()) return error = image.error, nullptr;
    {
      const std::lock_guard lock(mutex_);
      ++counts_.compiled;
    }
    if (!from.empty()) write_image(from, text, image.bytes);
    return load(image.bytes, error);
  }
  static CUfunction load(const std::string& image, std::string& error) {
    // A program's own capture on another thread may forbid what loading does.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    check(cudaThreadExchangeStreamCaptureMode(&mode), "fused", "capture mode");
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUresult status = driver().functions.load(&module, image.data());
    if (status == CUDA_SUCCESS) status = driver().functions.function(&function, module, fused_kernel_name);
    check(cudaThreadExchangeStreamCaptureMode(&mode), "fused", "capture mode");
    if (status != CUDA_SUCCESS) return error = "the driver cannot load a kernel: " + error_text(status), nullptr;
    return function;
  }

  std::mutex mutex_;
  std::condition_variable idle_;
  std::unordered_map<std::string, CUfunction, KeyHash, std::equal_to<>> known_;  // null: asked for, or failed
  std::deque<Job> jobs_;
  std::thread thread_;
  bool running_ = false, stopped_ = false;
  std::atomic<bool> warned_{false}, warned_of_wish_{false};
  KernelCounts counts_;
  std::string folder_ = default_folder();
};

// Elements a thread: as many as registers hold of each value.
int width_for(const FusedMachine& m) { return m.slots <= 6 ? 8 : m.slots <= 16 ? 4 : 2; }

}  // namespace

bool launch_compiled(const KernelCall& c, const FusedMachine& machine, const FusedAxes& piece, const i64* at) {
  const KernelCompilation how = Kernels::get().compilation.load(std::memory_order_relaxed);
  if (how == KernelCompilation::off) return false;
  FusedForm form{width_for(machine), 0, {}};
  FusedLaunch l{};
  l.operands = operands_of(c, machine, piece, at, form.width);
  for (int k = 0; k < machine.inputs; ++k) {
    form.access[k] = l.operands.access[k];
    if (form.access[k] == FusedAccess::mapped) form.axes = piece.axes;
  }
  const CUfunction kernel = Kernels::get().find(queue_of(c).device, machine, form, how);
  if (!kernel) return false;
  static_assert(max_rank == most_fused_axes);
  for (int d = 0; d < piece.axes; ++d) {
    const FastDivisor size(static_cast<std::uint32_t>(piece.size[d]));
    l.axis[d] = {size.divisor, size.magic, size.shift};
    for (int k = 0; k < machine.inputs; ++k) l.stride[k][d] = piece.stride[k][d];
  }
  const i64 parts = (static_cast<i64>(l.operands.n) + form.width - 1) / form.width;
  void* parameters[] = {&l};
  const CUresult status = driver().functions.launch(kernel, blocks_for(parts), 1, 1, block_size, 1, 1, 0,
                                                    queue_of(c).stream, parameters, nullptr);
  if (status != CUDA_SUCCESS) errors::raise<errors::CudaError>(c.op, "launch: " + error_text(status));
  Kernels::get().launched.fetch_add(1, std::memory_order_relaxed);
  return true;
}

u64 fused_kernel_changes() { return Kernels::get().changes; }
void wait_for_kernels() { Kernels::get().wait(); }
void forget_kernels() { Kernels::get().forget(); }

void set_kernel_compilation(KernelCompilation how) {
  if (Kernels::get().compilation.exchange(how) != how) ++Kernels::get().changes;
}
KernelCompilation kernel_compilation() { return Kernels::get().compilation; }
void set_kernel_cache(const std::string& folder) { Kernels::get().set_folder(folder); }
std::string kernel_cache() { return Kernels::get().folder(); }
KernelCounts kernel_counts() { return Kernels::get().counts(); }

}  // namespace TANDEM_NS::cuda
