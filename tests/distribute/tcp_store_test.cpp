// TcpStore and Liveness: values, sums, lists, keys of connections that have ended, servers that go or say nothing.
#include "tandem/distribute/tcp_store.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>
#include <thread>

#include "tandem/distribute/liveness.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace tcp_store_test {

using namespace tandem;
using distribute::Endpoint;
using distribute::TcpStore;
using distribute::TcpStoreServer;
using distribute::impl::Liveness;
using distribute::impl::LivenessOptions;

Endpoint place(const TcpStoreServer& s) { return {"127.0.0.1", s.port()}; }
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
// Asks again for a minute at most.
template <class F>
bool becomes(const F& holds) {
  for (const double end = now() + 60; now() < end; std::this_thread::sleep_for(std::chrono::milliseconds(10)))
    if (holds()) return true;
  return false;
}

TEST_CASE("TcpStore: values, sums and lists") {
  const TcpStoreServer server("127.0.0.1");
  TcpStore a(place(server), 60), b(place(server), 60);
  CHECK_FALSE(a.find("x").has_value());
  a.set("x", std::string("one\0two", 7));
  CHECK(b.find("x") == std::string("one\0two", 7));
  a.set("x", "");
  CHECK(b.find("x") == "");
  CHECK(b.get("x", 0) == "");
  CHECK(a.add("n", 3) == 3);
  CHECK(b.add("n", -5) == -2);
  a.set("x", "text");
  CHECK(testing::error_of([&] { a.add("x", 1); }).find("'x' is not a number") != std::string::npos);
  const std::string large(5'000'000, 'y');
  a.set("group/1", large), a.set("group/0", "first"), a.set("grouq", "another");
  const auto entries = b.list("group/");
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].key == "group/0");
  CHECK(entries[0].value == "first");
  CHECK(entries[1].value == large);
  CHECK(entries[0].age >= 0);
  CHECK(entries[0].age <= entries[1].age);  // it was written after it
  CHECK_FALSE(entries[0].is_lost);
  CHECK(b.list("none/").empty());
}

TEST_CASE("TcpStore: get waits for a value, and not for ever") {
  const TcpStoreServer server("127.0.0.1");
  TcpStore a(place(server), 60), b(place(server), 60);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    b.set("late", "here");
  });
  CHECK(a.get("late", 60) == "here");
  later.join();
  CHECK(testing::error_of<errors::UnavailableError>([&] { a.get("never", 0.05); }).find("'never'") !=
        std::string::npos);
}

TEST_CASE("TcpStore: sums of many connections are all different") {
  const TcpStoreServer server("127.0.0.1");
  constexpr int threads = 4, each = 200;
  std::vector<std::vector<i64>> sums(threads);
  std::vector<std::thread> running;
  for (auto& own : sums)
    running.emplace_back([&] {
      TcpStore s(place(server), 60);
      for (int i = 0; i < each; ++i) own.push_back(s.add("n", 1));
    });
  for (std::thread& t : running) t.join();
  std::set<i64> all;
  for (const auto& own : sums) all.insert(own.begin(), own.end());
  CHECK(all.size() == threads * each);
  CHECK(*all.rbegin() == threads * each);
}

TEST_CASE("TcpStore: a key that is tied to a connection is lost with it") {
  const TcpStoreServer server("127.0.0.1");
  TcpStore a(place(server), 60);
  {
    TcpStore b(place(server), 60), c(place(server), 60);
    b.set("alive/1", "b"), b.tie("alive/1");
    c.set("alive/2", "c"), c.tie("alive/2"), c.untie("alive/2");
  }
  CHECK(becomes([&] { return a.list("alive/")[0].is_lost; }));
  CHECK_FALSE(a.list("alive/")[1].is_lost);
  CHECK(a.set("alive/0", "a") == 1);
  CHECK(a.set("other/0", "a") == 0);
  CHECK(a.set("alive/1", "again") == 0);
  CHECK_FALSE(a.list("alive/1")[0].is_lost);
}

TEST_CASE("TcpStore: a key belongs to the connection that has tied it last") {
  const TcpStoreServer server("127.0.0.1");
  TcpStore a(place(server), 60), c(place(server), 60);
  {
    TcpStore b(place(server), 60);
    b.set("alive/1", "b"), b.tie("alive/1"), b.set("alive/2", "b"), b.tie("alive/2");
    c.set("alive/1", "c"), c.tie("alive/1");
  }
  CHECK(becomes([&] { return a.list("alive/2")[0].is_lost; }));
  CHECK_FALSE(a.list("alive/1")[0].is_lost);
}

