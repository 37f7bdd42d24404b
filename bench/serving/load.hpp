// Load for servers, by one thread: so many requests at a time, each followed by the next one when its answer is there.
#pragma once
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

struct Load {
  double per_second = 0, p99_us = 0;
  std::size_t count = 0;
};

/// What was measured: how long each request took, and the time of all.
class Times {
 public:
  explicit Times(double seconds) : end_(begin_ + std::chrono::microseconds(static_cast<long>(seconds * 1e6))) {}
  void add(Clock::time_point begin) {
    const Clock::time_point now = Clock::now();
    took_.push_back(std::chrono::duration<double, std::micro>(now - begin).count());
  }
  bool is_over() const { return Clock::now() >= end_; }
  Load result() {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    const auto at = took_.begin() + static_cast<std::ptrdiff_t>(took_.size() * 99 / 100);
    std::nth_element(took_.begin(), at, took_.end());
    return {static_cast<double>(took_.size()) / seconds, at == took_.end() ? 0 : *at, took_.size()};
  }

 private:
  const Clock::time_point begin_ = Clock::now(), end_;
  std::vector<double> took_;
};

/// Calls of a method by gRPC. Answers that are not `expected` raise; if that is empty, any but errors will do.
class GrpcLoad {
 public:
  GrpcLoad(int port, std::string method, std::string request, std::string expected)
      : stub_(channel_to(port)),
        method_(std::move(method)),
        request_(std::move(request)),
        expected_(std::move(expected)) {}

  Load run(int in_flight, double seconds) {
    grpc::CompletionQueue queue;
    Times times(seconds);
    int left = in_flight;
    for (int i = 0; i < in_flight; ++i) begin(queue);
    void* tag = nullptr;
    for (bool ok = false; left > 0 && queue.Next(&tag, &ok);) {
      const std::unique_ptr<Call> call(static_cast<Call*>(tag));
      check(*call);
      times.add(call->begin);
      if (times.is_over()) --left;
      else begin(queue);
    }
    return times.result();
  }

 private:
  // A connection of its own, as another client has.
  static std::shared_ptr<grpc::Channel> channel_to(int port) {
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), own);
  }
  struct Call {
    grpc::ClientContext context;
    grpc::ByteBuffer answer;
    grpc::Status status;
    std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
    Clock::time_point begin = Clock::now();
  };
  void begin(grpc::CompletionQueue& queue) {
    auto* const call = new Call;
    const grpc::Slice slice(request_.data(), request_.size());
    call->reader = stub_.PrepareUnaryCall(&call->context, method_, grpc::ByteBuffer(&slice, 1), &queue);
    call->reader->StartCall();
    call->reader->Finish(&call->answer, &call->status, call);
  }
  void check(const Call& call) const {
    grpc::Slice slice;
    if (!call.status.ok() || !call.answer.DumpToSingleSlice(&slice).ok() ||
        (!expected_.empty() &&
         std::string_view(reinterpret_cast<const char*>(slice.begin()), slice.size()) != expected_))
      throw std::runtime_error("a wrong answer by gRPC: " + call.status.error_message());
  }

  grpc::GenericStub stub_;
  const std::string method_, request_, expected_;
};

/// Requests by HTTP, on a connection each.
class HttpLoad {
 public:
  HttpLoad(int port, std::string request, std::string expected)
      : port_(port), request_(std::move(request)), expected_(std::move(expected)) {}

  Load run(int connections, double seconds) const {
    boost::asio::io_context io(1);
    Times times(seconds);
    for (int i = 0; i < connections; ++i) std::make_shared<Connection>(io, *this, times)->write();
    io.run();
    return times.result();
  }

 private:
  using tcp = boost::asio::ip::tcp;
  struct Connection : std::enable_shared_from_this<Connection> {
    Connection(boost::asio::io_context& io, const HttpLoad& of, Times& to) : socket(io), load(of), times(to) {
      socket.connect({boost::asio::ip::address_v4::loopback(), static_cast<unsigned short>(load.port_)});
      socket.set_option(tcp::no_delay(true));
    }
    void write() {
      begin = Clock::now();
      text.clear();
      boost::asio::async_write(socket, boost::asio::buffer(load.request_),
                               [self = shared_from_this()](boost::system::error_code e, std::size_t) {
                                 if (e) throw std::runtime_error("a connection has ended: " + e.message());
                                 self->read();
                               });
    }
    void read() {
      socket.async_read_some(boost::asio::buffer(some),
                             [self = shared_from_this()](boost::system::error_code e, std::size_t n) {
                               if (e) throw std::runtime_error("a connection has ended: " + e.message());
                               self->got(n);
                             });
    }
    void got(std::size_t n) {
      text.append(some, n);
      if (!text.ends_with(load.expected_)) {
        if (text.size() > 4096) throw std::runtime_error("a wrong answer by HTTP: " + text);
        return read();
      }
      times.add(begin);
      if (!times.is_over()) write();
    }
    tcp::socket socket;
    const HttpLoad& load;
    Times& times;
    Clock::time_point begin;
    std::string text;
    char some[4096];
  };

  const int port_;
  const std::string request_, expected_;
};

}  // namespace bench
