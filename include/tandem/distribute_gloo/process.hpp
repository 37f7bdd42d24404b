// Process: what the groups of a process share: the store, its heartbeat, who is in the world. For definitions only.
#pragma once
#include <gloo/rendezvous/store.h>
#include <gloo/transport/device.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/distribute/liveness.hpp"
#include "tandem/distribute/socket.hpp"
#include "tandem/distribute/tcp_store_wire.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::distribute::impl::gloo_backend {

/// What the transports of this process share.
struct Process {
  Process(double seconds, std::unique_ptr<TcpStoreServer> own, const Endpoint& at)
      : timeout(seconds), server(std::move(own)), place(at), store(at, seconds) {}

  const double timeout;
  const std::unique_ptr<TcpStoreServer> server;  // on rank 0, unless the launcher has one
  const Endpoint place;                          // of the store
  TcpStore store;
  std::shared_ptr<::gloo::transport::Device> device{};
  std::unique_ptr<Liveness> liveness{};
  std::atomic<i64> begun{0};
  std::string name{};          // of the first world; those of the processes that are left have a number behind it
  std::vector<int> members{};  // of the present world: the launcher's numbers
  i64 rebuilt = 0;

  std::string joins() const { return name + "/joins/"; }
  /// The name of the world that meets for the n-th time after the first one.
  std::string rebuilt_name(i64 n) const { return name + ".rebuilt" + std::to_string(n); }
  bool sees_a_loss() const { return liveness && liveness->lost() > 0; }
  [[noreturn]] void raise(const std::string& what) const {
    const std::string seen = liveness ? liveness->missing_within(0.3, members) : std::string();
    errors::raise<errors::UnavailableError>("gloo", seen.empty() ? what : what + "; " + seen);
  }
  /// At exit(). After exit(0) the others do not take this process for dead. Its store is there until they have ended,
  /// too, or have read what went wrong.
  void leave(int status) {
    if (status == 0) liveness->leave();
    if (server) liveness->wait_until_all_left(status == 0 ? timeout : 1);
  }
};

inline void pause_for(int milliseconds) {
  const timespec t{0, milliseconds * 1'000'000L};
  ::nanosleep(&t, nullptr);
}

/// The keys of a group, as Gloo's connections exchange their addresses by them.
class GlooStore final : public ::gloo::rendezvous::Store {
 public:
  ///   timeout  seconds that a key is waited for
  GlooStore(Process& process, std::string prefix, double timeout)
      : process_(process), prefix_(std::move(prefix)), timeout_(timeout) {}
  void set(const std::string& key, const std::vector<char>& data) override {
    process_.store.set(prefix_ + key, std::string_view(data.data(), data.size()));
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = await(key);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) await(key);
  }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }

 private:
  // Of a rank that has ended nothing comes any more.
  std::string await(const std::string& key) {
    const i64 end = distribute::detail::moment_after(timeout_);
    for (int pause = 1;; pause = std::min(2 * pause, 50)) {
      if (std::optional<std::string> value = process_.store.find(prefix_ + key)) return *value;
      if (process_.sees_a_loss()) process_.raise("the process of another rank has ended");
      if (tandem::detail::nanoseconds_now() >= end)
        errors::raise<errors::UnavailableError>("gloo", "not all ranks have come within the timeout");
      pause_for(pause);
    }
  }

  Process& process_;
  const std::string prefix_;
  const double timeout_;
};

// "0 2 3".
inline std::string text_of(const std::vector<int>& numbers) {
  std::string r;
  for (const int n : numbers) r += (r.empty() ? "" : " ") + std::to_string(n);
  return r;
}
inline std::vector<int> numbers_of(std::string_view text) {
  std::vector<int> r;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    i64 n = 0;
    if (!distribute::detail::to_number(text.substr(0, end), n))
      errors::raise<errors::InternalError>("gloo", "the ranks that are left are '" + std::string(text) + "'");
    r.push_back(static_cast<int>(n));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return r;
}

