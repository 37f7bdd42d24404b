// The GPUs of a group's ranks, connected by NCCL: a DeviceTransport. Operations run on a stream of the device for them,
// which events order with its compute stream; a thread watches over those that have been launched, since a rank that is
// gone leaves the others' kernels waiting forever.
#include "tandem/base/error.hpp"
#include "tandem/distribute_nccl/nccl.hpp"

#include "cuda/nccl/calls.hpp"

#if TANDEM_WITH_NCCL
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cuda/driver/after_wait.hpp"
#include "cuda/queue.hpp"
#include "tandem/distribute/start_thread.hpp"
#include "tandem/distribute/texts.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::cuda {
namespace {

using distribute::CallText;
using distribute::Collective;
using tandem::detail::nanoseconds_now;

i64 nanoseconds(double seconds) { return static_cast<i64>(seconds * 1e9); }
std::string reason(const Nccl& nccl, ncclComm_t comm, ncclResult_t result) {
  const std::string text = std::string("NCCL: ") + nccl.error_string(result);
  const char* const more = nccl.last_error(comm);
  return more && *more ? text + " (" + more + ")" : text;
}

// An operation that was launched. Its time begins when nothing but the other ranks can keep it from running: when it is
// the first of those that have not ended, and what it waits for on this device is done.
struct Launched {
  i64 number;
  CallText text;
  cudaEvent_t ready, end;
  i64 since;  // 0: not begun
};
struct Lost {
  std::string op, text;
};

// Asks an object after each wait for a device, as long as this one lives.
class Asking {
 public:
  Asking(int device, AfterWait& asked) : device_(device), asked_(asked) { add_after_wait(device, asked); }
  Asking(const Asking&) = delete;
  ~Asking() { remove_after_wait(device_, asked_); }

 private:
  const int device_;
  AfterWait& asked_;
};

class Group final : public distribute::DeviceTransport, AfterWait {
 public:
  Group(const impl::NcclOptions& options, const Nccl& nccl, ncclComm_t comm);
  Group(const Group&) = delete;
  ~Group() override;
  i64 start(const Collective& call, const KernelCall& kernel, const CallText& text) override;
  void join(i64 number, const KernelCall& kernel) override;
  std::string failure() override;
  void abort() noexcept override;
  void raise_errors() override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  cudaEvent_t take_event();
  ncclResult_t settle(Lock& lock, ncclResult_t given, i64 until);
  void lose(Lock& lock, const CallText& text, const std::string& why);
  void raise_if_lost(const char* op) const;
  void watch();
  void retire();
  void judge(Lock& lock);

  const Nccl& nccl_;
  const ncclComm_t comm_;
  const int device_, rank_;
  const i64 timeout_;  // nanoseconds
  const distribute::DeviceErrors& errors_;
  const cudaStream_t stream_;
  std::mutex mutex_;  // guards what follows, and the calls of NCCL: of a communicator, one at a time
  std::condition_variable wake_;
  std::deque<Launched> launched_;
  std::vector<cudaEvent_t> events_, free_events_;
  std::optional<Lost> lost_;
  i64 next_ = 0;
  bool is_known_ = false;  // to the group, which is dead
  bool is_aborted_ = false, ends_ = false;
  std::optional<Asking> asking_;
  std::thread watch_;
};

// One stream serves all groups of a device: operations of two groups that ran in another order on another GPU could
// wait for each other.
cudaStream_t stream_of(int device) {
  static std::mutex mutex;
  static auto* const streams = new std::map<int, cudaStream_t>;
  const std::lock_guard lock(mutex);
  cudaStream_t& s = (*streams)[device];
  if (!s) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "nccl", "stream");
  return s;
}

