// Definitions of serving_grpc/call.hpp.
#pragma once
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <chrono>

#include "tandem/base/error.hpp"
#include "tandem/serving_grpc/call.hpp"
#include "tandem/serving_grpc/reflection.hpp"

namespace TANDEM_NS::serving::impl {

// The bytes of a message, which usually lie in one piece.
TANDEM_INLINE ::grpc::Slice bytes_of(const ::grpc::ByteBuffer& message) {
  ::grpc::Slice r;
  if (message.Length() == 0 || message.TrySingleSlice(&r).ok()) return r;
  if (!message.DumpToSingleSlice(&r).ok())
    errors::raise<errors::InvalidArgumentError>("serving", "the message cannot be read");
  return r;
}
TANDEM_INLINE std::string_view view_of(const ::grpc::Slice& bytes) {
  return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
}
// Large answers are sent from where they are.
TANDEM_INLINE ::grpc::ByteBuffer buffer_of(std::string answer) {
  constexpr std::size_t small = 4096;
  if (answer.size() <= small) {
    const ::grpc::Slice copy(answer.data(), answer.size());
    return {&copy, 1};
  }
  auto owner = std::make_unique<std::string>(std::move(answer));
  const ::grpc::Slice slice(
      owner->data(), owner->size(), [](void* p) { delete static_cast<std::string*>(p); }, owner.get());
  (void)owner.release();
  return {&slice, 1};
}
// Clients refuse headers above 8 KiB, and see another error then.
TANDEM_INLINE ::grpc::Status grpc_status(int code, const std::string& text) {
  constexpr std::size_t most = 1024;
  std::size_t n = std::min(text.size(), most);
  const auto is_inside = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80; };
  while (n < text.size() && n > most - 4 && is_inside(n)) --n;  // not within a character of UTF-8
  return {static_cast<::grpc::StatusCode>(code), text.substr(0, n)};
}

TANDEM_INLINE GrpcCall::GrpcCall(GrpcShared& shared) : shared_(shared) {
  ++shared_.calls;
  context_.AsyncNotifyWhenDone(over_.post());
  shared_.service.RequestCall(&context_, &stream_, shared_.queue.get(), shared_.queue.get(), begin_.post());
}
TANDEM_INLINE GrpcCall::~GrpcCall() {
  if (is_stream_) {
    const std::lock_guard lock(shared_.mutex);
    --shared_.stream_count;
    shared_.reflections.erase(this);
  }
  --shared_.calls;
}
TANDEM_INLINE void GrpcCall::release() {
  if (awaited_.fetch_sub(1) == 1) delete this;
}

TANDEM_INLINE void GrpcCall::begin(bool ok) {
  if (!ok) {  // the server ends; of a call that has not begun nothing else is told
    delete this;
    return;
  }
  accept(shared_);
  method_ = find_method(context_.method());
  if (!method_) return fail(12, "there is no method " + context_.method().substr(0, 255));
  if (method_->access != Method::everybody && !shared_.guard.lets_in(authorization())) {
    shared_.engine.count_rejected("auth");
    return fail(16, "the call needs metadata 'authorization: Bearer TOKEN' with a valid token");
  }
  if (method_->access == Method::admins && !shared_.guard.is_admin(authorization())) {
    shared_.engine.count_rejected("auth");
    return fail(7, "the call needs the token of an administrator, a line admin:TOKEN in the file of tokens");
  }
  if (method_->kind != Method::unary) return begin_stream();
  read_message();
}
// Streams cost memory, and watchers time, without an end: there are so many at most.
TANDEM_INLINE void GrpcCall::begin_stream() {
  bool is_closing = false;
  {
    const std::lock_guard lock(shared_.mutex);
    is_closing = shared_.is_closing;
    if (!is_closing && shared_.stream_count < shared_.most_streams) {
      if (method_->kind == Method::reflection) shared_.reflections.insert(this);
      is_stream_ = true, ++shared_.stream_count;
    }
  }
  if (is_closing) return fail(14, "the server shuts down");
  if (is_stream_) return read_message();
  shared_.engine.count_rejected("queue");
  fail(8, "too many clients watch or reflect; try again later");
}
TANDEM_INLINE void GrpcCall::read_message() {
  if (is_timed_) shared_.messages.begin(*this, *shared_.queue);
  stream_.Read(&request_, read_.post());
}
TANDEM_INLINE void GrpcCall::message_is_late() noexcept {
  ++awaited_;  // gRPC still tells that nothing was read
  fail(4, "the message comes too slowly");
}
TANDEM_INLINE void GrpcCall::got_message(bool ok) {
  if (is_timed_ && !shared_.messages.end(*this)) {
    shared_.engine.count_rejected("deadline");
    return release();
  }
  is_timed_ = false;  // reflection may pause between its messages
  if (!ok) {          // the client has no more of them, or is gone, or the message is too large, which gRPC says itself
    if (method_->kind == Method::reflection) return fail(0, "");
    return fail(3, "the call has no message");
  }
  switch (method_->kind) {
    case Method::unary: return answer();
    case Method::watch: return answer_watch();
    case Method::reflection: return answer_reflection();
  }
}

