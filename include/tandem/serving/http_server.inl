// Definitions of serving/http_server.hpp.
#pragma once
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <optional>
#include <thread>

#include "tandem/base/error.hpp"
#include "tandem/serving/http_server.hpp"

namespace TANDEM_NS::serving::impl {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = net::ip::tcp;

inline constexpr int handler_threads = 128;  // they wait for batches and for each other's runs most of the time
inline constexpr std::chrono::seconds header_time{10}, idle_time{60}, write_time{30};
inline constexpr std::size_t most_header_bytes = 16 << 10;

struct HttpServer::State {
  State(const Options& o, HttpHandler& h) : options(o), handler(h) {}

  void accept();

  const Options options;
  HttpHandler& handler;
  std::atomic<int> connections{0};  // outlive the sessions, which end with the context
  std::atomic<bool> is_closing{false};
  net::io_context io;
  net::thread_pool workers{handler_threads};
  tcp::acceptor acceptor{io};
  std::vector<std::thread> threads;
  int port = 0;
};

// One connection. Its handlers run one after the other, on the strand of its stream.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(tcp::socket socket, const Options& options, HttpHandler& handler, net::thread_pool& workers,
              std::atomic<int>& connections, const std::atomic<bool>& is_closing)
      : stream_(std::move(socket)),
        options_(options),
        handler_(handler),
        workers_(workers),
        connections_(connections),
        is_closing_(is_closing) {
    ++connections_;
  }
  ~HttpSession() { --connections_; }

  void start() {
    if (connections_ > options_.max_connections) {
      keep_ = false;
      return refuse(503, "too many connections");
    }
    stream_.socket().set_option(tcp::no_delay(true));
    wait();
  }

 private:
  using Self = std::shared_ptr<HttpSession>;

  // For the first bytes of a request.
  void wait() {
    if (buffer_.size() > 0) return read_header();
    stream_.expires_after(idle_time);
    stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](beast::error_code e, std::size_t n) {
      if (e) return self->close();
      self->buffer_.commit(n);
      self->read_header();
    });
  }
  void read_header() {
    parser_.emplace();
    parser_->header_limit(most_header_bytes);
    parser_->body_limit(static_cast<std::uint64_t>(options_.max_request_bytes));
    stream_.expires_after(header_time);
    http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code e, std::size_t) {
      if (e) return self->failed(e);
      self->keep_ = self->parser_->get().keep_alive() && !self->is_closing_;
      self->begin_ = std::chrono::steady_clock::now();
      if (beast::iequals(self->parser_->get()[http::field::expect], "100-continue")) return self->let_continue();
      self->read_body();
    });
  }
  void let_continue() {
    const auto go_on = std::make_shared<http::response<http::empty_body>>(http::status::continue_, 11);
    http::async_write(stream_, *go_on, [self = shared_from_this(), go_on](beast::error_code e, std::size_t) {
      if (e) return self->close();
      self->read_body();
    });
  }
  void read_body() {
    if (parser_->is_done()) return handle();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (static_cast<double>(parser_->get().body().size()) < 1024 * (seconds - 10))
      return refuse(408, "the body comes too slowly");
    stream_.expires_after(header_time);
    http::async_read_some(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code e, std::size_t) {
      if (e) return self->failed(e);
      self->read_body();
    });
  }
  // On a worker; meanwhile the connection is watched.
  void handle() {
    given_ = parser_->release();
    const CancelToken cancel;
    is_answered_ = false;
    watch(cancel);
    net::post(workers_, [self = shared_from_this(), cancel] {
      auto answer = std::make_shared<HttpAnswer>(self->answer_of(cancel));
      net::post(self->stream_.get_executor(), [self, answer] {
        beast::error_code ignored;
        self->is_answered_ = true;
        self->stream_.socket().cancel(ignored);  // the watch
        self->write(std::move(*answer));
      });
    });
  }
  HttpAnswer answer_of(const CancelToken& cancel) const {
    const auto view = [](boost::string_view s) { return std::string_view(s.data(), s.size()); };
    HttpRequest r{view(given_.method_string()), view(given_.target()), {}, given_.body(), cancel};
    for (const auto& field : given_) r.headers.emplace_back(view(field.name_string()), view(field.value()));
    r.waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    return handler_.handle(r);
  }
  // Cancels the request if the other side closes the connection before its answer is there.
  void watch(const CancelToken& cancel) {
    stream_.expires_never();
    stream_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this(), cancel](beast::error_code e) {
      if (e) return;
      char next;
      const ssize_t n = ::recv(self->stream_.socket().native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) return self->is_answered_ ? void() : self->watch(cancel);
      if (n > 0) return;  // the next request
      cancel.cancel();
      self->keep_ = false;
    });
  }
  void write(HttpAnswer given) {
    answer_ = {static_cast<http::status>(given.status), 11, std::move(given.body)};
    for (const auto& [name, value] : given.headers) answer_.set(name, value);
    answer_.keep_alive(keep_ && !is_closing_);
    answer_.prepare_payload();
    stream_.expires_after(write_time);
    http::async_write(stream_, answer_, [self = shared_from_this()](beast::error_code e, std::size_t) {
      if (e || !self->answer_.keep_alive()) return self->close();
      self->wait();
    });
  }
  void refuse(int status, const char* why) {
    keep_ = false;
    write({status, {{"Content-Type", "application/json"}}, std::string("{\"error\": \"") + why + "\"}"});
  }
  void failed(beast::error_code e) {
    if (e == http::error::body_limit) return refuse(413, "the body is larger than the server accepts");
    if (e == http::error::header_limit) return refuse(431, "the header is larger than 16 KiB");
    if (e == beast::error::timeout && buffer_.size() > 0) return close();
    if (e.category() == beast::error_code(http::error::bad_method).category() && e != http::error::end_of_stream &&
        e != http::error::partial_message)
      return refuse(400, "this is not HTTP/1.1");
    close();
  }
  void close() {
    beast::error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::request<http::string_body> given_;
  http::response<http::string_body> answer_;
  std::chrono::steady_clock::time_point begin_;
  bool keep_ = true, is_answered_ = false;
  const Options& options_;
  HttpHandler& handler_;
  net::thread_pool& workers_;
  std::atomic<int>& connections_;
  const std::atomic<bool>& is_closing_;
};

