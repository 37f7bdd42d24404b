// Crew: the threads of a protocol. For the definitions of serving and serving_grpc.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "tandem/config.hpp"

namespace TANDEM_NS::serving::impl {

/// Takes what comes from a network and handles it, on several threads at once.
struct CrewWork {
  /// Works until the network is shut down. A thread that does not stay asks Crew::lets_go from time to time, and
  /// returns when it says so. Does not raise.
  virtual void work(bool stays) = 0;

 protected:
  ~CrewWork() = default;
};

/// Looks whether anybody still waits for a call that takes its time.
struct CrewCheck {
  /// Called by another thread, from time to time. Does not raise.
  virtual void check() = 0;

 protected:
  ~CrewCheck() = default;
};

/// Threads that handle what comes, models included: a request is not handed from thread to thread. Two are enough while
/// models are quick. If all are in models and none comes back for 5 ms, or if the calls of late were slow, another one
/// begins, so that health and quick models do not wait for slow ones. It ends when calls are quick again, or when it
/// has had nothing to do for a while.
class TANDEM_API Crew {
 public:
  /// The work must outlive it, and be shut down before it ends.
  ///   most   how many threads there may be
  Crew(CrewWork& work, int most);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  /// Waits for the threads.
  ~Crew() { join(); }
  /// Begins.
  ///   throws  std::system_error if there are not the threads that it needs
  void start();
  /// Waits for the threads to end. They may still call the Crew meanwhile, so it must exist until this returns.
  void join();
  /// Whether a thread that does not stay must return now.
  ///   is_idle   whether it has had nothing to do for some seconds
  bool lets_go(bool is_idle);

  /// A thread of the crew is in a model from here to the end of the scope.
  class TANDEM_API Slow {
   public:
    ///   check   is called while the scope lasts longer than 50 ms; null: nothing is
    explicit Slow(Crew& crew, CrewCheck* check = nullptr);
    Slow(const Slow&) = delete;
    Slow& operator=(const Slow&) = delete;
    ~Slow();
    /// False if all threads that there may be are in models: then nothing slow must be done.
    bool may() const { return may_; }

   private:
    friend Crew;
    Crew& crew_;
    CrewCheck* const check_;
    const std::chrono::steady_clock::time_point begin_;
    bool may_;
    Slow *before_ = nullptr, *after_ = nullptr;  // in the list of those with a check
  };

 private:
  void run(bool stays);
  void watch();
  void check_scopes();
  void add(bool stays);
  bool try_add() noexcept;
  bool is_stuck() const { return busy_ >= threads_; }

  CrewWork& work_;
  const int most_;
  std::atomic<int> busy_{0}, threads_{0};          // busy: in models
  std::atomic<int> limit_;                         // as many as could be had; .most_ if none was refused
  std::atomic<std::uint64_t> begun_{0}, over_{0};  // Slow scopes
  std::atomic<std::int64_t> average_{0};           // nanoseconds of late ones
  std::atomic<bool> is_parked_{false};             // whether the watcher sleeps
  std::mutex mutex_;
  std::condition_variable wake_, ended_;
  bool stop_ = false;
  std::thread watcher_;
  std::mutex scopes_mutex_;
  Slow* scopes_ = nullptr;
};

}  // namespace TANDEM_NS::serving::impl
