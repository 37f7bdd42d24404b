// GrpcCall: one call of a client, from its begin to its end. For the definitions of serving_grpc.
#pragma once
#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "tandem/serving/crew.hpp"
#include "tandem/serving/guard.hpp"
#include "tandem/serving/status.hpp"
#include "tandem/serving_grpc/descriptors.hpp"
#include "tandem/serving_grpc/message_timer.hpp"
#include "tandem/serving_grpc/methods.hpp"

namespace TANDEM_NS::serving::impl {

class GrpcCall;

/// What the calls of a server have in common.
struct GrpcShared {
  GrpcShared(Engine& e, const Guard& g, const Options& o)
      : engine(e),
        guard(g),
        methods(e, &e, o.ignore_extra_inputs, o.max_request_bytes),
        most_streams(o.max_connections),
        messages(o.grpc_message_seconds) {}

  Engine& engine;
  const Guard& guard;
  const Methods methods;
  const int most_streams;
  const Descriptors descriptors;
  ::grpc::AsyncGenericService service;
  std::unique_ptr<::grpc::ServerCompletionQueue> queue;
  MessageTimer messages;
  std::optional<Crew> crew;
  std::atomic<bool> is_closing{false};
  std::atomic<int> calls{0};  // that there are, those too that wait for a client
  std::mutex mutex;
  int stream_count = 0;             // watchers and reflections, which end when the client wants it
  std::set<GrpcCall*> reflections;  // those that wait for a message
};

/// A call. It owns itself: it ends when gRPC has told both that the answer is sent and that the call is over.
class GrpcCall final : MessageTimer::Call {
 public:
  /// Waits for the next call.
  static void accept(GrpcShared& shared) { new GrpcCall(shared); }
  /// Ends it, whatever the client still wants.
  void cancel() { context_.TryCancel(); }

 private:
  using Step = void (GrpcCall::*)(bool ok);
  /// Something that gRPC tells of a call. What happened before post() has happened before on().
  class Event final : public CallEvent {
   public:
    Event(GrpcCall& call, Step step) : call_(call), step_(step) {}
    void* post() {
      is_posted_.store(true, std::memory_order_release);
      return static_cast<CallEvent*>(this);
    }
    void on(bool ok) noexcept override {
      failed_request_id = 0;  // that of another call may be left
      if (is_posted_.load(std::memory_order_acquire)) (call_.*step_)(ok);
    }

   private:
    GrpcCall& call_;
    const Step step_;
    std::atomic<bool> is_posted_{false};
  };

  explicit GrpcCall(GrpcShared& shared);
  ~GrpcCall();
  void release();

  void begin(bool ok);
  void begin_stream();
  void read_message();
  void got_message(bool ok);
  void message_is_late() noexcept override;
  void answer();
  void answer_watch();
  void answer_reflection();
  void written(bool ok);
  void ticked(bool ok);
  void finished(bool ok);
  void over(bool ok);

  std::string answer_of(std::string_view message);
  void fail(int code, const std::string& text);
  void fail(const std::exception_ptr& error);
  double seconds_left() const;
  std::string_view authorization() const;

  GrpcShared& shared_;
  ::grpc::GenericServerContext context_;
  ::grpc::GenericServerAsyncReaderWriter stream_{&context_};
  ::grpc::ByteBuffer request_;
  Event begin_{*this, &GrpcCall::begin}, read_{*this, &GrpcCall::got_message}, written_{*this, &GrpcCall::written},
      tick_{*this, &GrpcCall::ticked}, finished_{*this, &GrpcCall::finished}, over_{*this, &GrpcCall::over};
  const Method* method_ = nullptr;
  bool is_stream_ = false;  // one that is counted
  bool is_timed_ = true;    // the next message has a time limit
  const CancelToken cancel_;
  std::atomic<int> awaited_{2};  // finished and over, and the message if it is late
  std::atomic<bool> is_cancelled_{false};
  std::string watched_, last_;  // Health.Watch: the request, and what was sent last
  std::optional<::grpc::Alarm> alarm_;
};

}  // namespace TANDEM_NS::serving::impl
