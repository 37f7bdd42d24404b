// Communicator::rebuild(): the processes that are left when one is lost go on, in a simulated cluster. With real ones:
// processes.py.
#include <algorithm>
#include <map>
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

// The weights of all ranks at the end of a training, and how many steps each rank of the first world has taken.
struct Fitted {
  std::vector<Weights> weights;
  std::map<int, i64> steps;
};
template <class F>
Fitted fit_with(SimCluster& cluster, const F& tune) {
  Fitted r;
  cluster.run([&](const Communicator& w) {
    train::RunMemory memory;
    i64 steps = 0;
    const int number = static_cast<int>(r.steps.size());
    r.steps[number] = 0;  // ranks run one at a time
    run_elastic(w, [&](const Communicator& world) {
      const MultiWorkerMirroredStrategy strategy(world);
      const layers::Sequential net = network(1, 0);
      strategy.broadcast(net);
      const auto scope = strategy.scope();
      train::Trainer trainer(net, options());
      train::FitOptions o{.epochs = 4, .progress = {.mode = train::ProgressMode::none}};
      tune(o, memory, steps);
      trainer.fit(strategy.distribute_dataset(Points(50).shuffled(16)), o);
      r.weights.push_back(weights_of(net));
    });
    r.steps[number] = steps;
  });
  return r;
}
void check_weights(const Fitted& fitted, std::size_t ranks, const Weights& whole) {
  CHECK(fitted.weights.size() == ranks);
  for (const Weights& w : fitted.weights)
    for (std::size_t i = 0; i < whole.size(); ++i)
      for (std::size_t k = 0; k < whole[i].size(); ++k) CHECK(w[i][k] == Approx(whole[i][k]).margin(2e-5));
}
Weights whole_weights() {
  SimCluster one(1);
  return fit_with(one, [](train::FitOptions&, train::RunMemory&, i64&) {}).weights[0];
}

TEST_CASE("rebuild: fit goes on from memory without a folder, and newcomers get it from the others") {
  const Weights whole = whole_weights();
  for (const bool counts : {true, false})  // a callback that may stop a step changes what the ranks exchange
    for (const u64 seed : {1, 2, 3}) {
      INFO("seed " << seed << ", counts " << counts);
      const auto tune = [counts](train::FitOptions& o, train::RunMemory& memory, i64& steps) {
        o.memory = &memory, o.memory_steps = 3;
        if (counts) o.callbacks.push_back(train::LambdaCallback({.on_step_end = [&steps](train::Run&) { ++steps; }}));
      };
      SimCluster joined(2, {.seed = seed, .newcomers = {0, 0.002}});
      const Fitted of_joined = fit_with(joined, tune);
      check_weights(of_joined, 4, whole);
      CHECK(joined.errors() == std::vector<std::string>(4));
      if (counts) {  // 16 steps, of which none is taken twice
        CHECK(of_joined.steps.at(0) == 16);
        CHECK(of_joined.steps.at(1) == 16);
        CHECK(of_joined.steps.at(3) < 16);
      }
      for (const int rank : {0, 2}) {
        SimCluster lost(3, {.seed = seed, .timeout = 1, .newcomers = {0.5}, .faults = {{.rank = rank, .at = 110}}});
        const Fitted of_lost = fit_with(lost, tune);
        const auto outside = std::count(lost.errors().begin(), lost.errors().end(), "has not joined");
        check_weights(of_lost, outside ? 2 : 3, whole);
        CHECK(std::count(lost.errors().begin(), lost.errors().end(), "killed") == 1);
        if (counts)
          for (const auto& [number, steps] : of_lost.steps) CHECK(steps <= 16 + 3);
      }
    }
}

TEST_CASE("rebuild: a newcomer has the state of the others in its own memory before its first step") {
  const Weights whole = whole_weights();
  for (const i64 at : {1000, 150, 160}) {  // nobody is lost; or both others, when it has joined, in the first epoch
    INFO("lost at " << at);
    int without = 0;
    SimCluster cluster(2, {.timeout = 1, .newcomers = {0}, .faults = {{.rank = 0, .at = at}, {.rank = 1, .at = at}}});
    const Fitted r = fit_with(cluster, [&](train::FitOptions& o, train::RunMemory& memory, i64& steps) {
      o.memory = &memory, o.memory_steps = 0;
      o.callbacks.push_back(train::LambdaCallback(
          {.on_step_end = [&](train::Run& run) { without += run.step() > ++steps && memory.step() < 0; }}));
    });
    check_weights(r, at == 1000 ? 3 : 1, whole);
    CHECK(without == 0);
  }
}

TEST_CASE("rebuild: newcomers get what a folder has, which is saved when they come") {
  const Weights whole = whole_weights();
  const TemporaryFolder folder;
  SimCluster cluster(2, {.newcomers = {0.001}});
  const Fitted r = fit_with(cluster, [&](train::FitOptions& o, train::RunMemory&, i64& steps) {
    o.directory = folder / "run";
    o.callbacks.push_back(train::LambdaCallback({.on_step_end = [&steps](train::Run&) { ++steps; }}));
  });
  check_weights(r, 3, whole);
  CHECK(r.steps.at(0) == 16);
}