// The processes that wait to join the world, which know from now on that they belong to it.
// They follow the members in the order of their numbers.
inline void take_in_newcomers(Process& p, std::vector<int>& members) {
  const std::string folder = p.joins();
  const auto first = static_cast<std::ptrdiff_t>(members.size());
  for (const TcpStore::Entry& e : p.store.list(folder)) {
    i64 number = 0;
    if (!waits_to_join(e) || !distribute::detail::to_number(std::string_view(e.key).substr(folder.size()), number))
      continue;
    if (std::find(members.begin(), members.end(), number) != members.end()) continue;
    members.push_back(static_cast<int>(number));
    p.store.set(e.key, "has joined");
  }
  std::sort(members.begin() + first, members.end());
}

// The members of the present world that are left, when all that live have come, and newcomers behind them. The first
// that sees so decides it for all, and has the store forget the others. Empty if that one has ended before it has told:
// the ranks meet once more, and newcomers that wait for what it says go on to that meeting, too.
inline std::vector<int> meet_again(Process& p, const std::string& name, int own) {
  const std::string folder = name + "/here/";
  p.store.set(folder + std::to_string(own), "has come");
  bool waits = false;  // for what another one has decided
  // Earlier than the others give up to wait for it, and later than a rank whose heartbeat got no answer is back.
  const double silent = std::min(silent_after, 0.75 * p.timeout);
  const i64 end = distribute::detail::moment_after(p.timeout);
  for (;; pause_for(20)) {
    if (const std::optional<std::string> members = p.store.find(name + "/members")) return numbers_of(*members);
    const std::vector<int> living = p.liveness->living(p.store, silent);
    const std::vector<TcpStore::Entry> here = p.store.list(folder);
    std::vector<int> members, gone, late;
    bool all_wait = true;
    for (const int m : p.members) {
      const bool lives = m == own || std::binary_search(living.begin(), living.end(), m);
      (lives ? members : gone).push_back(m);
      const std::string key = folder + std::to_string(m);
      const auto entry = std::find_if(here.begin(), here.end(), [&](const auto& e) { return e.key == key; });
      if (lives && entry == here.end()) late.push_back(m);
      if (lives && (entry == here.end() || entry->value != "waits")) all_wait = false;
    }
    if (late.empty() && !waits) {
      if (p.store.add(name + "/decided", 1) == 1) {
        p.liveness->forget(p.store, gone);
        take_in_newcomers(p, members);
        p.store.set("going_on/" + p.name, text_of(members));  // for the launcher
        p.store.set(name + "/members", text_of(members));
        return members;
      }
      p.store.set(folder + std::to_string(own), "waits");
      waits = true;
    } else if (all_wait) {
      p.store.set(name + "/members", "");
      return {};
    }
    if (tandem::detail::nanoseconds_now() >= end)
      errors::raise<errors::UnavailableError>(
          "Communicator::rebuild", "of the ranks that live these have not come within the timeout: " + text_of(late));
  }
}

// Waits until the members of the world have met and taken this process in; returns who belongs to it then.
inline std::vector<int> wait_to_join(Process& p, int own) {
  const std::string key = p.joins() + std::to_string(own);
  const auto is_own = [own](int n) { return n == own; };
  p.store.set(key, newcomer_text);
  p.store.tie(key);
  const i64 end = distribute::detail::moment_after(p.timeout);
  for (i64 next = distribute::detail::moment_after(1);; pause_for(20)) {
    const std::optional<std::string> text = p.store.find(p.rebuilt_name(p.rebuilt + 1) + "/members");
    if (text) ++p.rebuilt;
    const std::vector<int> members = text ? numbers_of(*text) : std::vector<int>();
    if (std::any_of(members.begin(), members.end(), is_own)) {
      p.store.set(key, "has joined");
      p.store.untie(key);
      return members;
    }
    const i64 now = tandem::detail::nanoseconds_now();
    if (now >= end)
      errors::raise<errors::UnavailableError>(
          "Communicator::world",
          "this process waits to join a world that has not taken it in within the timeout: its processes do so in "
          "Communicator::rebuild(), by which they go on when one is lost, or when Trainer::fit sees newcomers");
    if (now < next) continue;
    p.store.set(key, newcomer_text);
    next = distribute::detail::moment_after(1);
  }
}

}  // namespace TANDEM_NS::distribute::impl::gloo_backend
