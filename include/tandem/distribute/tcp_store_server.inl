// Definitions of distribute/tcp_store.hpp: TcpStoreServer, one thread that waits for all connections at once.
#pragma once
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <map>
#include <thread>

#include "tandem/base/error.hpp"
#include "tandem/distribute/socket.hpp"
#include "tandem/distribute/start_thread.hpp"
#include "tandem/distribute/tcp_store.hpp"
#include "tandem/distribute/tcp_store_wire.hpp"

namespace TANDEM_NS::distribute {

namespace detail {

/// The table: calls and their answers.
class StoreTable {
 public:
  /// Answers a call of the connection with this number.
  std::string answer(StoreCall kind, const std::string& key, std::string_view value, i64 connection) {
    const i64 now = tandem::detail::nanoseconds_now();
    switch (kind) {
      case StoreCall::set: return put(key, std::string(value), now), std::to_string(lost_[folder_of(key)]);
      case StoreCall::find: {
        const auto found = values_.find(key);
        return found == values_.end() ? std::string() : "=" + found->second.text;
      }
      case StoreCall::add: return add(key, value, now);
      case StoreCall::list: return list(key, now);
      case StoreCall::tie: return tied_[key] = connection, "";
      case StoreCall::untie: return tied_.erase(key), "";
    }
    return "";
  }
  /// The connection has ended: the keys that are tied to it are lost.
  void lose(i64 connection) {
    for (auto i = tied_.begin(); i != tied_.end();) {
      if (i->second != connection) {
        ++i;
        continue;
      }
      if (const auto found = values_.find(i->first); found != values_.end() && !found->second.lost) {
        found->second.lost = tandem::detail::nanoseconds_now();
        ++lost_[folder_of(i->first)];
      }
      i = tied_.erase(i);
    }
  }

 private:
  struct Value {
    std::string text;
    i64 written = 0, lost = 0;  // moments; lost: 0 while it is not
  };
  static std::string folder_of(const std::string& key) { return key.substr(0, key.rfind('/') + 1); }
  void put(const std::string& key, std::string text, i64 now) {
    Value& v = values_[key];
    if (v.lost) --lost_[folder_of(key)];
    v = {std::move(text), now, 0};
  }
  std::string add(const std::string& key, std::string_view value, i64 now) {
    i64 number = 0, sum = 0;
    const auto found = values_.find(key);
    if (!to_number(value, number) || (found != values_.end() && !to_number(found->second.text, sum))) return "?";
    std::string text = std::to_string(sum + number);
    put(key, text, now);
    return text;
  }
  std::string list(const std::string& prefix, i64 now) const {
    Fields f;
    for (auto i = values_.lower_bound(prefix); i != values_.end() && i->first.starts_with(prefix); ++i) {
      f.put(i->first), f.put(i->second.text), f.put(std::to_string(now - i->second.written));
      f.put(std::to_string(i->second.lost ? now - i->second.lost : -1));
    }
    return f.text();
  }
  std::map<std::string, Value> values_;
  std::map<std::string, i64> tied_;  // key -> the connection
  std::map<std::string, i64> lost_;  // folder -> how many of its keys are
};

/// Lets this process open as many descriptors as it may: the store has one for each connection of each rank.
inline void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// A connection: what has arrived and is not a whole frame, and what is still to be sent.
struct StoreClient {
  Socket socket;
  i64 number = 0;
  std::string in{}, out{};

  /// Receives, answers and sends what can be without waiting, 1 MiB at most; false if the connection has ended, or if
  /// the peer asks without reading the answers.
  bool serve(StoreTable& table) {
    char chunk[16384];
    for (std::size_t got = 0; got < (1 << 20);) {
      const ssize_t n = ::recv(socket.get(), chunk, sizeof chunk, 0);
      if (n == 0) return false;
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return false;
      if (n < 0) break;
      in.append(chunk, static_cast<std::size_t>(n));
      got += static_cast<std::size_t>(n);
    }
    while (in.size() >= 4) {
      const std::size_t size = read_length(in.data());
      if (size > largest_frame) return false;
      if (in.size() - 4 < size) break;
      FieldReader fields(std::string_view(in).substr(4, size));
      const std::string_view kind = fields.next(), key = fields.next(), value = fields.next();
      if (kind.size() != 1 || !fields.is_valid()) return false;
      out += Fields::frame(table.answer(static_cast<StoreCall>(kind[0]), std::string(key), value, number));
      in.erase(0, 4 + size);
      if (out.size() > largest_frame + 4) return false;
    }
    return send();
  }
  bool send() {
    while (!out.empty()) {
      const ssize_t n = ::send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      out.erase(0, static_cast<std::size_t>(n));
    }
    return true;
  }
};

}  // namespace detail

struct TcpStoreServer::State {
  detail::Socket listener, wake;
  int port = 0;
  std::thread thread{};
  detail::StoreTable table{};
  std::vector<detail::StoreClient> clients{};
  i64 connections = 0;
  bool is_full = false;  // no descriptor is left: connections wait until one is

  void run() {
    std::vector<pollfd> polled;
    for (;;) {
      polled.assign({{wake.get(), POLLIN, 0}, {listener.get(), static_cast<short>(is_full ? 0 : POLLIN), 0}});
      for (const detail::StoreClient& c : clients)
        polled.push_back({c.socket.get(), static_cast<short>(c.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
      if (::poll(polled.data(), static_cast<nfds_t>(polled.size()), is_full ? 100 : -1) < 0 && errno != EINTR) return;
      if (polled[0].revents) return;
      for (std::size_t i = clients.size(); i-- > 0;)
        if (polled[i + 2].revents && !clients[i].serve(table)) {
          table.lose(clients[i].number);
          clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i));
        }
      if (polled[1].revents || is_full) accept();
    }
  }
  void accept() {
    for (;;) {
      detail::Socket s(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      is_full = !s.is_open() && (errno == EMFILE || errno == ENFILE);
      if (!s.is_open()) return;
      detail::set_option(s, IPPROTO_TCP, TCP_NODELAY);
      clients.push_back({std::move(s), ++connections});
    }
  }
};

TANDEM_INLINE TcpStoreServer::TcpStoreServer(const std::string& address, int port)
    : state_(new State{detail::listen_at("TcpStoreServer", address, port), detail::Socket()}) {
  state_->port = detail::port_of(state_->listener);
  detail::raise_descriptor_limit();
  state_->wake = detail::Socket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!state_->wake.is_open())
    errors::raise<errors::ResourceExhaustedError>("TcpStoreServer", "no file descriptor is left");
  State* const s = state_.get();
  state_->thread = detail::start_thread("TcpStoreServer", [s] { s->run(); });
}
TANDEM_INLINE TcpStoreServer::~TcpStoreServer() {
  const std::uint64_t one = 1;
  if (::write(state_->wake.get(), &one, sizeof one) == sizeof one) state_->thread.join();
}
TANDEM_INLINE int TcpStoreServer::port() const { return state_->port; }

}  // namespace TANDEM_NS::distribute
