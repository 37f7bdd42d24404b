// Servers between TcpStore and its clients that say nothing, or stop to pass on what is said; and how to wait for what
// another thread does.
#pragma once
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/distribute/tcp_store.hpp"
#include "tests/support/catch.hpp"

namespace testing {

inline tandem::distribute::Endpoint place(const tandem::distribute::TcpStoreServer& s) {
  return {"127.0.0.1", s.port()};
}
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
// Asks again for a minute at most.
template <class F>
bool becomes(const F& holds) {
  for (const double end = now() + 60; now() < end; std::this_thread::sleep_for(std::chrono::milliseconds(10)))
    if (holds()) return true;
  return false;
}

// A socket that listens, and never accepts.
struct Silent {
  int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  tandem::distribute::Endpoint where = {};
  Silent() {
    sockaddr_in a{};
    a.sin_family = AF_INET, a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&a), size) == 0);
    REQUIRE(::listen(fd, 5) == 0);
    REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size) == 0);
    where.port = ntohs(a.sin_port);
  }
  ~Silent() { ::close(fd); }
};

// Passes bytes between clients and a server; stalls, for the connections that there are, when told to. Can hold the
// answers to the first connection, and let them go one by one.
class Relay {
 public:
  explicit Relay(int port) : port_(port), thread_([this] { run(); }) {}
  ~Relay() {
    ends_ = true;
    thread_.join();
    for (const auto& [from, to] : pairs_) ::close(from), ::close(to);
  }
  tandem::distribute::Endpoint where() const { return listener_.where; }
  void stall() {
    for (stalls_ = true; stalls_;) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void hold() { holds_ = true; }
  int held() const { return held_; }
  void let_one_go() { ++let_go_; }

 private:
  void run() {
    while (!ends_) {
      if (stalls_) stalled_ = pairs_.size(), stalls_ = false;
      pollfd p{listener_.fd, POLLIN, 0};
      if (::poll(&p, 1, 1) > 0) {
        const int to = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in a{};
        a.sin_family = AF_INET, a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        a.sin_port = htons(static_cast<std::uint16_t>(port_));
        const bool is_connected = ::connect(to, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0;
        pairs_.emplace_back(::accept(listener_.fd, nullptr, nullptr), is_connected ? to : -1);
      }
      for (std::size_t i = stalled_; i < pairs_.size(); ++i) {
        pass(pairs_[i].first, pairs_[i].second);
        if (i == 0 && holds_) keep();
        else pass(pairs_[i].second, pairs_[i].first);
      }
    }
  }
  // A client waits for an answer before it asks again: what comes at once is one answer.
  void keep() {
    char bytes[4096];
    const ssize_t n = ::recv(pairs_[0].second, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n > 0 && answer_.empty()) ++held_;
    if (n > 0) answer_.append(bytes, static_cast<std::size_t>(n));
    if (answer_.empty() || let_go_ == 0) return;
    ::send(pairs_[0].first, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    answer_.clear(), --let_go_;
  }
  static void pass(int from, int to) {
    char bytes[4096];
    const ssize_t n = ::recv(from, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n > 0) ::send(to, bytes, static_cast<std::size_t>(n), MSG_NOSIGNAL);
  }

  Silent listener_{};
  int port_;
  std::vector<std::pair<int, int>> pairs_{};
  std::size_t stalled_ = 0;
  std::string answer_{};
  std::atomic<int> held_{0}, let_go_{0};
  std::atomic<bool> ends_{false}, stalls_{false}, holds_{false};
  std::thread thread_;
};

}  // namespace testing
