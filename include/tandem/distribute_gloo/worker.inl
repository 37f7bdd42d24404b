// Definitions of distribute_gloo/worker.hpp.
#pragma once
#include <gloo/common/error.h>
#include <gloo/common/logging.h>

#include <cmath>
#include <thread>

#include "tandem/distribute/call_hash.hpp"
#include "tandem/distribute/start_thread.hpp"
#include "tandem/distribute_gloo/no_sigpipe.hpp"
#include "tandem/distribute_gloo/worker.hpp"

namespace TANDEM_NS::distribute::impl::gloo_backend {

// Whoever waits gives up at the timeout: Gloo's own is a little longer, so that there is one error text for it.
TANDEM_INLINE Worker::Worker(std::shared_ptr<::gloo::Context> context, double timeout)
    : context_(std::move(context)), timeout_(static_cast<std::int64_t>(std::ceil(timeout * 1000)) + 500) {}

TANDEM_INLINE void Worker::begin() {
  distribute::detail::start_thread("gloo", [self = shared_from_this()] { self->loop(); }).detach();
}

// A tag that two ranks have in common only if they call the same operation as the group's n-th: messages of different
// ones never meet, as one that is too large for its buffer ends the process, and another dtype gives nonsense. Each
// then waits until it finds the other call in the store.
inline std::uint32_t tag_of(const Collective& c, std::uint32_t n) {
  return static_cast<std::uint32_t>(common_hash(c)) + n;
}

TANDEM_INLINE std::shared_ptr<Job> Worker::add(const Collective& call) {
  auto job = std::make_shared<Job>(Job{call});
  const std::lock_guard lock(mutex_);
  job->number = next_number_++;
  job->tag = tag_of(call, static_cast<std::uint32_t>(job->number));
  if (is_aborted_) {
    job->state = Job::failed, job->error = "the group was aborted";
    return job;
  }
  queue_.push_back(job);
  wake_.notify_all();
  return job;
}

TANDEM_INLINE void Worker::loop() {
  const NoSigpipe no_sigpipe;
  std::unique_lock lock(mutex_);
  for (;;) {
    while (queue_.empty() && !ends_) wake_.wait(lock);
    if (queue_.empty()) break;
    const std::shared_ptr<Job> job = queue_.front();
    queue_.pop_front();
    job->state = Job::running, is_running_ = true;
    if (!current_ || current_->state == Job::done) current_ = job;
    lock.unlock();
    Job::State state = Job::done;
    std::string error;
    try {
      run(job->call, context_, job->tag, timeout_);
    } catch (const std::exception& e) {  // of Gloo's two kinds of errors, which have no other base
      state = Job::failed, error = e.what();
    }
    const i64 ended = tandem::detail::nanoseconds_now();
    lock.lock();
    job->ended = ended;
    if (is_aborted_ && state == Job::failed) error = "the group was aborted";
    job->state = state, job->error = error, is_running_ = false;
    changed_.notify_all();
  }
  has_ended_ = true;
  changed_.notify_all();
}

TANDEM_INLINE void Worker::abort() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (is_aborted_) return;
    is_aborted_ = ends_ = true;
    for (const auto& job : queue_) job->state = Job::failed, job->error = "the group was aborted";
    queue_.clear();
  }
  wake_.notify_all();
  changed_.notify_all();
  interrupt();
  // The thread uses the buffers of its job until it has left Gloo. A wait for half of a message is not woken, up to its
  // time limit, but writes nothing: all connections are closed, and it raises.
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(500), [this] { return !is_running_; });
}

// Closing a connection does not wake who waits for it. A wait that runs into its time limit does: Gloo then breaks all
// connections of the context, and each call that waits, or begins to, raises.
TANDEM_INLINE void Worker::interrupt() noexcept {
  try {
    char nothing = 0;
    context_->createUnboundBuffer(&nothing, sizeof nothing)->waitRecv(nullptr, std::chrono::milliseconds(1));
  } catch (const std::exception&) {
    // The time limit.
  }
  try {
    const NoSigpipe no_sigpipe;
    context_->closeConnections();
  } catch (const std::exception&) {
    // A connection that cannot be closed in order is broken already.
  }
}

TANDEM_INLINE void Worker::end() {
  std::unique_lock lock(mutex_);
  ends_ = true;
  wake_.notify_all();
  while (!has_ended_ && !is_aborted_) changed_.wait(lock);
}

TANDEM_INLINE std::shared_ptr<Job> Worker::current() const {
  const std::lock_guard lock(mutex_);
  return current_ && current_->state != Job::done ? current_ : nullptr;
}

TANDEM_INLINE bool Worker::is_aborted() const {
  const std::lock_guard lock(mutex_);
  return is_aborted_;
}

}  // namespace TANDEM_NS::distribute::impl::gloo_backend
