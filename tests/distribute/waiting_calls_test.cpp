// WaitingCalls: which ranks of a group learn that two of them wait for different operations.
#include "tandem/distribute/waiting_calls.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/relay.hpp"

namespace waiting_calls_test {

using namespace tandem;
using distribute::Collective;
using distribute::TcpStore;
using distribute::TcpStoreServer;
using distribute::impl::WaitingCalls;

Collective barrier() { return {}; }
Collective broadcast() {
  Collective c{.kind = Collective::broadcast, .dtype = float32};
  c.count = 3;
  return c;
}
// The error, or "no error".
std::string compare(WaitingCalls& calls, const Collective& call, i64 number) {
  return testing::error_of<errors::FailedPreconditionError>([&] { calls.compare(call, number); });
}

TEST_CASE("WaitingCalls: equal operations, and those of different numbers") {
  const TcpStoreServer server("127.0.0.1");
  WaitingCalls a("test", testing::place(server), 300, "world", 0), b("test", testing::place(server), 300, "world", 1),
      other("test", testing::place(server), 300, "world/0:0", 1);
  CHECK(compare(b, barrier(), 1) == "no error");
  CHECK(compare(a, barrier(), 1) == "no error");
  CHECK(compare(a, broadcast(), 10) == "no error");
  CHECK(compare(b, barrier(), 1) == "no error");
  CHECK(compare(other, barrier(), 10) == "no error");
  CHECK(compare(b, broadcast(), 10) == "no error");
}

TEST_CASE("WaitingCalls: a rank that differs from rank 0, and the others") {
  const TcpStoreServer server("127.0.0.1");
  WaitingCalls a("test", testing::place(server), 300, "world", 0), b("test", testing::place(server), 300, "world", 1),
      c("test", testing::place(server), 300, "world", 2);
  CHECK(compare(a, broadcast(), 7) == "no error");
  CHECK(compare(b, broadcast(), 7) == "no error");
  CHECK(compare(c, barrier(), 7)
            .find("rank 2 barrier, rank 0 broadcast of float32 from rank 0, 3 elements (operation 8 "
                  "of the group") != std::string::npos);
  const std::string found = compare(a, broadcast(), 7);
  CHECK(found.find("rank 0 broadcast of float32 from rank 0, 3 elements") != std::string::npos);
  CHECK(found.find("rank 2 barrier") != std::string::npos);
  CHECK(compare(b, broadcast(), 7) == found);
}

TEST_CASE("WaitingCalls: ranks that differ while rank 0 waits for another operation") {
  const TcpStoreServer server("127.0.0.1");
  WaitingCalls a("test", testing::place(server), 300, "world", 0), b("test", testing::place(server), 300, "world", 1),
      c("test", testing::place(server), 300, "world", 2);
  CHECK(compare(b, broadcast(), 7) == "no error");
  CHECK(compare(c, barrier(), 7) == "no error");
  const std::string found = compare(a, barrier(), 8);
  CHECK(found.find("rank 1 broadcast") != std::string::npos);
  CHECK(found.find("(operation 8 of the group") != std::string::npos);
  CHECK(compare(b, broadcast(), 7) == found);
  CHECK(compare(c, barrier(), 7) == found);
}

TEST_CASE("WaitingCalls: the calls of all ranks go to rank 0 alone") {
  const TcpStoreServer server("127.0.0.1");
  TcpStore others(testing::place(server), 60);
  others.set("world/waits/2", "7 barrier");
  others.set("world/waits/0", "7 broadcast of float32 from rank 0, 3 elements");
  WaitingCalls b("test", testing::place(server), 300, "world", 1);
  CHECK(compare(b, broadcast(), 7) == "no error");
  WaitingCalls a("test", testing::place(server), 300, "world", 0);
  CHECK(compare(a, broadcast(), 7) != "no error");
}

}  // namespace waiting_calls_test
