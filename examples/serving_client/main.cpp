// serving_client: asks a model server over REST, by plain sockets: what a client needs of a program without libraries.
//   serving_client half 1 2 5                          prints {"predictions": [2.5, 3.0, 4.5]}
//   serving_client digits '[[0, 0.5, ...], ...]'       an instance of any shape, as JSON
#include <fmt/core.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "examples/support/program.hpp"

namespace {

struct Options {
  std::string host = "127.0.0.1", port = "8501", model, signature = "serving_default", token;
  std::vector<std::string> instances;
  int timeout = 30;
};

/// A connection that has so many seconds for everything: a server that sends a byte from time to time gets no more.
/// The look-up of the host's name counts, but is not interrupted: how long it takes at most, the system's resolver
/// sets.
class Connection {
 public:
  /// throws  std::runtime_error if nobody listens there
  Connection(const std::string& host, const std::string& port, int seconds)
      : end_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_socktype = SOCK_STREAM;
    if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found))
      throw std::runtime_error(fmt::format("{}:{}: {}", host, port, ::gai_strerror(error)));
    for (const addrinfo* at = found; at && socket_ < 0; at = at->ai_next) {
      socket_ = ::socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK, at->ai_protocol);
      if (socket_ >= 0 && !connect(*at)) ::close(socket_), socket_ = -1;
    }
    ::freeaddrinfo(found);
    if (socket_ < 0) throw std::runtime_error(fmt::format("{}:{} does not answer", host, port));
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (n >= 0) text.remove_prefix(static_cast<std::size_t>(n));
      else wait(POLLOUT);
    }
  }
  /// All that comes until the server closes the connection.
  std::string receive() const {
    std::string all;
    char some[16384];
    for (ssize_t n; (n = ::recv(socket_, some, sizeof some, 0)) != 0;) {
      if (n < 0) wait(POLLIN);
      else all.append(some, static_cast<std::size_t>(n));
      check_time();
    }
    return all;
  }

 private:
  bool connect(const addrinfo& to) const {
    if (::connect(socket_, to.ai_addr, to.ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS && errno != EINTR) return false;
    pollfd state{socket_, POLLOUT, 0};
    int ready = 0, error = 0;
    do ready = ::poll(&state, 1, milliseconds_left());
    while (ready < 0 && errno == EINTR);
    socklen_t size = sizeof error;
    return ready == 1 && ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  }
  // After a call that has failed: until it may be tried again.
  void wait(short what) const {
    if (errno != EAGAIN && errno != EINTR)
      throw std::runtime_error(fmt::format("the server has closed the connection: {}", std::strerror(errno)));
    pollfd state{socket_, what, 0};
    ::poll(&state, 1, milliseconds_left());
    check_time();
  }
  void check_time() const {
    if (milliseconds_left() == 0) throw std::runtime_error("the answer takes too long");
  }
  int milliseconds_left() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
  }

  const std::chrono::steady_clock::time_point end_;
  int socket_ = -1;
};

// A text as JSON has it.
std::string json_text(std::string_view text) {
  std::string r = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') r += '\\';
    if (static_cast<unsigned char>(c) < 0x20) r += fmt::format("\\u{:04x}", static_cast<int>(c));
    else r += c;
  }
  return r + '"';
}

int ask(const Options& o) {
  const std::string body = fmt::format(R"({{"signature_name": {}, "instances": [{}]}})", json_text(o.signature),
                                       fmt::join(o.instances, ", "));
  const std::string token = o.token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", o.token);
  const Connection server(o.host, o.port, o.timeout);
  server.send(fmt::format(
      "POST /v1/models/{}:predict HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
      "X-Request-Timeout-Ms: {}\r\n{}Connection: close\r\n\r\n",
      o.model, o.host, o.port, body.size(), std::int64_t{1000} * o.timeout, token));
  server.send(body);
  const std::string answer = server.receive();
  const std::size_t head = answer.find("\r\n\r\n");
  int status = 0;
  if (!answer.starts_with("HTTP/1.1 ") || head == answer.npos ||
      std::from_chars(answer.data() + 9, answer.data() + answer.size(), status).ec != std::errc())
    throw std::runtime_error("the answer is not HTTP");
  fmt::print(status == 200 ? stdout : stderr, "{}\n", answer.substr(head + 4));
  return status == 200 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("serving_client: asks a model server");
  app.add_option("MODEL", o.model, "the model; with a version: half/versions/3")->required();
  app.add_option("INSTANCES", o.instances, "each a row of the input, as JSON")->required();
  app.add_option("--host", o.host, "the server's")->capture_default_str();
  app.add_option("--port", o.port, "of REST")->capture_default_str();
  app.add_option("--signature", o.signature, "of the model")->capture_default_str();
  app.add_option("--token", o.token, "what the server wants of its clients");
  arguments::add(app, "--timeout", o.timeout, 1, "seconds, for all of it");
  return program::run("serving_client", app, argc, argv, [&] { return ask(o); });
}