TEST_CASE("TcpStore: a host that is unknown is looked for until the timeout") {
  const double begin = now();
  const std::string error = testing::error_of<errors::UnavailableError>([] {
    TcpStore({"no.such.host.invalid", 80}, 0.3);
  });
  CHECK(error.find("cannot find the host 'no.such.host.invalid'") != std::string::npos);
  CHECK(now() - begin > 0.1);
}

TEST_CASE("TcpStoreServer: all addresses are those of both versions") {
  const TcpStoreServer server;
  TcpStore a({"127.0.0.1", server.port()}, 5);
  a.set("x", "1");
  CHECK(a.find("x") == "1");
  const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
  const bool has_v6 = fd >= 0 && std::ifstream("/proc/net/if_inet6").peek() != EOF;
  ::close(fd);
  if (!has_v6) TANDEM_SKIP("there is no IPv6 here");
  TcpStore b({"::1", server.port()}, 5);
  CHECK(b.find("x") == "1");
}

TEST_CASE("TcpStore: a server that goes") {
  auto server = std::make_unique<TcpStoreServer>("127.0.0.1");
  const Endpoint where = place(*server);
  TcpStore a(where, 0.5);
  a.set("x", "1");
  server.reset();
  CHECK(testing::error_of<errors::UnavailableError>([&] { a.find("x"); }).find(where.text()) != std::string::npos);
  CHECK(testing::error_of<errors::UnavailableError>([&] { a.find("x"); }).find("not connected") != std::string::npos);
  const double begin = now();
  CHECK(testing::error_of<errors::UnavailableError>([&] { TcpStore(where, 0.3); }).find("cannot be reached") !=
        std::string::npos);
  CHECK(now() - begin < 3);
}

