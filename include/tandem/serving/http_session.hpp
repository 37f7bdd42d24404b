// HttpSession: one connection of an HttpServer. For its definitions.
#pragma once
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cstddef>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "tandem/base/warning.hpp"
#include "tandem/serving/crew.hpp"
#include "tandem/serving/hangup.hpp"
#include "tandem/serving/http_route.hpp"
#include "tandem/serving/http_server.hpp"
#include "tandem/serving/http_text.hpp"
#include "tandem/serving/idle_list.hpp"

namespace TANDEM_NS::serving::impl {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = net::ip::tcp;

inline constexpr std::chrono::seconds header_time{10}, idle_time{60}, write_time{30}, discard_time{2}, sweep_time{5};
inline constexpr std::size_t most_header_bytes = 16 << 10, most_buffered_bytes = 96 << 10,
                             most_discarded_bytes = 1 << 20;
inline constexpr std::ptrdiff_t most_headers = 100;

/// What the connections of a server have in common.
struct HttpShared {
  HttpShared(const Options& o, HttpHandler& h) : options(o), handler(h) {}
  const Options options;
  HttpHandler& handler;
  std::atomic<int> connections{0}, busy{0};  // busy: from a request's header to the end of its answer
  std::atomic<i64> body_bytes{0};            // of all requests
  std::atomic<bool> is_closing{false};
  IdleList idle;
};

using TlsStream = beast::ssl_stream<beast::tcp_stream>;

/// Why a request is refused for its header (RFC 9112, 3.2 and 6.1); status 0: it is not. Where another server in front
/// could see other bounds of the body, the connection must end.
struct HeaderFault {
  int status = 0;
  const char* text = nullptr;
};
template <class Header>
HeaderFault fault_of(const Header& header) {
  const bool is_old = header.version() < 11;
  const std::size_t hosts = header.count(http::field::host), codings = header.count(http::field::transfer_encoding);
  if (hosts > 1 || (hosts == 0 && !is_old)) return {400, "the request needs one header Host"};
  if (codings == 0) return {};
  if (is_old) return {400, "HTTP/1.0 has no Transfer-Encoding"};
  if (codings > 1 || !beast::iequals(header[http::field::transfer_encoding], "chunked"))
    return {501, "the only Transfer-Encoding is chunked"};
  return {};
}

/// One connection, plain or by TLS. Its handlers run one after the other, on the strand of its stream.
template <class Stream>
class HttpSession final : public IdleList::Member, public std::enable_shared_from_this<HttpSession<Stream>> {
 public:
  static constexpr bool is_tls = std::is_same_v<Stream, TlsStream>;

  /// The stream has come from `tls`, which is null for a plain one.
  HttpSession(HttpShared& shared, Crew& crew, Stream stream, std::shared_ptr<net::ssl::context> tls)
      : tls_(std::move(tls)), stream_(std::move(stream)), shared_(shared), crew_(crew) {
    ++shared_.connections;
  }
  ~HttpSession() {
    if (place_) shared_.idle.remove(*place_);
    end_request();
    --shared_.connections;
  }

  void start() {
    const bool is_one_too_many = shared_.connections > shared_.options.max_connections;
    place_ = shared_.idle.add(this->shared_from_this(), idle_);
    beast::error_code ignored;
    lowest().socket().set_option(tcp::no_delay(true), ignored);
    lowest().socket().non_blocking(true, ignored);  // for send()
    if constexpr (is_tls) {
      if (is_one_too_many) return close();
      lowest().expires_after(header_time);
      stream_.async_handshake(net::ssl::stream_base::server, [self = this->shared_from_this()](beast::error_code e) {
        if (e) return self->close();
        self->wait();
      });
    } else {
      if (is_one_too_many) return refuse(503, "too many connections");
      wait();
    }
  }

  void end() override {
    net::post(stream_.get_executor(), [self = this->shared_from_this()] {
      if (self->idle_.is_over(IdleTime::Clock::now())) self->close();  // no request has come meanwhile
    });
  }

