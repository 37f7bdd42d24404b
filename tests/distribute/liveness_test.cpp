// Liveness: who is behind, has left, has died or is silent, and stores that do not answer.
#include "tandem/distribute/liveness.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/relay.hpp"

namespace liveness_test {

using namespace tandem;
using distribute::TcpStore;
using distribute::TcpStoreServer;
using distribute::impl::Liveness;
using distribute::impl::LivenessOptions;
using testing::becomes, testing::now, testing::place, testing::Relay;

LivenessOptions member(const TcpStoreServer& server, int rank, double timeout = 4) {
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

TEST_CASE("Liveness: after a question without an answer the next one is asked by another connection") {
  const TcpStoreServer server("127.0.0.1");
  Relay relay(server.port());
  LivenessOptions o = member(server, 0);
  o.store = relay.where();
  Liveness a(o);
  const auto knows = [&] { return has(a.missing(), "rank 1 was never seen"); };
  CHECK(becomes(knows));
  relay.stall();
  a.missing();  // nobody answers
  CHECK(becomes(knows));
  relay.stall();
  a.give_up();
  TcpStore looks(place(server), 60);
  CHECK(becomes([&] { return a.give_up(), has(looks.find("alive/0").value_or(""), " failed "); }));
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
  relay.let_one_go();  // nobody waits for it at the end
}

TEST_CASE("Liveness: newcomers that were taken in wait no more") {
  const TcpStoreServer server("127.0.0.1");
  LivenessOptions o = member(server, 0);
  o.newcomers = "joins/";
  Liveness a(o);
  TcpStore looks(place(server), 60);
  looks.set("joins/7", distribute::impl::newcomer_text);
  CHECK(becomes([&] { return a.sees_newcomers(); }));
  a.go_on({0, 7});
  CHECK_FALSE(a.sees_newcomers());
  for (int beat = 0; beat < 2; ++beat) {  // nor as of later heartbeats
    looks.set("alive/0", "old");
    CHECK(becomes([&] { return looks.find("alive/0") != "old"; }));
  }
  CHECK_FALSE(a.sees_newcomers());
  looks.set("joins/8", distribute::impl::newcomer_text);
  CHECK(becomes([&] { return a.sees_newcomers(); }));
}

TEST_CASE("Liveness: the store goes") {
  auto server = std::make_unique<TcpStoreServer>("127.0.0.1");
  Liveness a(member(*server, 0));
  server.reset();
  CHECK(becomes([&] { return a.lost() == 1; }));
  CHECK(has(a.missing(), "rank 0, which keeps the heartbeats, was last seen "));
}

}  // namespace liveness_test