// A socket that listens, and never accepts.
struct Silent {
  int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  Endpoint where = {};
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

TEST_CASE("TcpStore: a server that says nothing") {
  const Silent silent;
  TcpStore a(silent.where, 0.3);
  const double begin = now();
  CHECK(testing::error_of<errors::UnavailableError>([&] { a.set("x", "1"); }).find("does not answer") !=
        std::string::npos);
  CHECK(now() - begin < 3);
}

TEST_CASE("TcpStore: the server closes a connection that sends nonsense, and serves the others") {
  const TcpStoreServer server("127.0.0.1");
  TcpStore good(place(server), 60);
  for (const std::string& nonsense :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\3\0\0\0abc", 7), std::string("\xff\xff\xff\xff", 4)}) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in a{};
    a.sin_family = AF_INET, a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons(static_cast<std::uint16_t>(server.port()));
    REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0);
    REQUIRE(::send(fd, nonsense.data(), nonsense.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(nonsense.size()));
    char byte = 0;
    CHECK(::recv(fd, &byte, 1, 0) <= 0);
    ::close(fd);
  }
  good.set("x", "1");
  CHECK(good.find("x") == "1");
}

TEST_CASE("Endpoint: texts") {
  CHECK(Endpoint::parse("test", "node1:29500").host == "node1");
  CHECK(Endpoint::parse("test", "node1:29500").port == 29500);
  CHECK(Endpoint::parse("test", "[::1]:80").host == "::1");
  CHECK(Endpoint::parse("test", "[::1]:80").text() == "[::1]:80");
  for (const char* const wrong : {"", "host", "host:", ":80", "host:0", "host:65536", "host:8o", "host:-1"})
    CHECK(testing::error_of<errors::InvalidArgumentError>([&] { Endpoint::parse("test", wrong); }) != "no error");
  CHECK(testing::error_of<errors::UnavailableError>([] { TcpStoreServer("no.such.host.invalid"); }) != "no error");
}

LivenessOptions member(const TcpStoreServer& server, int rank, double timeout = 8) {
  LivenessOptions o{.store = place(server), .rank = rank, .size = 3, .node = "node" + std::to_string(rank)};
  o.timeout = timeout;
  return o;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("Liveness: who is behind, who has left, who was never there") {
  const TcpStoreServer server("127.0.0.1");
  Liveness a(member(server, 0));
  CHECK(has(a.missing(), "rank 1 was never seen; rank 2 was never seen"));
  auto b = std::make_unique<Liveness>(member(server, 1)), c = std::make_unique<Liveness>(member(server, 2));
  CHECK(becomes([&] { return a.missing().empty(); }));
  a.report_begun(5), b->report_begun(5), c->report_begun(4), c->report_step(136);
  CHECK(becomes(
      [&] { return has(a.missing(), "rank 2 (node node2) is alive at step 136, but has begun 4 operations"); }));
  CHECK(becomes([&] { return !has(a.missing(), "rank 1"); }));
  CHECK(a.missing(std::vector<int>{0, 1}).empty());
  c.reset();
  CHECK(has(a.missing(), "rank 2 (node node2) has left the group at step 136"));
  CHECK(becomes([&] { return a.lost() == 0; }));
  b->leave();
  const double begin = now();
  a.wait_until_all_left(100);
  CHECK(now() - begin < 90);
}

TEST_CASE("Liveness: a process that dies") {
  const TcpStoreServer server("127.0.0.1");
  Liveness a(member(server, 0));
  Liveness b(member(server, 1));
  {
    TcpStore dies(place(server), 60);
    dies.set("alive/2", "7 1 works node2");
    dies.tie("alive/2");
  }
  CHECK(becomes([&] { return a.lost() == 1 && b.lost() == 1; }));
  CHECK(has(a.missing_within(60), "rank 2 (node node2) was last seen at step 7, "));
  CHECK(has(a.missing(), "(its process has ended)"));
}

TEST_CASE("Liveness: who gives up after an error is not missing") {
  const TcpStoreServer server("127.0.0.1");
  Liveness a(member(server, 0)), c(member(server, 2));
  TcpStore looks(place(server), 60);
  {
    TcpStore dies(place(server), 60);
    dies.set("alive/1", "7 1 works node1");
    dies.tie("alive/1");
  }
  CHECK(becomes([&] { return has(a.missing(), "rank 1"); }));
  c.give_up();
  const auto says_failed = [&] { return has(looks.list("alive/2")[0].value, " failed "); };
  CHECK(becomes(says_failed));
  looks.set("alive/2", "0 0 works node2");
  CHECK(becomes(says_failed));  // by a heartbeat
  CHECK_FALSE(has(a.missing(), "rank 2"));
  a.wait_until_all_left(60);
}

TEST_CASE("Liveness: a process that is stopped is silent") {
  const TcpStoreServer server("127.0.0.1");
  Liveness a(member(server, 0)), b(member(server, 1));
  TcpStore stopped(place(server), 60);
  stopped.set("alive/2", "8 0 works node2");
  CHECK(becomes([&] { return has(a.missing(), "rank 2 (node node2) was last seen at step 8, "); }));
  CHECK(becomes([&] { return !has(a.missing(), "rank 1"); }));
}

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
  Endpoint where() const { return listener_.where; }
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

TEST_CASE("Liveness: a heartbeat without an answer is sent by another connection") {
  const TcpStoreServer server("127.0.0.1");
  Relay relay(server.port());
  LivenessOptions o = member(server, 0);
  o.store = relay.where();
  Liveness a(o), b(member(server, 1));
  relay.stall();
  TcpStore looks(place(server), 60);
  looks.set("alive/0", "old");
  CHECK(becomes([&] { return looks.find("alive/0") != "old"; }));
  CHECK(a.lost() == 0);
  CHECK(b.lost() == 0);
}

TEST_CASE("Liveness: the answer of a heartbeat that is under way does not undo go_on") {
  const TcpStoreServer server("127.0.0.1");
  Relay relay(server.port());
  LivenessOptions o = member(server, 0, 60);
  o.store = relay.where();
  Liveness a(o);
  TcpStore looks(place(server), 60);
  {
    TcpStore dies(place(server), 60);
    dies.set("alive/1", "7 1 works node1");
    dies.tie("alive/1");
  }
  CHECK(becomes([&] { return a.lost() == 1; }));
  relay.hold();
  CHECK(becomes([&] { return relay.held() == 1; }));  // an answer that says so, too
  a.forget(looks, std::vector{1});
  std::atomic<bool> has_ended{false};
  std::thread goes_on([&] {
    a.go_on();
    has_ended = true;
  });
  for (int i = 0; i < 30 && !has_ended; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  relay.let_one_go();
  goes_on.join();
  CHECK(becomes([&] { return relay.held() == 2; }));  // the one after it has not come
  CHECK(a.lost() == 0);
}

TEST_CASE("Liveness: the store goes") {
  auto server = std::make_unique<TcpStoreServer>("127.0.0.1");
  Liveness a(member(*server, 0));
  server.reset();
  CHECK(becomes([&] { return a.lost() == 1; }));
  CHECK(has(a.missing(), "rank 0, which keeps the heartbeats, was last seen "));
}

}  // namespace tcp_store_test
