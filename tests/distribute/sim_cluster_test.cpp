// SimCluster: repeated by its seed, its clock, its faults, deadlocks.
#include "tandem/distribute/sim_cluster.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "tandem/distribute/collectives.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace sim_cluster_test {

using namespace tandem;
using distribute::Communicator;
using distribute::SimCluster;
using distribute::SimFault;

TEST_CASE("a seed determines the order in which ranks run") {
  const auto order = [](u64 seed) {
    std::vector<int> r;  // one rank runs at a time
    SimCluster(5, {.seed = seed}).run([&](const Communicator& w) {
      for (int i = 0; i < 4; ++i) r.push_back(w.rank()), w.barrier();
    });
    return r;
  };
  CHECK(order(1) == order(1));
  int distinct = 0;
  for (u64 seed = 2; seed < 12; ++seed) distinct += order(seed) != order(1);
  CHECK(distinct >= 8);
}

TEST_CASE("the clock counts messages by the formulas, and not computation") {
  SimCluster cluster(4, {.latency = 1e-3, .bytes_per_second = 1e6, .jitter = 0});
  const auto seconds = [&](const auto& f) {
    cluster.run([](const Communicator&) {});
    const double before = cluster.time();  // to find the nodes
    cluster.run([&](const Communicator&) { f(); });
    return cluster.time() - before;
  };
  const double check = 2 * 1e-3 + 3 * 192 / 1e6;  // the comparison of calls, 192 bytes of each rank
  CHECK(seconds([] { distribute::all_reduce(zeros({1000})); }) == Approx(check + 4 * 1e-3 + 2 * 0.75 * 4000 / 1e6));
  CHECK(seconds([] { distribute::broadcast(zeros({1000})); }) == Approx(check + 2 * 1e-3 + 4000 / 1e6));
  CHECK(seconds([] { distribute::all_to_all(zeros({1000})); }) == Approx(check + 3 * 1e-3 + 4000 / 1e6));
}

TEST_CASE("a rank that does not answer: the others say so after the timeout of virtual time") {
  for (const auto kind : {SimFault::kill, SimFault::stop}) {
    SimCluster cluster(4, {.timeout = 50, .faults = {{.kind = kind, .rank = 2, .at = 7}}});
    CHECK_THROWS_WITH(cluster.run([](const Communicator& w) {
      for (int step = 0; step < 100; ++step) {
        w.set_step(step);
        distribute::all_reduce(zeros({2}), {.name = "loss"});
      }
    }),
                      ContainsSubstring("all_reduce 'loss': no answer within 50 s at step 3"));
    CHECK(cluster.errors()[2] == "killed");
    for (const std::size_t i : {0, 1, 3}) CHECK_THAT(cluster.errors()[i], ContainsSubstring("no answer"));
    CHECK(cluster.time() > 50);
    CHECK(cluster.time() < 51);
  }
}

TEST_CASE("a group that has failed is dead: the next operation raises at once") {
  SimCluster cluster(2, {.timeout = 5, .faults = {{.kind = SimFault::kill, .rank = 1, .at = 3}}});
  std::string second;
  cluster.run([&](const Communicator& w) {
    try {
      for (;;) w.barrier();
    } catch (const errors::UnavailableError&) {
    }
    try {
      w.barrier();
    } catch (const errors::UnavailableError& e) {
      second = e.what();
    }
  });
  CHECK_THAT(second, ContainsSubstring("is dead since barrier: no answer within 5 s"));
  CHECK(cluster.time() < 6);
}

TEST_CASE("a rank that is late, or slow, does no harm within the timeout") {
  SimCluster cluster(3, {.timeout = 50,
                         .faults = {{.kind = SimFault::delay, .rank = 0, .at = 4, .seconds = 20},
                                    {.kind = SimFault::stop, .rank = 1, .at = 6, .seconds = 30},
                                    {.kind = SimFault::slow, .rank = 2, .at = 8, .seconds = 1}}});
  cluster.run([](const Communicator&) {
    for (int i = 0; i < 10; ++i) distribute::all_reduce(zeros({2}));
  });
  CHECK(cluster.time() > 60);
  CHECK(cluster.time() < 70);
}

TEST_CASE("restarts: everybody begins again after a rank was killed") {
  SimCluster cluster(3, {.timeout = 5, .max_restarts = 1, .faults = {{.kind = SimFault::kill, .rank = 0, .at = 5}}});
  int steps = 0;
  cluster.run([&](const Communicator& w) {
    for (int i = 0; i < 10; ++i) w.barrier(), steps += w.rank() == 1;
  });
  CHECK(cluster.restarts() == 1);
  CHECK(steps > 10);
}

TEST_CASE("ranks that wait for each other in different groups") {
  // Rank 0 waits in the world, rank 1 in their pair: the timeout ends it.
  SimCluster cluster(2, {.timeout = 5});
  CHECK_THROWS_AS(cluster.run([](const Communicator& w) {
    const Communicator pair = w.split(0);
    (w.rank() ? pair : w).barrier();
  }),
                  errors::UnavailableError);
  // Without a timeout nobody would ever run again.
  SimCluster endless(2, {.timeout = std::numeric_limits<double>::infinity()});
  CHECK_THROWS_WITH(endless.run([](const Communicator& w) {
    if (w.rank()) w.barrier();
  }),
                    ContainsSubstring("deadlock: rank 0 has ended; rank 1 waits in its operation"));
}

TEST_CASE("three hundred interleavings give the same result") {
  for (u64 seed = 0; seed < 300; ++seed)
    SimCluster(4, {.seed = seed}).run([](const Communicator& w) {
      const Communicator pair = w.split(w.rank() / 2);
      const Tensor x = distribute::all_reduce(constant(static_cast<float>(w.rank())), {.group = pair});
      const float sum = distribute::all_reduce(x).item<float>();
      if (sum != 12) errors::raise<errors::InternalError>("test", std::to_string(sum));
    });
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // which need more address space
TEST_CASE("SimCluster: a thread that cannot be started ends all") {
  const pid_t child = ::fork();
  if (child == 0) {  // without address space for the stacks of threads
    const rlimit none{std::size_t{1} << 30, std::size_t{1} << 30};
    if (::setrlimit(RLIMIT_AS, &none) != 0) ::_exit(2);
    std::atomic<int> calls{0};
    try {
      SimCluster(100'000).run([&](const Communicator&) { ++calls; });
    } catch (const errors::ResourceExhaustedError& e) {
      ::_exit(calls == 0 && std::string(e.what()).find("of 100000") != std::string::npos ? 0 : 3);
    }
    ::_exit(4);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

TEST_CASE("SimCluster: wrong options") {
  CHECK_THROWS_AS(SimCluster(0), errors::InvalidArgumentError);
  CHECK_THROWS_AS(SimCluster(2, {.latency = -1}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(SimCluster(2, {.faults = {{.rank = 2}}}), ContainsSubstring("a fault of rank 2"));
}

TEST_CASE("an error of one rank is raised") {
  SimCluster cluster(3, {.timeout = 5});
  CHECK_THROWS_WITH(cluster.run([](const Communicator& w) {
    if (w.rank() == 0) throw std::runtime_error("no such file");
    w.barrier();
  }),
                    ContainsSubstring("no such file"));
  CHECK_THAT(cluster.errors()[1], ContainsSubstring("no answer within 5 s"));
}

}  // namespace sim_cluster_test
