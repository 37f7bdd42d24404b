// Communicator::rebuild(): the processes that are left when one is lost go on, in a simulated cluster. With real ones:
// processes.py.
#include <algorithm>
#include <set>
#include <string>

#include "tandem/distribute.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace rebuild_test {

using namespace training;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;
using ::testing::TemporaryFolder;
using Weights = std::vector<std::vector<float>>;

// Calls f(world) until it has returned, with those ranks that are left.
template <class F>
void run_elastic(Communicator world, const F& f) {
  for (;;) try {
      return f(world);
    } catch (const errors::UnavailableError&) {
      world = world.rebuild();
    }
}

struct Sums {
  std::set<std::vector<double>> seen;  // {size, sum of ranks, step} that ranks have ended with
  std::vector<int> ranks;
};
// Each rank takes 20 steps, in which the ranks add up something; a step that fails is repeated.
Sums take_steps(SimCluster& cluster) {
  Sums r;
  testing::error_of([&] {
    cluster.run([&](const Communicator& w) {
      i64 step = 0;
      run_elastic(w, [&](const Communicator& world) {
        step = distribute::broadcast(constant(step), {.group = world}).item<i64>();
        float sum = 0;
        for (; step < 20; ++step)
          sum = distribute::all_reduce(constant(float(world.rank())), {.group = world}).item<float>();
        world.barrier();
        if (!(Communicator::world() == world)) errors::raise<errors::InternalError>("test", "another world");
        r.seen.insert({double(world.size()), double(sum), double(step)});
        r.ranks.push_back(world.rank());
      });
    });
  });
  std::sort(r.ranks.begin(), r.ranks.end());
  return r;
}

TEST_CASE("rebuild: the ranks that are left are numbered anew, in their order, and go on") {
  for (const int rank : {0, 1, 3})
    for (const i64 at : {1, 2, 9, 30}) {
      INFO("rank " << rank << " at " << at);
      SimCluster cluster(4, {.seed = static_cast<u64>(at), .faults = {{.rank = rank, .at = at}}});
      const Sums r = take_steps(cluster);
      CHECK(r.seen == std::set<std::vector<double>>{{3, 3, 20}});
      CHECK(r.ranks == std::vector{0, 1, 2});
      for (int i = 0; i < 4; ++i) CHECK(cluster.errors()[static_cast<std::size_t>(i)] == (i == rank ? "killed" : ""));
    }
}

TEST_CASE("rebuild: a second rank is lost at any moment, also while the others meet") {
  for (i64 at = 8; at < 30; ++at)
    for (const u64 seed : {1, 2, 3}) {
      INFO(at << ", seed " << seed);
      SimCluster cluster(4, {.seed = seed, .faults = {{.rank = 1, .at = 9}, {.rank = 2, .at = at}}});
      const Sums r = take_steps(cluster);
      CHECK(r.seen == std::set<std::vector<double>>{{2, 1, 20}});
      CHECK(r.ranks == std::vector{0, 1});
    }
  SimCluster cluster(3, {.faults = {{.rank = 0, .at = 5}, {.rank = 2, .at = 20}}});
  CHECK(take_steps(cluster).seen == std::set<std::vector<double>>{{1, 0, 20}});
}