Group::Group(const impl::NcclOptions& o, const Nccl& nccl, ncclComm_t comm)
    : nccl_(nccl),
      comm_(comm),
      device_(o.device),
      rank_(o.rank),
      timeout_(nanoseconds(o.timeout)),
      errors_(*o.errors),
      stream_(stream_of(o.device)) {
  asking_.emplace(device_, static_cast<AfterWait&>(*this));
  watch_ = distribute::detail::start_thread("nccl", [this] { watch(); });  // last: its end needs the destructor
}
// What was launched ends first, or is lost. Of errors nobody is left to be told.
Group::~Group() {
  asking_.reset();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  watch_.join();
  (void)cudaSetDevice(device_);
  Lock lock(mutex_);
  if (!is_aborted_) {
    const ncclResult_t left = settle(lock, nccl_.finalize(comm_), nanoseconds_now() + timeout_);
    (void)(left == ncclSuccess ? nccl_.destroy(comm_) : nccl_.abort(comm_));
  }
  for (cudaEvent_t e : events_) (void)cudaEventDestroy(e);
}

cudaEvent_t Group::take_event() {
  if (free_events_.empty()) {
    cudaEvent_t e = nullptr;
    check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "nccl", "event");
    free_events_.push_back(e), events_.push_back(e);
  }
  const cudaEvent_t e = free_events_.back();
  free_events_.pop_back();
  return e;
}
// Waits until NCCL has taken what it was given: its calls return before, so that a rank that does not come keeps nobody
// in them.
ncclResult_t Group::settle(Lock& lock, ncclResult_t given, i64 until) {
  while (given == ncclInProgress && !is_aborted_) {
    if (const ncclResult_t r = nccl_.async_error(comm_, &given); r != ncclSuccess) return r;
    if (given != ncclInProgress || nanoseconds_now() > until) break;
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    lock.lock();
  }
  return given;
}

i64 Group::start(const Collective& call, const KernelCall& kernel, const CallText& text) {
  check_supported(call, kernel.op);
  const cudaStream_t compute = queue_of(kernel).stream;
  use_device(device_);
  Lock lock(mutex_);
  raise_if_lost(kernel.op);
  const cudaEvent_t ready = take_event(), end = take_event();
  check(cudaEventRecord(ready, compute), kernel.op, "event");
  check(cudaStreamWaitEvent(stream_, ready, 0), kernel.op, "event");
  const ncclResult_t given = settle(lock, launch(call, nccl_, comm_, rank_, stream_), nanoseconds_now() + timeout_);
  if (given != ncclSuccess && !is_aborted_)
    lose(lock, text, given == ncclInProgress ? "" : reason(nccl_, comm_, given));
  raise_if_lost(kernel.op);
  check(cudaEventRecord(end, stream_), kernel.op, "event");
  launched_.push_back({next_, text, ready, end, 0});
  if (launched_.size() == 1) wake_.notify_one();
  return next_++;
}
void Group::join(i64 number, const KernelCall& kernel) {
  use_device(device_);
  const std::lock_guard lock(mutex_);
  raise_if_lost(kernel.op);
  const auto found =
      std::find_if(launched_.begin(), launched_.end(), [&](const auto& l) { return l.number == number; });
  if (found == launched_.end()) return;  // it has ended
  check(cudaStreamWaitEvent(queue_of(kernel).stream, found->end, 0), kernel.op, "event");
}
std::string Group::failure() {
  const std::lock_guard lock(mutex_);
  return lost_ ? lost_->text : std::string();
}
void Group::abort() noexcept {
  const std::lock_guard lock(mutex_);
  is_known_ = true;
  if (is_aborted_) return;
  is_aborted_ = true;
  (void)nccl_.abort(comm_);
  wake_.notify_one();
}

// The error comes before the abort, which lets waits for the device return. Its text takes seconds: others go on.
void Group::lose(Lock& lock, const CallText& text, const std::string& why) {
  lock.unlock();
  Lost lost{text.op, errors_.text(text, why)};
  lock.lock();
  if (is_aborted_) return;
  lost_ = std::move(lost);
  is_aborted_ = true;
  (void)nccl_.abort(comm_);
}
void Group::raise_if_lost(const char* op) const {
  if (is_aborted_) errors::raise<errors::UnavailableError>(op, lost_ ? lost_->text : "the group was aborted");
}
void Group::raise_errors() {
  const std::lock_guard lock(mutex_);
  if (lost_ && !is_known_) raise_if_lost(lost_->op.c_str());
}

