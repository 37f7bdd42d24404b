// Definitions of distribute/tcp_store.hpp: TcpStore, a client, and Endpoint. A call sends one frame and receives one: 4
// bytes of length, then fields (tcp_store_wire.hpp). Not here: the server (tcp_store_server.inl).
#pragma once
#include <charconv>
#include <ctime>
#include <mutex>

#include "tandem/base/error.hpp"
#include "tandem/distribute/socket.hpp"
#include "tandem/distribute/tcp_store.hpp"
#include "tandem/distribute/tcp_store_wire.hpp"
#include "tandem/distribute/texts.hpp"

namespace TANDEM_NS::distribute {

TANDEM_INLINE std::string Endpoint::text() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

TANDEM_INLINE Endpoint Endpoint::parse(const char* op, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  Endpoint e;
  bool is_port = colon != std::string_view::npos && colon > 0;
  if (is_port) {
    const char* const end = text.data() + text.size();
    const auto r = std::from_chars(text.data() + colon + 1, end, e.port);
    is_port = r.ec == std::errc() && r.ptr == end && e.port > 0 && e.port < 65536;
  }
  if (!is_port)
    errors::raise<errors::InvalidArgumentError>(op, "'" + std::string(text) + "' is not a host and a port, host:29500");
  e.host = text.substr(0, colon);
  if (e.host.size() > 2 && e.host.front() == '[' && e.host.back() == ']') e.host = e.host.substr(1, e.host.size() - 2);
  return e;
}

struct TcpStore::State {
  Endpoint server;
  double timeout;
  std::mutex mutex;  // guards what follows: one call at a time
  detail::Socket socket{};

  bool is_broken = false;

  // The socket stays open, so that keys tied to it are not lost before another connection has tied them.
  [[noreturn]] void fail(const std::string& what) {
    is_broken = true;
    errors::raise<errors::UnavailableError>("TcpStore", "the store at " + server.text() + " " + what);
  }
  void connect() {
    const i64 end = detail::moment_after(timeout);
    for (i64 pause = 10'000'000;; pause = std::min<i64>(2 * pause, 500'000'000)) {
      detail::Attempt a = detail::try_connect(server.host, server.port, end);
      if (a.socket.is_open()) return static_cast<void>(socket = std::move(a.socket));
      if (tandem::detail::nanoseconds_now() + pause >= end)
        fail("cannot be reached within " + impl::seconds_text(timeout) + ": " + a.error);
      const timespec t{0, static_cast<long>(pause)};
      ::nanosleep(&t, nullptr);
    }
  }
  std::string call(detail::StoreCall kind, std::string_view key, std::string_view value = {}) {
    const std::lock_guard lock(mutex);
    if (is_broken) fail("is not connected any more");
    detail::Fields request;
    request.put(std::string_view(reinterpret_cast<const char*>(&kind), 1));
    request.put(key), request.put(value);
    const std::string frame = request.frame();
    const i64 end = detail::moment_after(timeout);
    char length[4];
    if (!detail::send_all(socket, frame.data(), frame.size(), end) || !detail::receive_all(socket, length, 4, end))
      fail("does not answer");
    const std::size_t size = detail::read_length(length);
    if (size > detail::largest_frame) fail("sends what is not an answer");
    std::string answer(size, '\0');
    if (!detail::receive_all(socket, answer.data(), answer.size(), end)) fail("does not answer");
    return answer;
  }
};

TANDEM_INLINE TcpStore::TcpStore(Endpoint server, double timeout) : state_(new State{std::move(server), timeout, {}}) {
  state_->connect();
}
TANDEM_INLINE TcpStore::TcpStore(TcpStore&&) noexcept = default;
TANDEM_INLINE TcpStore& TcpStore::operator=(TcpStore&&) noexcept = default;
TANDEM_INLINE TcpStore::~TcpStore() = default;
TANDEM_INLINE void TcpStore::set_timeout(double seconds) {
  const std::lock_guard lock(state_->mutex);
  state_->timeout = seconds;
}

TANDEM_INLINE i64 TcpStore::set(std::string_view key, std::string_view value) {
  i64 lost = 0;
  if (!detail::to_number(state_->call(detail::StoreCall::set, key, value), lost))
    errors::raise<errors::InternalError>("TcpStore", "the answer to set() is damaged");
  return lost;
}
TANDEM_INLINE void TcpStore::tie(std::string_view key) { state_->call(detail::StoreCall::tie, key); }
TANDEM_INLINE void TcpStore::untie(std::string_view key) { state_->call(detail::StoreCall::untie, key); }

TANDEM_INLINE std::optional<std::string> TcpStore::find(std::string_view key) {
  std::string answer = state_->call(detail::StoreCall::find, key);
  if (answer.empty()) return std::nullopt;
  return answer.substr(1);
}

TANDEM_INLINE std::string TcpStore::get(std::string_view key, double timeout) {
  const i64 end = detail::moment_after(timeout);
  for (i64 pause = 1'000'000;; pause = std::min<i64>(2 * pause, 50'000'000)) {
    if (std::optional<std::string> value = find(key)) return *value;
    if (tandem::detail::nanoseconds_now() >= end)
      errors::raise<errors::UnavailableError>(
          "TcpStore", "nobody has written '" + std::string(key) + "' within " + impl::seconds_text(timeout));
    const timespec t{0, static_cast<long>(pause)};
    ::nanosleep(&t, nullptr);
  }
}

TANDEM_INLINE i64 TcpStore::add(std::string_view key, i64 number) {
  const std::string answer = state_->call(detail::StoreCall::add, key, std::to_string(number));
  i64 sum = 0;
  if (!detail::to_number(answer, sum))
    errors::raise<errors::InvalidArgumentError>("TcpStore", "'" + std::string(key) + "' is not a number");
  return sum;
}

TANDEM_INLINE std::vector<TcpStore::Entry> TcpStore::list(std::string_view prefix) {
  const std::string answer = state_->call(detail::StoreCall::list, prefix);
  std::vector<Entry> entries;
  detail::FieldReader fields(answer);
  while (!fields.is_at_end()) {
    Entry e;
    i64 age = 0, lost = 0;
    e.key = fields.next(), e.value = fields.next();
    if (!detail::to_number(fields.next(), age) || !detail::to_number(fields.next(), lost))
      errors::raise<errors::InternalError>("TcpStore", "the answer to list() is damaged");
    e.age = static_cast<double>(age) * 1e-9;
    e.is_lost = lost >= 0, e.lost_for = e.is_lost ? static_cast<double>(lost) * 1e-9 : 0;
    entries.push_back(std::move(e));
  }
  return entries;
}

}  // namespace TANDEM_NS::distribute