TEST_CASE("rebuild: fit goes on from its newest checkpoint, and ends as if no rank had been lost") {
  const auto fitted = [](int ranks, const std::vector<distribute::SimFault>& faults) {
    const TemporaryFolder folder;
    SimCluster cluster(ranks, {.seed = 3, .faults = faults});
    std::vector<Weights> weights;
    cluster.run([&](const Communicator& w) {
      run_elastic(w, [&](const Communicator& world) {
        const MultiWorkerMirroredStrategy strategy(world);
        const layers::Sequential net = network(1, 0);
        strategy.broadcast(net);
        const auto scope = strategy.scope();
        train::Trainer trainer(net, options());
        train::FitOptions o{.epochs = 4, .progress = {.mode = train::ProgressMode::none}};
        o.directory = folder / "run", o.save_steps = 3;
        trainer.fit(strategy.distribute_dataset(Points(50).shuffled(16)), o);
        weights.push_back(weights_of(net));
      });
    });
    CHECK(weights.size() == static_cast<std::size_t>(ranks) - faults.size());
    for (const Weights& w : weights) CHECK(w == weights[0]);
    return weights[0];
  };
  const Weights whole = fitted(1, {});
  for (const int rank : {0, 1, 3})
    for (const i64 at : {60, 90, 101}) {
      INFO("rank " << rank << " at " << at);
      const Weights w = fitted(4, {{.rank = rank, .at = at}});
      for (std::size_t i = 0; i < whole.size(); ++i)
        for (std::size_t k = 0; k < whole[i].size(); ++k) CHECK(w[i][k] == Approx(whole[i][k]).margin(2e-5));
    }
}

TEST_CASE("rebuild: the old world stays dead, also for ops, which look groups up by name") {
  SimCluster cluster(3, {.faults = {{.rank = 2, .at = 9}}});
  std::vector<std::string> said;
  testing::error_of([&] {
    cluster.run([&](const Communicator& world) {
      const MultiWorkerMirroredStrategy old(world);
      testing::error_of([&] {
        for (;;) world.barrier();
      });
      const Communicator left = world.rebuild();
      const distribute::CollectiveOptions of_old{.group = world};
      const Tensor x = constant({1.f, 2.f});
      const auto note = [&](const auto& f) { said.push_back(testing::error_of<errors::UnavailableError>(f)); };
      note([&] { distribute::all_reduce(x, {.group = world}); });
      note([&] { distribute::broadcast(x, {.group = world}); });
      note([&] { distribute::all_gather(x, {.group = world}); });
      note([&] { distribute::reduce_scatter(x, of_old); });
      note([&] { distribute::all_to_all(x, of_old); });
      note([&] { old.reduce(distribute::ReduceOp::sum, x); });
      note([&] {  // by start_bucket
        const auto scope = old.scope();
        optimizers::SGD sgd(1.);
        const Variable v(1.f);
        GradientTape tape;
        sgd.apply_gradients({tape.gradient(v * 2.f, v)}, {v});
      });
      const float sum = distribute::all_reduce(constant(1.f), {.group = left}).item<float>();
      if (sum != 2) errors::raise<errors::InternalError>("test", "another sum");
      said.push_back("end");
    });
  });
  CHECK(std::count(said.begin(), said.end(), "end") == 2);
  CHECK(said.size() == 16);
  for (const std::string& s : said)
    if (s != "end") CHECK_THAT(s, ContainsSubstring("group 'world' is dead since"));
}

TEST_CASE("rebuild: groups that it is not for") {
  SimCluster cluster(3, {.faults = {{.rank = 2, .at = 9}}});
  std::vector<std::string> said;
  testing::error_of([&] {
    cluster.run([&](const Communicator& world) {
      const Communicator pair = world.split(0);
      if (world.rank() == 0) said.push_back(testing::error_of([&] { world.rebuild(); }));
      testing::error_of([&] {
        for (;;) pair.barrier();
      });
      if (world.rank() == 0) said.push_back(testing::error_of([&] { pair.rebuild(); }));
      testing::error_of([&] { world.barrier(); });
      const Communicator left = world.rebuild();
      left.barrier();
      if (left.rank() == 0) said.push_back(testing::error_of([&] { pair.barrier(); }));
      if (left.rank() == 0) said.push_back(testing::error_of([&] { world.barrier(); }));
    });
  });
  REQUIRE(said.size() == 4);
  CHECK_THAT(said[0], ContainsSubstring("is not dead"));
  CHECK_THAT(said[1], ContainsSubstring("is a part of the world"));
  CHECK_THAT(said[2], ContainsSubstring("is dead since"));
  CHECK_THAT(said[3], ContainsSubstring("is dead since"));
}

}  // namespace rebuild_test
