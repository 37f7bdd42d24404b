// meet_again(): how the processes that are left agree on who that is, also if the one that decides ends meanwhile.
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tandem/distribute/tcp_store.hpp"
#include "tandem/distribute_gloo/process.hpp"
#include "tests/support/catch.hpp"

namespace gloo_meeting_test {

using namespace tandem;
using distribute::Endpoint;
using distribute::TcpStore;
using distribute::TcpStoreServer;
using distribute::impl::Liveness;
using distribute::impl::LivenessOptions;
using distribute::impl::gloo_backend::meet_again;
using distribute::impl::gloo_backend::Process;

struct Member {
  Process process;
  Member(const Endpoint& store, int rank, int size) : process(60, nullptr, store) {
    LivenessOptions o{.store = store, .rank = rank, .size = size, .node = "node"};
    o.timeout = 60;
    process.liveness = std::make_unique<Liveness>(o);
    process.name = "group0.1";
    for (int i = 0; i < size; ++i) process.members.push_back(i);
  }
};

TEST_CASE("meet_again: all that live, when the last one of them has come") {
  const TcpStoreServer server("127.0.0.1");
  const Endpoint place{"127.0.0.1", server.port()};
  Member a(place, 0, 3), b(place, 2, 3);  // rank 1 has never come
  std::vector<int> of_a, of_b;
  std::thread other([&] { of_b = meet_again(b.process, "again", 2); });
  of_a = meet_again(a.process, "again", 0);
  other.join();
  CHECK(of_a == std::vector{0, 2});
  CHECK(of_b == of_a);
  TcpStore looks(place, 60);
  CHECK(looks.find("going_on/group0.1") == "0 2");
}

TEST_CASE("meet_again: the one that decides ends before it has told") {
  const TcpStoreServer server("127.0.0.1");
  const Endpoint place{"127.0.0.1", server.port()};
  Member a(place, 0, 2);
  auto decides = std::make_unique<TcpStore>(place, 60);
  decides->set("alive/1", "1 1 works node"), decides->tie("alive/1");
  decides->set("again/here/1", "has come");
  REQUIRE(decides->add("again/decided", 1) == 1);
  std::vector<int> met{-1};
  std::thread waits([&] { met = meet_again(a.process, "again", 0); });
  TcpStore looks(place, 60);
  while (looks.find("again/here/0") != "waits") std::this_thread::sleep_for(std::chrono::milliseconds(1));
  decides.reset();
  waits.join();
  CHECK(met.empty());
  CHECK(looks.find("again/members") == "");  // for those that wait to join
  CHECK(meet_again(a.process, "once_more", 0) == std::vector{0});
}

}  // namespace gloo_meeting_test
