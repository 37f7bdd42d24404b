// Pollers: the threads of the gRPC server. For the definitions of serving_grpc.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "tandem/config.hpp"

namespace grpc {
class CompletionQueue;
}

namespace TANDEM_NS::serving::impl {

/// What a completion queue's tags refer to.
struct CallEvent {
  virtual void on(bool ok) noexcept = 0;

 protected:
  ~CallEvent() = default;
};

/// Threads that take events from a completion queue and handle them, models included: a request is not handed from
/// thread to thread. Two are enough while models are quick. If all of them are busy for a millisecond, or if the calls
/// of late were slow, another one begins, so that health and quick models do not wait for slow ones. A thread that is
/// not needed any more ends.
class Pollers {
 public:
  /// The queue must outlive it, and be shut down before it ends.
  ///   most   how many threads there may be
  Pollers(::grpc::CompletionQueue& queue, int most);
  Pollers(const Pollers&) = delete;
  Pollers& operator=(const Pollers&) = delete;
  ~Pollers();
  /// Begins.
  void start();

  /// A poller may be busy for a while from here to the end of the scope.
  class Slow {
   public:
    explicit Slow(Pollers& pollers);
    Slow(const Slow&) = delete;
    Slow& operator=(const Slow&) = delete;
    ~Slow();
    /// False if all threads that there may be are busy: then nothing slow must be done.
    bool may() const { return may_; }

   private:
    Pollers& pollers_;
    const std::chrono::steady_clock::time_point begin_;
    bool may_;
  };

 private:
  void poll(bool stays);
  void watch();
  void add(bool stays);
  bool try_add() noexcept;

  ::grpc::CompletionQueue& queue_;
  const int most_;
  std::atomic<int> idle_{0}, threads_{0};
  std::atomic<std::uint64_t> events_{0};
  std::atomic<std::int64_t> average_{0};  // nanoseconds of late Slow scopes
  std::atomic<bool> is_parked_{false};    // whether the watcher sleeps
  std::mutex mutex_;
  std::condition_variable wake_, ended_;
  bool stop_ = false;
  std::thread watcher_;
};

}  // namespace TANDEM_NS::serving::impl