TANDEM_INLINE std::string_view GrpcCall::authorization() const {
  const auto at = context_.client_metadata().find("authorization");
  return at == context_.client_metadata().end() ? std::string_view()
                                                : std::string_view(at->second.data(), at->second.size());
}
// Seconds to the deadline, which may never come.
TANDEM_INLINE double GrpcCall::seconds_left() const {
  const std::chrono::system_clock::time_point at = context_.deadline();
  if (at == std::chrono::system_clock::time_point::max()) return 1e12;
  return std::chrono::duration<double>(at - std::chrono::system_clock::now()).count();
}
TANDEM_INLINE std::string GrpcCall::answer_of(std::string_view message) {
  const CallInfo info{{Deadline::after(seconds_left()), cancel_}};
  if (method_->is_quick) return (shared_.methods.*method_->answer)(message, info);
  const Crew::Slow slow(*shared_.crew);
  if (!slow.may()) {
    shared_.engine.count_rejected("queue");
    errors::raise<errors::ResourceExhaustedError>("serving", "too many calls wait for models; try again later");
  }
  return (shared_.methods.*method_->answer)(message, info);
}
TANDEM_INLINE void GrpcCall::answer() {
  ::grpc::ByteBuffer buffer;
  try {
    const ::grpc::Slice message = bytes_of(request_);
    buffer = buffer_of(answer_of(view_of(message)));
  } catch (...) {
    return fail(std::current_exception());
  }
  request_.Clear();
  stream_.WriteAndFinish(buffer, {}, ::grpc::Status::OK, finished_.post());
}
TANDEM_INLINE void GrpcCall::fail(const std::exception_ptr& error) {
  const Status s = status_of(error);
  fail(s.grpc, s.text);
}
TANDEM_INLINE void GrpcCall::fail(int code, const std::string& text) {
  stream_.Finish(grpc_status(code, text), finished_.post());
}

// Sends the state when it changes, which is looked at ten times a second.
TANDEM_INLINE void GrpcCall::answer_watch() {
  constexpr std::chrono::milliseconds interval(100);
  ::grpc::ByteBuffer buffer;
  try {
    if (last_.empty()) watched_ = view_of(bytes_of(request_));
    std::string now = shared_.methods.watched_health(watched_);
    if (now == last_) {
      if (!alarm_) alarm_.emplace();
      alarm_->Set(shared_.queue.get(), std::chrono::system_clock::now() + interval, tick_.post());
      return;
    }
    last_ = now;
    buffer = buffer_of(std::move(now));
  } catch (...) {
    return fail(std::current_exception());
  }
  stream_.Write(buffer, written_.post());
}
TANDEM_INLINE void GrpcCall::ticked(bool) {
  if (is_cancelled_) return fail(1, "the client is gone");
  if (shared_.is_closing) return fail(14, "the server shuts down");
  answer_watch();
}
TANDEM_INLINE void GrpcCall::answer_reflection() {
  ::grpc::ByteBuffer buffer;
  try {
    buffer = buffer_of(reflect(shared_.descriptors, view_of(bytes_of(request_))));
  } catch (...) {
    return fail(std::current_exception());
  }
  stream_.Write(buffer, written_.post());
}
TANDEM_INLINE void GrpcCall::written(bool ok) {
  if (!ok) return fail(1, "the client is gone");
  if (method_->kind == Method::watch) return answer_watch();
  read_message();
}

TANDEM_INLINE void GrpcCall::finished(bool) { release(); }
// The answer is sent, or the client is gone, or its deadline has passed, which gRPC tells up to some milliseconds
// early. The deadline ends a call by itself.
TANDEM_INLINE void GrpcCall::over(bool) {
  if (context_.IsCancelled()) {
    is_cancelled_ = true;
    if (seconds_left() > 0.01) cancel_.cancel();
  }
  release();
}

}  // namespace TANDEM_NS::serving::impl
