// MessageTimer: how long calls wait for their message. For the definitions of serving_grpc.
#pragma once
#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>

#include <chrono>
#include <mutex>

#include "tandem/config.hpp"

namespace TANDEM_NS::serving::impl {

/// What a completion queue's tags refer to.
struct CallEvent {
  virtual void on(bool ok) noexcept = 0;

 protected:
  ~CallEvent() = default;
};

/// Ends the calls whose message does not come in time. gRPC has no such limit: it tells of a message when all of it is
/// there. One alarm serves all calls; while no call waits there is none.
class MessageTimer final : public CallEvent {
 public:
  class Call {
   public:
    /// The message has not come in time. Called with the timer's lock.
    virtual void message_is_late() noexcept = 0;

   protected:
    ~Call() = default;

   private:
    friend MessageTimer;
    Call *before_ = nullptr, *after_ = nullptr;
    std::chrono::steady_clock::time_point until_;
    bool waits_ = false;
  };

  explicit MessageTimer(double seconds);
  /// The call waits for its message from now on.
  void begin(Call& call, ::grpc::CompletionQueue& queue);
  /// The message is there, or will never be. False if it was late.
  bool end(Call& call);
  /// No call waits any more. To be called before the queue is shut down.
  void stop();
  void on(bool ok) noexcept override;

 private:
  void remove(Call& call);
  void set_alarm();

  const std::chrono::microseconds limit_, interval_;
  std::mutex mutex_;
  ::grpc::CompletionQueue* queue_ = nullptr;
  Call *first_ = nullptr, *last_ = nullptr;  // in the order in which they began
  bool is_set_ = false, is_stopped_ = false;
  ::grpc::Alarm alarm_;
};

}  // namespace TANDEM_NS::serving::impl
