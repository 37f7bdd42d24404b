// TcpStore: values, sums, lists, keys of connections that have ended, servers that go or say nothing.
#include "tandem/distribute/tcp_store.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/relay.hpp"

namespace tcp_store_test {

using namespace tandem;
using distribute::Endpoint;
using distribute::TcpStore;
using distribute::TcpStoreServer;
using testing::becomes, testing::now, testing::place, testing::Silent;

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

}  // namespace tcp_store_test
