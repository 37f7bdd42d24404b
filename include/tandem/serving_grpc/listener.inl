// Definitions of serving_grpc/listener.hpp.
#pragma once
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <thread>

#include "tandem/serving_grpc/call.hpp"
#include "tandem/serving_grpc/credentials.hpp"
#include "tandem/serving_grpc/listener.hpp"

namespace TANDEM_NS::serving {

namespace impl {

// Arguments of channels, by name.
using ChannelArguments = std::map<std::string, std::string>;

// Reads NAME=VALUE,NAME=VALUE.
TANDEM_INLINE ChannelArguments parse_channel_arguments(std::string_view list) {
  ChannelArguments r;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), one.size() + 1));
    const std::size_t at = one.find('=');
    if (at == 0 || at == one.npos)
      errors::raise<errors::InvalidArgumentError>(
          "serving", "grpc_channel_arguments has '" + std::string(one) + "', which is not NAME=VALUE");
    r[std::string(one.substr(0, at))] = one.substr(at + 1);
  }
  return r;
}
TANDEM_INLINE std::optional<int> as_integer(const std::string& value) {
  int number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}
// Adds them: as an integer what is one, else as text.
TANDEM_INLINE void add_channel_arguments(::grpc::ServerBuilder& builder, const ChannelArguments& arguments) {
  for (const auto& [name, value] : arguments) {
    if (const std::optional<int> number = as_integer(value)) builder.AddChannelArgument(name, *number);
    else builder.AddChannelArgument(name, value);
  }
}

class GrpcListener final : public Listener, public CrewWork {
 public:
  explicit GrpcListener(const ListenerContext& c)
      : shared_(c.engine, c.guard, c.options), credentials_(grpc_credentials(c.certificates)) {
    const Options& o = c.options;
    if (o.port < 0 || o.port > 65535)
      errors::raise<errors::InvalidArgumentError>("serving",
                                                  "the port " + std::to_string(o.port) + " is not from 0 to 65535");
    ::grpc::ServerBuilder builder;
    const ChannelArguments given = parse_channel_arguments(o.grpc_channel_arguments);
    add_channel_arguments(builder, given);
    set_limits(builder, o, given);
    const bool is_ipv6 = o.bind.find(':') != o.bind.npos;
    const std::string address = (is_ipv6 ? "[" + o.bind + "]" : o.bind) + ":" + std::to_string(o.port);
    builder.AddListeningPort(address, credentials_, &port_);
    builder.RegisterAsyncGenericService(&shared_.service);
    shared_.queue = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    if (!server_ || port_ <= 0) {
      server_.reset();  // before its queue
      shared_.queue->Shutdown();
      errors::raise<errors::UnavailableError>("serving", "cannot listen on " + address + " for gRPC");
    }
    shared_.crew.emplace(*this, o.max_connections);
    try {
      shared_.crew->start();
      constexpr int waiting_calls = 16;
      for (int i = 0; i < waiting_calls; ++i) GrpcCall::accept(shared_);
    } catch (...) {  // no thread, or no memory: those that have begun must end
      stop_accepting_now();
      throw;
    }
  }
  ~GrpcListener() override {
    if (!shutdown_.joinable()) stop_accepting(0);
    finish();
    end_crew();
  }
  int port() const override { return port_; }
  void stop_accepting(double seconds) override {
    shared_.is_closing = true;
    {
      const std::lock_guard lock(shared_.mutex);
      for (GrpcCall* const stream : shared_.reflections) stream->cancel();
    }
    // The engine cancels what still runs after that time. A moment more is for the answers.
    const auto grace = std::chrono::milliseconds(static_cast<i64>(std::min(seconds, 1e6) * 1000) + 1000);
    const auto end = std::chrono::system_clock::now() + grace;
    shutdown_ = std::thread([this, end] { server_->Shutdown(end); });
  }
  void finish() override {
    if (shutdown_.joinable()) shutdown_.join();
    wait_for_calls();
  }

 private:
  void work(bool stays) override {
    constexpr std::chrono::milliseconds patience(200);
    constexpr int most_idle = 25;  // times as long
    for (int idle = 0; stays || !shared_.crew->lets_go(idle > most_idle);) {
      void* tag = nullptr;
      bool ok = false;
      const auto until =
          stays ? std::chrono::system_clock::time_point::max() : std::chrono::system_clock::now() + patience;
      const auto next = shared_.queue->AsyncNext(&tag, &ok, until);
      if (next == ::grpc::CompletionQueue::SHUTDOWN) return;
      idle = next == ::grpc::CompletionQueue::GOT_EVENT ? 0 : idle + 1;
      if (idle == 0) static_cast<CallEvent*>(tag)->on(ok);
    }
  }
  void wait_for_calls() {
    // The server has told all calls that it ends; they still use the queue.
    while (shared_.calls > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void stop_accepting_now() {
    shared_.is_closing = true;
    server_->Shutdown(std::chrono::system_clock::now());
    wait_for_calls();
    end_crew();
  }
  void end_crew() {
    shared_.messages.stop();
    shared_.queue->Shutdown();
    shared_.crew->join();
  }
  // But those that are given, which must be integers: gRPC passes over a text, so that there would be no limit.
  static void set_limits(::grpc::ServerBuilder& builder, const Options& o, const ChannelArguments& given) {
    const int most = static_cast<int>(std::min<i64>(o.max_request_bytes, std::numeric_limits<int>::max()));
    builder.SetMaxReceiveMessageSize(most);
    builder.SetMaxSendMessageSize(most);
    ::grpc::ResourceQuota quota("tandem");
    builder.SetResourceQuota(quota.Resize(static_cast<std::size_t>(o.max_total_body_bytes)));
    // gRPC would inflate a message without a limit.
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
    const auto add = [&](const char* name, int value) {
      const auto at = given.find(name);
      if (at == given.end()) builder.AddChannelArgument(name, value);
      else if (!as_integer(at->second))
        errors::raise<errors::InvalidArgumentError>(
            "serving", "grpc_channel_arguments has " + at->first + "=" + at->second +
                           ", but it must be an integer of 32 bits; without it, it is " + std::to_string(value));
    };
    add(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10);
    add(GRPC_ARG_MAX_CONCURRENT_STREAMS, o.max_connections);
    add(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 10'000);
    add(GRPC_ARG_ALLOW_REUSEPORT, 0);
    add(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);  // finds clients that have vanished
    add(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    add(GRPC_ARG_MAX_CONNECTION_IDLE_MS, 60'000);
    add(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10'000);
  }

  GrpcShared shared_;
  std::shared_ptr<::grpc::ServerCredentials> credentials_;
  std::unique_ptr<::grpc::Server> server_;
  int port_ = 0;
  std::thread shutdown_;
};

}  // namespace impl

TANDEM_INLINE std::unique_ptr<Listener> grpc_listener(const ListenerContext& context) {
  return std::make_unique<impl::GrpcListener>(context);
}

}  // namespace TANDEM_NS::serving