void Group::watch() {
  (void)cudaSetDevice(device_);
  Lock lock(mutex_);
  for (;;) {
    while (launched_.empty() && !ends_ && !is_aborted_) wake_.wait(lock);
    retire();
    if (!launched_.empty()) judge(lock);
    if (is_aborted_ || (ends_ && launched_.empty())) return;
    if (!launched_.empty()) wake_.wait_for(lock, std::chrono::milliseconds(2));
  }
}
// An operation whose event says that a kernel has failed has ended, too: the next wait for the device finds that.
void Group::retire() {
  while (!launched_.empty() && cudaEventQuery(launched_.front().end) != cudaErrorNotReady) {
    free_events_.push_back(launched_.front().ready), free_events_.push_back(launched_.front().end);
    launched_.pop_front();
  }
}
void Group::judge(Lock& lock) {
  Launched& first = launched_.front();
  ncclResult_t state = ncclSuccess;
  if (const ncclResult_t r = nccl_.async_error(comm_, &state); r != ncclSuccess) state = r;
  if (is_aborted_) return;
  if (state != ncclSuccess && state != ncclInProgress) return lose(lock, first.text, reason(nccl_, comm_, state));
  if (first.since) {
    if (nanoseconds_now() - first.since > timeout_) lose(lock, first.text, "");
  } else if (cudaEventQuery(first.ready) != cudaErrorNotReady) {
    first.since = nanoseconds_now();
  }
}

struct Abort {
  const Nccl* nccl;
  void operator()(ncclComm_t comm) const { (void)nccl->abort(comm); }
};

[[noreturn]] void fail(const std::string& what) { errors::raise<errors::UnavailableError>("nccl", what); }

}  // namespace

namespace impl {

std::string nccl_trouble() { return nccl().error; }
NcclId nccl_id() {
  ncclUniqueId id;
  static_assert(sizeof id == sizeof(NcclId));
  if (const ncclResult_t r = nccl().functions.unique_id(&id); r != ncclSuccess)
    fail(reason(nccl().functions, nullptr, r));
  NcclId bytes;
  std::memcpy(bytes.data(), &id, sizeof id);
  return bytes;
}
std::string gpu_place(int device) {
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device), "nccl", "place of the GPU");
  return text.data();
}
// NCCL connects on a thread of its own, so that this one can give up.
std::unique_ptr<distribute::DeviceTransport> nccl_group(const NcclOptions& o) {
  const Nccl& f = nccl().functions;
  use_device(o.device);
  ncclUniqueId id;
  std::memcpy(&id, o.id.data(), sizeof id);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  const i64 until = nanoseconds_now() + nanoseconds(o.timeout);
  ncclResult_t r = f.init(&comm, o.size, id, o.rank, &config);
  while (r == ncclInProgress && nanoseconds_now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (const ncclResult_t asked = f.async_error(comm, &r); asked != ncclSuccess) r = asked;
  }
  std::unique_ptr<ncclComm, Abort> own(comm, {&f});
  if (r == ncclSuccess) {
    auto group = std::make_unique<Group>(o, f, comm);
    (void)own.release();
    return group;
  }
  const std::string why = r == ncclInProgress
                              ? "not all ranks have come within " + distribute::impl::seconds_text(o.timeout)
                              : reason(f, comm, r);
  fail("cannot connect the GPUs: " + why);
}

}  // namespace impl
}  // namespace TANDEM_NS::cuda

#else

namespace TANDEM_NS::cuda::impl {

std::string nccl_trouble() { return "this library was built without it (nccl.h was not found)"; }
NcclId nccl_id() { errors::raise<errors::UnimplementedError>("nccl", nccl_trouble()); }
std::string gpu_place(int) { errors::raise<errors::UnimplementedError>("nccl", nccl_trouble()); }
std::unique_ptr<distribute::DeviceTransport> nccl_group(const NcclOptions&) {
  errors::raise<errors::UnimplementedError>("nccl", nccl_trouble());
}

}  // namespace TANDEM_NS::cuda::impl
#endif
