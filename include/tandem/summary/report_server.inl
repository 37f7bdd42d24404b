// Definitions of summary/report_server.hpp. Of HTTP/1.1 (RFC 9112) what GET of one page needs; each connection ends
// with its answer. Not here: the server of tandem::serving, which needs OpenSSL, Boost and prometheus-cpp; programs
// that train link none of them.
#pragma once
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/plot/svg.hpp"
#include "tandem/summary/report_server.hpp"

namespace TANDEM_NS::summary {

namespace impl {

[[noreturn]] TANDEM_INLINE void raise_server(const std::string& what) {
  errors::raise<errors::UnavailableError>("ReportServer", what + ": " + std::strerror(errno));
}

/// A connection that waits neither for a slow client nor once the server is to end.
class Connection {
 public:
  Connection(io::detail::Descriptor socket, int stop) : socket_(std::move(socket)), stop_(stop) {}

  /// The head of a request; empty if none comes in time.
  std::string read() {
    std::string r;
    char bytes[1024];
    while (r.size() < most && r.find("\r\n\r\n") == r.npos && wait(POLLIN)) {
      const ssize_t n = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      if (n > 0) r.append(bytes, static_cast<std::size_t>(n));
      else if (n == 0 || !is_temporary()) break;
    }
    return r;
  }
  void write(std::string_view text) {
    end_ = after(5);  // the page may have taken long
    while (!text.empty() && wait(POLLOUT)) {
      const ssize_t n = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
      else if (!is_temporary()) return;
    }
    // Closed with bytes that were not read, the connection would be reset, and the answer with it.
    ::shutdown(socket_.get(), SHUT_WR);
    end_ = after(1);
    char bytes[1024];
    while (wait(POLLIN))
      if (const ssize_t n = ::recv(socket_.get(), bytes, sizeof bytes, 0); n == 0 || (n < 0 && !is_temporary())) return;
  }

  static constexpr std::size_t most = 8192;

 private:
  static bool is_temporary() { return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK; }
  bool wait(short what) const {
    using namespace std::chrono;
    for (;;) {
      const auto left = duration_cast<milliseconds>(end_ - steady_clock::now()).count();
      pollfd fds[2] = {{socket_.get(), what, 0}, {stop_, POLLIN, 0}};
      if (left <= 0) return false;
      const int n = ::poll(fds, 2, static_cast<int>(left));
      if (n < 0 && errno == EINTR) continue;
      return n > 0 && fds[1].revents == 0;
    }
  }
  const io::detail::Descriptor socket_;
  const int stop_;
  static std::chrono::steady_clock::time_point after(int seconds) {
    return std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  }
  std::chrono::steady_clock::time_point end_ = after(1);  // for the request: clients are on this machine
};

TANDEM_INLINE std::string answer(const std::string& status, const std::string& page, const std::string& more = {}) {
  return "HTTP/1.1 " + status +
         "\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: " + std::to_string(page.size()) +
         "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n" + more + "Connection: close\r\n\r\n" +
         page;
}
TANDEM_INLINE std::string plain_page(const std::string& text) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><title>Report</title><p>" + plot::impl::escaped(text) + "</p></html>\n";
}
/// The value of a field of a request's head, in lower case as the head is.
TANDEM_INLINE std::string_view field_of(std::string_view head, const std::string& name) {
  const std::size_t at = head.find("\r\n" + name + ":");
  if (at == head.npos) return {};
  std::string_view value = head.substr(at + name.size() + 3);
  value = value.substr(0, value.find("\r\n"));
  while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
  while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
  return value;
}

}  // namespace impl

struct ReportServer::State {
  const std::string logdir;
  const ReportOptions options;
  io::detail::Descriptor socket, stop_reader, stop_writer;
  int port = 0;
  const pid_t process = ::getpid();
  std::thread thread;

  State(std::string folder, ReportOptions o) : logdir(std::move(folder)), options(std::move(o)) {}
  ~State() {
    if (!thread.joinable()) return;
    if (::getpid() != process) {  // a child of fork(), which has no such thread
      thread.detach();
      return;
    }
    io::detail::uninterrupted([&] { return ::write(stop_writer.get(), "", 1); });
    thread.join();
  }
  void listen_at(int wanted);
  void serve() const;
  std::string answer_to(std::string request) const;
};