TEST_CASE("rebuild: fit without a folder or memory does not end for newcomers") {
  SimCluster cluster(2, {.newcomers = {0}});
  const Fitted r = fit_with(cluster, [](train::FitOptions&, train::RunMemory&, i64&) {});
  CHECK(r.weights.size() == 2);
  CHECK(cluster.errors()[2] == "has not joined");
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

// As take_steps; newcomers are taken in behind the step in which somebody sees them.
struct Joined {
  std::vector<std::vector<double>> ends;  // {size, rank, step, state} of each rank, sorted
  std::set<int> sizes;                    // of worlds that have taken a step
};
Joined take_steps_and_newcomers(SimCluster& cluster) {
  Joined r;
  cluster.run([&](const Communicator& first) {
    i64 step = 0;
    double state = 0;  // what a process has in memory: a newcomer gets it from the others
    for (Communicator world = first;;) try {
        const std::vector<float> shared =
            distribute::broadcast(constant({float(step), float(state)}), {.group = world}).to_vector<float>();
        step = i64(shared[0]), state = double(shared[1]);
        bool joins = false;
        while (step < 20 && !joins) {
          const float ones = distribute::all_reduce(constant(1.f), {.group = world}).item<float>();
          if (int(ones) != world.size()) errors::raise<errors::InternalError>("test", "another sum");
          state += double(step * step), ++step;
          r.sizes.insert(world.size());
          joins = step % 2 == 0 && world.has_newcomers();
        }
        if (joins) {
          world = world.rebuild();
          continue;
        }
        world.barrier();
        r.ends.push_back({double(world.size()), double(world.rank()), double(step), state});
        return;
      } catch (const errors::UnavailableError&) {
        world = world.rebuild();
      }
  });
  std::sort(r.ends.begin(), r.ends.end());
  return r;
}
std::vector<std::vector<double>> ends_of(int ranks) {
  std::vector<std::vector<double>> r;
  for (int i = 0; i < ranks; ++i) r.push_back({double(ranks), double(i), 20, 2470});
  return r;
}

TEST_CASE("rebuild: processes that come later join, and get what the others have in memory") {
  for (u64 seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    SimCluster cluster(2, {.seed = seed, .newcomers = {0, 0.0003}});
    const Joined r = take_steps_and_newcomers(cluster);
    CHECK(r.ends == ends_of(4));
    CHECK(r.sizes.contains(2));
    CHECK(cluster.errors() == std::vector<std::string>(4));
  }
  SimCluster late(2, {.newcomers = {100}});
  CHECK(take_steps_and_newcomers(late).ends == ends_of(2));
  CHECK(late.errors() == std::vector<std::string>{"", "", "has not joined"});
}

TEST_CASE("rebuild: a newcomer takes the place of a rank that is lost, at any moment, also while they meet") {
  for (i64 at = 1; at < 60; ++at)
    for (const u64 seed : {1, 2, 3}) {
      INFO(at << ", seed " << seed);
      // The last one comes when the timeout for the lost one has passed; it may be lost, too.
      SimCluster cluster(3, {.seed = seed,
                             .timeout = 1,
                             .newcomers = {0, 0.5},
                             .faults = {{.rank = int(at % 3), .at = at}, {.rank = 3, .at = at % 7}}});
      const Joined r = take_steps_and_newcomers(cluster);
      const auto killed = std::count(cluster.errors().begin(), cluster.errors().end(), "killed");
      const auto outside = std::count(cluster.errors().begin(), cluster.errors().end(), "has not joined");
      CHECK(r.ends == ends_of(int(5 - killed - outside)));
    }
}

TEST_CASE("rebuild: has_newcomers() is for the world, and rebuild() for a group that is dead or has some") {
  SimCluster cluster(2, {});
  std::vector<std::string> said;
  cluster.run([&](const Communicator& world) {
    const Communicator part = world.split(0);
    if (world.rank() == 0)
      said.push_back(testing::error_of<errors::FailedPreconditionError>([&] { part.has_newcomers(); }));
    if (world.has_newcomers()) said.push_back("newcomers");
    if (world.rank() == 0) said.push_back(testing::error_of<errors::FailedPreconditionError>([&] { world.rebuild(); }));
  });
  REQUIRE(said.size() == 2);
  CHECK_THAT(said[0], ContainsSubstring("is a part of the world"));
  CHECK_THAT(said[1], ContainsSubstring("is not dead"));
}

TEST_CASE("rebuild: an error that comes in its place is told to the others") {
  SimCluster cluster(2, {.newcomers = {0}});
  std::string said;
  int sees = 0;
  cluster.run([&](const Communicator& world) {
    bool joins = false;
    for (int i = 0; i < 100 && !joins; ++i) joins = world.has_newcomers();
    sees += joins;
    if (world.rank() == 0) return world.report_error("not now");
    said = testing::error_of<errors::UnavailableError>([&] { world.barrier(); });
  });
  CHECK(sees == 2);
  CHECK_THAT(said, ContainsSubstring("rank 0 has raised: not now"));
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
