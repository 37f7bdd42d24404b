// What the steps of train::Trainer exchange between processes besides gradients: nothing, unless callbacks may stop
// them.
#include <memory>

#include "tandem/distribute.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace fit_messages_test {

using namespace training;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;
using distribute::SimOptions;
using ::testing::TemporaryFolder;

// The virtual seconds of a training of two processes.
template <class F>
double fit(const F& tune, const SimOptions& simulated = {}) {
  SimCluster cluster(2, simulated);
  cluster.run([&](const Communicator& w) {
    for (int i = 0; i < 100; ++i) w.barrier();  // the first 100 operations are compared
    const MultiWorkerMirroredStrategy strategy;
    const layers::Sequential net = network(1, 0);
    strategy.broadcast(net);
    const auto scope = strategy.scope();
    train::FitOptions o{.progress = {.mode = train::ProgressMode::none}};
    tune(w, o);
    train::Trainer trainer(net, options());
    trainer.fit(strategy.distribute_dataset(Points(400).batches(4)), o);
  });
  return cluster.time();
}

TEST_CASE("fit: a step exchanges one message, the gradients, unless a callback may stop the training after it") {
  // The clock counts messages: an all_reduce of two ranks takes two of a second.
  const auto messages_per_step = [](const auto& tune) {
    const auto seconds = [&](i64 steps) {
      const TemporaryFolder folder;
      const auto all = [&](const Communicator&, train::FitOptions& o) {
        o.max_steps = steps;
        tune(folder / "run", o);
      };
      return fit(all, {.latency = 1, .bytes_per_second = 1e12, .jitter = 0, .timeout = 1e5});
    };
    return (seconds(70) - seconds(30)) / 40 / 2;
  };
  constexpr double compared = 0.03;  // the hundredth operation compares those before
  using Tune = void (*)(const std::string&, train::FitOptions&);
  CHECK(messages_per_step(Tune([](const std::string&, train::FitOptions&) {})) == Approx(1).margin(compared));
  CHECK(messages_per_step(Tune([](const std::string& folder, train::FitOptions& o) { o.directory = folder; })) ==
        Approx(1).margin(compared));
  CHECK(messages_per_step(Tune([](const std::string&, train::FitOptions& o) {
          o.callbacks = {train::EarlyStopping({.monitor = "loss"}), train::TerminateOnNaN()};
        })) == Approx(1).margin(compared));
  CHECK(messages_per_step(Tune([](const std::string&, train::FitOptions& o) {
          o.callbacks = {train::LambdaCallback({.on_step_end = [](train::Run&) {}})};
        })) == Approx(2).margin(compared));
}

TEST_CASE("fit: a callback that stops after a step, against what it says, is an error") {
  struct Stops final : train::Callback {
    void on_step_end(train::Run& run) override { run.stop("enough"); }
    bool may_stop_after_step() const override { return false; }
  };
  CHECK_THROWS_WITH(fit([](const Communicator&, train::FitOptions& o) { o.callbacks = {std::make_shared<Stops>()}; }),
                    ContainsSubstring("may_stop_after_step() must return true"));
}

}  // namespace fit_messages_test