TANDEM_INLINE void ReportServer::State::listen_at(int wanted) {
  socket = io::detail::Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) impl::raise_server("cannot make a socket");
  const int yes = 1;  // a port whose last server has just ended
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(wanted));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), at, size) != 0 || ::listen(socket.get(), 8) != 0 ||
      ::getsockname(socket.get(), at, &size) != 0)
    impl::raise_server("cannot serve at 127.0.0.1:" + std::to_string(wanted));
  port = ntohs(address.sin_port);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) impl::raise_server("cannot make a pipe");
  stop_reader = io::detail::Descriptor(ends[0]), stop_writer = io::detail::Descriptor(ends[1]);
}
// Connections that have sent nothing yet hold nobody back: browsers open some ahead of their requests.
TANDEM_INLINE void ReportServer::State::serve() const {
  std::array<io::detail::Descriptor, 8> silent;  // in their order; of more than these the first one is dropped
  for (;;) {
    pollfd fds[2 + silent.size()] = {{socket.get(), POLLIN, 0}, {stop_reader.get(), POLLIN, 0}};
    for (std::size_t i = 0; i < silent.size(); ++i) fds[2 + i] = {silent[i].get(), POLLIN, 0};  // without one: -1
    if (::poll(fds, std::size(fds), -1) < 0) {
      if (errno != EINTR) return;
      continue;
    }
    if (fds[1].revents != 0) return;
    for (std::size_t i = 0; i < silent.size(); ++i) try {
        if (fds[2 + i].revents == 0) continue;
        impl::Connection connection(std::move(silent[i]), stop_reader.get());
        connection.write(answer_to(connection.read()));
      } catch (const std::exception&) {  // no memory for the page: the next request may have it
      }
    if (fds[0].revents == 0) continue;
    const int client = ::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client >= 0) {
      const auto is_free = [](const io::detail::Descriptor& d) { return d.get() < 0; };
      auto place = std::remove_if(silent.begin(), silent.end(), is_free);
      if (place == silent.end()) place = std::rotate(silent.begin(), silent.begin() + 1, silent.end());
      *place = io::detail::Descriptor(client);
    } else if (errno != EINTR && errno != EAGAIN && errno != ECONNABORTED) {
      // Without a descriptor or memory that is free the socket stays ready: not at once again.
      ::poll(&fds[1], 1, 100);
    }
  }
}
TANDEM_INLINE std::string ReportServer::State::answer_to(std::string request) const {
  const auto refuse = [](const char* status) { return impl::answer(status, impl::plain_page(status)); };
  const std::size_t end = request.find("\r\n\r\n"), line = request.find("\r\n");
  if (end == request.npos)
    return refuse(request.size() >= impl::Connection::most ? "431 Request Header Fields Too Large" : "400 Bad Request");
  const std::string first = request.substr(0, line);
  if (!first.ends_with(" HTTP/1.1") && !first.ends_with(" HTTP/1.0")) return refuse("400 Bad Request");
  if (!first.starts_with("GET "))
    return impl::answer("405 Method Not Allowed", impl::plain_page("405 Method Not Allowed"), "Allow: GET\r\n");
  for (char& c : request) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  // Another name is that of a web site whose address has become this machine's, and whose scripts would read the page.
  const std::string_view host = impl::field_of(std::string_view(request).substr(0, end + 2), "host");
  const std::string at = ":" + std::to_string(port);
  if (host != "127.0.0.1" + at && host != "localhost" + at) return refuse("403 Forbidden");
  const std::string target = first.substr(4, first.rfind(' ') - 4);
  if (target != "/") return refuse("404 Not Found");
  const std::string again = "Refresh: 10\r\n";
  try {
    return impl::answer("200 OK", report_html(logdir, options), again);
  } catch (const errors::OpError& e) {  // there is none yet, or a file is damaged
    return impl::answer("503 Service Unavailable", impl::plain_page(e.what()), again);
  }
}

TANDEM_INLINE ReportServer::ReportServer(std::string logdir, int port, ReportOptions options)
    : state_(std::make_unique<State>(std::move(logdir), std::move(options))) {
  if (port < 0 || port > 65535)
    errors::raise<errors::InvalidArgumentError>("ReportServer",
                                                "a port is from 0 to 65535, not " + std::to_string(port));
  detail::check_report_options("ReportServer", state_->options);
  state_->listen_at(port);
  try {
    state_->thread = std::thread([s = state_.get()] { s->serve(); });
  } catch (const std::system_error&) {
    errors::raise<errors::ResourceExhaustedError>("ReportServer", "the system has no thread left to start");
  }
}
TANDEM_INLINE ReportServer::ReportServer(ReportServer&&) noexcept = default;
TANDEM_INLINE ReportServer& ReportServer::operator=(ReportServer&&) noexcept = default;
TANDEM_INLINE ReportServer::~ReportServer() = default;
TANDEM_INLINE int ReportServer::port() const { return state_->port; }

}  // namespace TANDEM_NS::summary
