// Servers that do nothing but answer, as the limit for a model server: gRPC's callback interface and Boost.Beast, with
// the answers of the model as fixed bytes.
#pragma once
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

/// Reads a message, and sends a fixed one.
class BareGrpc final : public grpc::CallbackGenericService {
 public:
  explicit BareGrpc(std::string answer) : answer_(std::move(answer)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterCallbackGenericService(this);
    server_ = builder.BuildAndStart();
  }
  int port() const { return port_; }

 private:
  class Call final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Call(const std::string& answer) : answer_(answer) { StartRead(&request_); }
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, ""));
      const grpc::Slice slice(answer_.data(), answer_.size());
      response_ = grpc::ByteBuffer(&slice, 1);
      StartWriteAndFinish(&response_, {}, grpc::Status::OK);
    }
    void OnDone() override { delete this; }

   private:
    const std::string& answer_;
    grpc::ByteBuffer request_, response_;
  };
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Call(answer_);
  }

  const std::string answer_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

/// Reads a request, and sends a fixed body, on two threads.
class BareHttp {
 public:
  explicit BareHttp(std::string answer) : answer_(std::move(answer)) {
    accept();
    for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { io_.run(); });
  }
  ~BareHttp() {
    io_.stop();
    for (std::thread& t : threads_) t.join();
  }
  int port() const { return acceptor_.local_endpoint().port(); }

 private:
  using tcp = boost::asio::ip::tcp;
  using Body = boost::beast::http::string_body;
  struct Session : std::enable_shared_from_this<Session> {
    Session(tcp::socket socket, const std::string& text) : stream(std::move(socket)), answer(text) {}
    void read() {
      request = {};
      boost::beast::http::async_read(stream, buffer, request,
                                     [self = shared_from_this()](boost::beast::error_code e, std::size_t) {
                                       if (!e) self->write();
                                     });
    }
    void write() {
      response = {boost::beast::http::status::ok, 11, answer};
      response.set("Content-Type", "application/json");
      response.keep_alive(true);
      response.prepare_payload();
      boost::beast::http::async_write(stream, response,
                                      [self = shared_from_this()](boost::beast::error_code e, std::size_t) {
                                        if (!e) self->read();
                                      });
    }
    boost::beast::tcp_stream stream;
    const std::string& answer;
    boost::beast::flat_buffer buffer;
    boost::beast::http::request<Body> request;
    boost::beast::http::response<Body> response;
  };
  void accept() {
    acceptor_.async_accept(boost::asio::make_strand(io_), [this](boost::beast::error_code e, tcp::socket socket) {
      if (e) return;
      socket.set_option(tcp::no_delay(true));
      std::make_shared<Session>(std::move(socket), answer_)->read();
      accept();
    });
  }

  const std::string answer_;
  boost::asio::io_context io_;
  tcp::acceptor acceptor_{io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
  std::vector<std::thread> threads_;
};

}  // namespace bench
