// TCP sockets with deadlines, on POSIX: to listen, to connect, to send and receive a number of bytes. For definitions
// only. Not here: what is sent (tcp_store.inl).
#pragma once
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::distribute::detail {

/// A socket, closed at the end of its scope. Its calls do not block.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Socket& operator=(Socket&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// The moment `seconds` from now, in nanoseconds of the monotonic clock; at most a year away.
inline i64 moment_after(double seconds) {
  return tandem::detail::nanoseconds_now() + static_cast<i64>(std::clamp(seconds, 0., 3.2e7) * 1e9);
}
inline double seconds_since(i64 moment) {
  return static_cast<double>(tandem::detail::nanoseconds_now() - moment) * 1e-9;
}

/// Sleeps until the socket is ready for `events`; false once `moment` has passed.
inline bool wait_for(int fd, short events, i64 moment) {
  for (;;) {
    const i64 left = (moment - tandem::detail::nanoseconds_now()) / 1'000'000;
    pollfd p{fd, events, 0};
    const int n = ::poll(&p, 1, static_cast<int>(std::clamp<i64>(left + 1, 0, 1'000'000)));
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
    if (tandem::detail::nanoseconds_now() >= moment) return false;
  }
}

/// Sends all bytes; false if the peer is gone or `moment` has passed.
inline bool send_all(const Socket& s, const char* from, std::size_t size, i64 moment) {
  while (size > 0) {
    const ssize_t n = ::send(s.get(), from, size, MSG_NOSIGNAL);
    if (n > 0) {
      from += n, size -= static_cast<std::size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!wait_for(s.get(), POLLOUT, moment)) return false;
    } else if (n == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}
/// Receives exactly `size` bytes; false if the peer is gone or `moment` has passed.
inline bool receive_all(const Socket& s, char* to, std::size_t size, i64 moment) {
  while (size > 0) {
    const ssize_t n = ::recv(s.get(), to, size, 0);
    if (n > 0) {
      to += n, size -= static_cast<std::size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (!wait_for(s.get(), POLLIN, moment)) return false;
    } else if (n == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

/// The addresses of a host, freed at the end of the scope.
class Addresses {
 public:
  Addresses(const std::string& host, int port, int flags) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC, hints.ai_socktype = SOCK_STREAM, hints.ai_flags = flags | AI_NUMERICSERV;
    const char* const name = host.empty() ? nullptr : host.c_str();
    if (const int e = ::getaddrinfo(name, std::to_string(port).c_str(), &hints, &first_); e != 0)
      error_ = "cannot find the host '" + host + "': " + ::gai_strerror(e);
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses() {
    if (first_) ::freeaddrinfo(first_);
  }
  const addrinfo* first() const { return first_; }  // null if there are none
  const std::string& error() const { return error_; }

 private:
  std::string error_{};
  addrinfo* first_ = nullptr;
};

inline Socket open_socket(const addrinfo& a) {
  return Socket(::socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a.ai_protocol));
}
inline void set_option(const Socket& s, int level, int option) {
  const int on = 1;
  ::setsockopt(s.get(), level, option, &on, sizeof on);
}

/// Listens at all addresses of both versions; not open if that cannot be.
inline Socket listen_at_all(int port) {
  Socket s(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in6 a{};
  a.sin6_family = AF_INET6, a.sin6_addr = in6addr_any, a.sin6_port = htons(static_cast<std::uint16_t>(port));
  const int off = 0;
  if (!s.is_open() || ::setsockopt(s.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) return Socket();
  set_option(s, SOL_SOCKET, SO_REUSEADDR);
  const bool listens =
      ::bind(s.get(), reinterpret_cast<sockaddr*>(&a), sizeof a) == 0 && ::listen(s.get(), SOMAXCONN) == 0;
  return listens ? std::move(s) : Socket();
}

/// Listens at an address of this machine (empty: all of them); port 0 is one that is free.
///   throws  errors::UnavailableError in the name of `op` if the port is in use
inline Socket listen_at(const char* op, const std::string& address, int port) {
  if (address.empty())
    if (Socket s = listen_at_all(port); s.is_open()) return s;
  const Addresses found(address, port, AI_PASSIVE);
  if (!found.first()) errors::raise<errors::UnavailableError>(op, found.error());
  int error = 0;
  for (const addrinfo* a = found.first(); a; a = a->ai_next) {
    Socket s = open_socket(*a);
    if (!s.is_open()) {
      error = errno;
      continue;
    }
    set_option(s, SOL_SOCKET, SO_REUSEADDR);
    if (::bind(s.get(), a->ai_addr, a->ai_addrlen) == 0 && ::listen(s.get(), SOMAXCONN) == 0) return s;
    error = errno;
  }
  errors::raise<errors::UnavailableError>(op, "cannot listen at " + (address.empty() ? "*" : address) + ":" +
                                                  std::to_string(port) + ": " + std::strerror(error));
}
/// The port of a socket's own end.
inline int port_of(const Socket& s) {
  sockaddr_storage a{};
  socklen_t size = sizeof a;
  ::getsockname(s.get(), reinterpret_cast<sockaddr*>(&a), &size);
  return ntohs(a.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(a).sin6_port
                                       : reinterpret_cast<sockaddr_in&>(a).sin_port);
}

/// The address of a socket's own end, as numbers; empty if it is not connected.
inline std::string own_address(const Socket& s) {
  sockaddr_storage a{};
  socklen_t size = sizeof a;
  char text[NI_MAXHOST] = {};
  const auto at = reinterpret_cast<sockaddr*>(&a);
  if (::getsockname(s.get(), at, &size) != 0 ||
      ::getnameinfo(at, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  return text;
}

/// Whether a socket is connected to itself: a free port of this machine may be that of its own end.
inline bool is_own_peer(const Socket& s) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  return ::getsockname(s.get(), reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
         ::getpeername(s.get(), reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 && own_size == peer_size &&
         std::memcmp(&own, &peer, own_size) == 0;
}

/// What has come of an attempt to connect: a socket, or why there is none.
struct Attempt {
  Socket socket{};
  std::string error{};
  bool was_refused = false;  ///< by all addresses: their machines answer, but nobody listens
};
/// Tries once to connect to each address of the host, for at most three seconds each, until `moment`.
inline Attempt try_connect(const std::string& host, int port, i64 moment) {
  const Addresses found(host, port, 0);
  if (!found.first()) return {.error = found.error()};
  int error = ECONNREFUSED;
  bool was_refused = true;
  for (const addrinfo* a = found.first(); a; a = a->ai_next, was_refused = was_refused && error == ECONNREFUSED) {
    Socket s = open_socket(*a);
    if (!s.is_open()) {
      error = errno;
      continue;
    }
    if (::connect(s.get(), a->ai_addr, a->ai_addrlen) != 0) {
      if (error = errno; error != EINPROGRESS) continue;
      socklen_t size = sizeof error;
      if (!wait_for(s.get(), POLLOUT, std::min(moment, moment_after(3)))) {
        error = ETIMEDOUT;
        continue;
      }
      if (::getsockopt(s.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) continue;
    }
    if (is_own_peer(s)) {
      error = ECONNREFUSED;
      continue;
    }
    set_option(s, IPPROTO_TCP, TCP_NODELAY);
    return {.socket = std::move(s)};
  }
  return {.error = std::strerror(error), .was_refused = was_refused};
}

}  // namespace TANDEM_NS::distribute::detail