TANDEM_INLINE void HttpServer::State::accept() {
  acceptor.async_accept(net::make_strand(io), [this](beast::error_code e, tcp::socket socket) {
    if (e == net::error::operation_aborted || is_closing) return;
    if (!e)
      std::make_shared<HttpSession>(std::move(socket), options, handler, workers, connections, is_closing)->start();
    accept();
  });
}

TANDEM_INLINE HttpServer::HttpServer(const Options& options, HttpHandler& handler)
    : state_(std::make_unique<State>(options, handler)) {
  const std::string place = options.bind + ":" + std::to_string(options.rest_api_port);
  try {
    const tcp::endpoint at(net::ip::make_address(options.bind), static_cast<unsigned short>(options.rest_api_port));
    state_->acceptor.open(at.protocol());
    state_->acceptor.set_option(net::socket_base::reuse_address(true));
    state_->acceptor.bind(at);
    state_->acceptor.listen();
    state_->port = state_->acceptor.local_endpoint().port();
  } catch (const boost::system::system_error& e) {
    errors::raise<errors::UnavailableError>("serving", "cannot listen on " + place + ": " + e.code().message());
  }
  state_->accept();
  for (int i = 0; i < 2; ++i) state_->threads.emplace_back([s = state_.get()] { s->io.run(); });
}
TANDEM_INLINE HttpServer::~HttpServer() {
  stop_accepting();
  state_->workers.join();
  state_->io.stop();
  for (std::thread& t : state_->threads) t.join();
}
TANDEM_INLINE int HttpServer::port() const { return state_->port; }
TANDEM_INLINE void HttpServer::stop_accepting() {
  state_->is_closing = true;
  net::post(state_->io, [s = state_.get()] {
    beast::error_code ignored;
    s->acceptor.close(ignored);
  });
}

}  // namespace TANDEM_NS::serving::impl
