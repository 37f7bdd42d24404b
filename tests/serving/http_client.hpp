// A client of HTTP over a real socket, for the tests of servers.
#pragma once
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

#include "tests/support/catch.hpp"

namespace testing {

/// A connection of a client.
class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET, at.sin_port = htons(static_cast<std::uint16_t>(port)),
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    const timeval limit{120, 0};  // for sanitizers on a busy machine, too
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  Client(const Client&) = delete;
  ~Client() { ::close(socket_); }
  void send(const std::string& text) const {
    REQUIRE(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  /// Sends a byte to a server that may have closed the connection.
  void send_if_open(char c) const { (void)::send(socket_, &c, 1, MSG_NOSIGNAL); }
  /// Whether an answer has begun to come, or the connection has ended.
  bool can_receive() const {
    pollfd state{socket_, POLLIN, 0};
    return ::poll(&state, 1, 0) == 1;
  }
  /// What comes until a whole answer is there or the connection ends.
  std::string receive() const {
    std::string r;
    for (char some[4096]; !is_whole(r);) {
      const ssize_t n = ::recv(socket_, some, sizeof some, 0);
      if (n <= 0) break;
      r.append(some, static_cast<std::size_t>(n));
    }
    return r;
  }
  /// What comes until this is at its end, or the connection's end.
  std::string receive_until(const std::string& last) const {
    std::string r;
    for (char c; !r.ends_with(last) && ::recv(socket_, &c, 1, 0) == 1;) r += c;
    return r;
  }
  /// Says that the connection ends with a reset, as that of a process that is killed.
  void close_by_reset() const {
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  bool is_closed() const {
    char c;
    return ::recv(socket_, &c, 1, 0) == 0;
  }
  std::string ask(const std::string& method, const std::string& target, const std::string& body = {},
                  const std::string& headers = {}) const {
    send(method + " " + target + " HTTP/1.1\r\nHost: here\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body);
    return receive();
  }

 private:
  static bool is_whole(const std::string& r) {
    const std::size_t head = r.find("\r\n\r\n"), length = r.find("Content-Length: ");
    return head != r.npos && length != r.npos && r.size() >= head + 4 + std::stoul(r.substr(length + 16, 20));
  }
  const int socket_;
};

}  // namespace testing