 private:
  static std::string_view view(boost::string_view s) { return {s.data(), s.size()}; }
  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  // For the first bytes of a request.
  void wait() {
    end_request();
    may_skip_ = true;
    if (has_begun()) return new_request(), read_header();  // in a turn of its own: there may be many
    wait_for_more();
  }
  // Skips an empty line before a request (RFC 9112, 2.2).
  bool has_begun() {
    const std::string_view bytes(static_cast<const char*>(buffer_.data().data()), buffer_.size());
    if (may_skip_ && bytes == "\r") return false;
    if (may_skip_ && bytes.starts_with("\r\n")) may_skip_ = false, buffer_.consume(2);
    return buffer_.size() > 0;
  }
  void wait_for_more() {
    lowest().expires_never();
    idle_.set(IdleTime::Clock::now() + idle_time);
    stream_.async_read_some(buffer_.prepare(4096),
                            [self = this->shared_from_this()](beast::error_code e, std::size_t n) {
                              self->idle_.clear();
                              if (e) return self->close();
                              self->buffer_.commit(n);
                              if (!self->has_begun()) return self->wait_for_more();
                              self->new_request();
                              if (const beast::error_code wrong = self->parse_header()) return self->failed(wrong);
                              self->parser_->is_header_done() ? self->begin_request() : self->read_header();
                            });
  }
  void new_request() {
    parser_.emplace();
    is_head_ = false;
    parser_->header_limit(most_header_bytes);
    parser_->body_limit(static_cast<std::uint64_t>(shared_.options.max_request_bytes));
  }
  // These parse what is there already: waiting for it would take a timer and a turn of the threads, several times what
  // a small request costs. No error if more is to come.
  beast::error_code parse_header() {
    return parse([&] { return parser_->is_header_done(); });
  }
  beast::error_code parse_body() {
    return parse([&] { return parser_->is_done(); });
  }
  template <class IsDone>
  beast::error_code parse(const IsDone& is_done) {
    beast::error_code e;
    for (std::size_t used = 1; used > 0 && !e && buffer_.size() > 0 && !is_done();)
      buffer_.consume(used = parser_->put(buffer_.data(), e));
    return e == http::error::need_more ? beast::error_code() : e;
  }
  void read_header() {
    lowest().expires_after(header_time);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](beast::error_code e, std::size_t) {
                              if (e) return self->failed(e);
                              self->begin_request();
                            });
  }
  void begin_request() {
    const auto& header = parser_->get();
    keep_ = header.keep_alive() && !shared_.is_closing;
    is_head_ = header.method() == http::verb::head;
    begin_ = std::chrono::steady_clock::now();
    is_busy_ = true, ++shared_.busy;
    // The memory is taken with the first byte of the body. A body in chunks counts as the longest.
    body_bytes_ =
        header.chunked() ? shared_.options.max_request_bytes : static_cast<i64>(parser_->content_length().value_or(0));
    if ((shared_.body_bytes += body_bytes_) > shared_.options.max_total_body_bytes)
      return refuse(429, "the requests that the server reads take too much memory; try again later");
    if (std::distance(header.begin(), header.end()) > most_headers)
      return refuse(431, "the request has more than 100 headers");
    if (const HeaderFault wrong = fault_of(header); wrong.status) return refuse(wrong.status, wrong.text);
    for (const auto& field : header) headers_.emplace_back(view(field.name_string()), view(field.value()));
    if (header.version() >= 11 && beast::iequals(header[http::field::expect], "100-continue")) return let_continue();
    read_body();
  }
  void end_request() {
    if (!is_busy_) return;
    is_busy_ = false;
    headers_.clear();
    given_ = {}, answer_ = {}, pieces_ = nullptr, piece_ = {};
    shared_.body_bytes -= body_bytes_;
    --shared_.busy;
  }
  void let_continue() {
    const auto go_on = std::make_shared<http::response<http::empty_body>>(http::status::continue_, 11);
    http::async_write(stream_, *go_on, [self = this->shared_from_this(), go_on](beast::error_code e, std::size_t) {
      if (e) return self->close();
      self->read_body();
    });
  }
  void read_body() {
    if (const beast::error_code wrong = parse_body()) return failed(wrong);
    if (parser_->is_done()) return handle();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (static_cast<double>(parser_->get().body().size()) < 1024 * (seconds - 10))
      return refuse(408, "the body comes too slowly");
    lowest().expires_after(header_time);
    http::async_read_some(stream_, buffer_, *parser_,
                          [self = this->shared_from_this()](beast::error_code e, std::size_t) {
                            if (e) return self->failed(e);
                            self->read_body();
                          });
  }

  // Reads, such as whether the server is ready, do not count as slow: they never wait for models.
  void handle() {
    given_ = parser_->release();
    const CancelToken cancel;
    if (given_.method() != http::verb::post) return write(answer_of(cancel));
    HttpAnswer answer;
    bool may = true;
    {
      Hangup hangup(lowest().socket().native_handle(), cancel);
      const Crew::Slow slow(crew_, &hangup);
      may = slow.may();
      if (may) answer = answer_of(cancel);
    }
    if (!may) return refuse(503, "the server has no thread for the request; try again later");
    if (cancel.is_cancelled()) keep_ = false;
    write(std::move(answer));
  }
  HttpAnswer answer_of(const CancelToken& cancel) const noexcept {
    try {
      HttpRequest r{view(given_.method_string()), origin_form(view(given_.target())), {}, given_.body(), cancel};
      r.headers.assign(headers_.begin(), headers_.end());
      r.waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
      return shared_.handler.handle(r);
    } catch (...) {  // no memory, even for an error
      return {500, {}, {}};
    }
  }
  void write(HttpAnswer given) {
    if (given.stream) return write_head(std::move(given));
    answer_ = {static_cast<http::status>(given.status), 11, std::move(given.body)};
    for (const auto& [name, value] : given.headers) answer_.set(name, value);
    answer_.keep_alive(keep_ && !shared_.is_closing);
    if (given_.version() < 11 && answer_.keep_alive()) answer_.set(http::field::connection, "keep-alive");
    if (answer_.result() == http::status::no_content) answer_.body().clear();  // has no Content-Length either
    else answer_.prepare_payload();
    serializer_.emplace(answer_);
    serializer_->split(is_head_);  // the header alone is written at first
    send();
  }
  bool is_written() { return is_head_ ? serializer_->is_header_done() : serializer_->is_done(); }
  // Writes what the socket takes at once, without a timer; what is left when the client has taken some of it.
  void send() {
    if constexpr (!is_tls) {
      beast::error_code e;
      while (!e && !is_written()) http::write_some(lowest().socket(), *serializer_, e);
      if (e && e != net::error::would_block && e != net::error::try_again) return close();
    }
    write_some();
  }
  void write_some() {
    if (is_written()) return answer_.keep_alive() ? wait() : discard();
    lowest().expires_after(write_time);
    http::async_write_some(stream_, *serializer_, [self = this->shared_from_this()](beast::error_code e, std::size_t) {
      if (e) return self->close();
      self->write_some();
    });
  }
  // The head of an answer whose body comes in pieces; to a client of HTTP/1.0 until the connection ends.
  void write_head(HttpAnswer given) {
    struct Head {
      http::response<http::empty_body> answer;
      http::response_serializer<http::empty_body> serializer{answer};
    };
    pieces_ = std::move(given.stream);
    if (given_.version() < 11) keep_ = false;
    const auto head = std::make_shared<Head>();
    head->answer.result(static_cast<http::status>(given.status));
    for (const auto& [name, value] : given.headers) head->answer.set(name, value);
    head->answer.keep_alive(keep_ && !shared_.is_closing);
    keep_ = head->answer.keep_alive();
    if (given_.version() >= 11) head->answer.chunked(true);
    lowest().expires_after(write_time);
    http::async_write_header(stream_, head->serializer,
                             [self = this->shared_from_this(), head](beast::error_code e, std::size_t) {
                               if (e) return self->close();
                               self->write_piece();
                             });
  }
  // Pieces are made one after the other, by a thread that may be slow.
  void write_piece() {
    const CancelToken cancel;
    try {
      Hangup hangup(lowest().socket().native_handle(), cancel);
      const Crew::Slow slow(crew_, &hangup);
      const CallScope until_the_client_goes({.cancel = cancel});
      piece_ = slow.may() ? pieces_->next() : throw std::runtime_error("the server has no thread for it");
    } catch (const std::exception& e) {
      tandem::detail::warn((std::string("serving: an answer ends early: ") + e.what()).c_str());
      return close();
    } catch (...) {  // code of the program may throw anything
      tandem::detail::warn("serving: an answer ends early");
      return close();
    }
    const bool is_last = piece_.empty(), is_chunked = given_.version() >= 11;
    const auto sent = [self = this->shared_from_this(), is_last](beast::error_code e, std::size_t) {
      if (e) return self->close();
      if (!is_last) return self->write_piece();
      self->keep_ ? self->wait() : self->discard();
    };
    lowest().expires_after(write_time);
    if (!is_chunked) net::async_write(stream_, net::buffer(piece_), sent);
    else if (is_last) net::async_write(stream_, http::make_chunk_last(), sent);
    else net::async_write(stream_, http::make_chunk(net::buffer(piece_)), sent);
  }
  void refuse(int status, const char* why) {
    keep_ = false;
    shared_.handler.refused(status);
    std::vector<std::pair<std::string, std::string>> headers{{"Content-Type", "application/json"}};
    if (status == 429 || status == 503) headers.emplace_back("Retry-After", "1");
    write({status, std::move(headers), std::string("{\"error\": \"") + why + "\"}"});
  }
  void failed(beast::error_code e) {
    if (e == http::error::body_limit) return refuse(413, "the body is larger than the server accepts");
    if (e == http::error::header_limit) return refuse(431, "the header is larger than 16 KiB");
    if (e == http::error::buffer_overflow) return refuse(431, "the header of a chunk, or the trailers, are too large");
    if (e.category() == beast::error_code(http::error::bad_method).category() && e != http::error::end_of_stream &&
        e != http::error::partial_message)
      return refuse(400, "this is not HTTP/1.1");
    close();
  }
  // Reads what the client still sends, for a moment: closed with unread bytes, the connection would be reset, and its
  // answer with it.
  void discard() {
    end_request();
    discard_until_ = std::chrono::steady_clock::now() + discard_time;
    if constexpr (is_tls) {
      lowest().expires_at(discard_until_);
      // Says that nothing comes any more. It fails at once if the client still sends.
      stream_.async_shutdown([self = this->shared_from_this()](beast::error_code) { self->discard_rest(); });
    } else {
      discard_rest();
    }
  }
  void discard_rest() {
    beast::error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
    discard_some(0);
  }
  void discard_some(std::size_t discarded) {
    if (discarded > most_discarded_bytes || std::chrono::steady_clock::now() > discard_until_) return close();
    buffer_.clear();
    lowest().expires_at(discard_until_);
    lowest().async_read_some(buffer_.prepare(4096),
                             [self = this->shared_from_this(), discarded](beast::error_code e, std::size_t n) {
                               if (e) return self->close();
                               self->discard_some(discarded + n);
                             });
  }
  void close() {
    end_request();
    beast::error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_both, ignored);
    lowest().close();
  }

  const std::shared_ptr<net::ssl::context> tls_;
  Stream stream_;
  beast::flat_buffer buffer_{most_buffered_bytes};  // has to hold a whole chunk header, or all trailers
  std::optional<http::request_parser<http::string_body>> parser_;
  std::vector<std::pair<std::string, std::string>> headers_;  // without trailers, which given_ has, too
  http::request<http::string_body> given_;
  http::response<http::string_body> answer_;
  std::shared_ptr<HttpStream> pieces_;
  std::string piece_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::chrono::steady_clock::time_point begin_, discard_until_;
  IdleTime idle_;
  std::optional<IdleList::Place> place_;
  bool keep_ = false, is_busy_ = false, may_skip_ = false, is_head_ = false;  // is_head_: the answer has no body
  i64 body_bytes_ = 0;
  HttpShared& shared_;
  Crew& crew_;
};

using PlainSession = HttpSession<beast::tcp_stream>;
using TlsSession = HttpSession<TlsStream>;

}  // namespace TANDEM_NS::serving::impl
