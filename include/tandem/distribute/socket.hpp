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
  ///   throws  errors::UnavailableError in the name of `op` if the name is unknown
  Addresses(const char* op, const std::string& host, int port, int flags) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC, hints.ai_socktype = SOCK_STREAM, hints.ai_flags = flags | AI_NUMERICSERV;
    const char* const name = host.empty() ? nullptr : host.c_str();
    if (const int e = ::getaddrinfo(name, std::to_string(port).c_str(), &hints, &first_); e != 0)
      errors::raise<errors::UnavailableError>(op, "cannot find the host '" + host + "': " + ::gai_strerror(e));
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses() { ::freeaddrinfo(first_); }
  const addrinfo* first() const { return first_; }

 private:
  addrinfo* first_ = nullptr;
};

inline Socket open_socket(const addrinfo& a) {
  return Socket(::socket(a.ai_family, a.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a.ai_protocol));
}
inline void set_option(const Socket& s, int level, int option) {
  const int on = 1;
  ::setsockopt(s.get(), level, option, &on, sizeof on);
}

/// Listens at an address of this machine (empty: all of them); port 0 is one that is free.
///   throws  errors::UnavailableError in the name of `op` if the port is in use
inline Socket listen_at(const char* op, const std::string& address, int port) {
  const Addresses found(op, address, port, AI_PASSIVE);
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

/// Tries once to connect to each address of the host.
///   returns  a socket that is not open where nobody answers by `moment`; errno says why
inline Socket try_connect(const char* op, const std::string& host, int port, i64 moment) {
  const Addresses found(op, host, port, 0);
  int error = ECONNREFUSED;
  for (const addrinfo* a = found.first(); a; a = a->ai_next) {
    Socket s = open_socket(*a);
    if (!s.is_open()) continue;
    if (::connect(s.get(), a->ai_addr, a->ai_addrlen) != 0) {
      if (error = errno; error != EINPROGRESS) continue;
      socklen_t size = sizeof error;
      if (!wait_for(s.get(), POLLOUT, moment)) {
        error = ETIMEDOUT;
        continue;
      }
      if (::getsockopt(s.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) continue;
    }
    set_option(s, IPPROTO_TCP, TCP_NODELAY);
    return s;
  }
  errno = error;
  return Socket();
}

}  // namespace TANDEM_NS::distribute::detail
