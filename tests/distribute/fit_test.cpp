// train::Trainer in a strategy's scope, in a simulated cluster: the same result as one process, also with batches that
// the processes do not divide; early stopping, checkpoints, killed and restarted ranks.
#include <array>
#include <atomic>
#include <limits>
#include <memory>

#include "tandem/distribute.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace distributed_fit_test {

using namespace training;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;
using distribute::SimFault;
using distribute::SimOptions;
using ::testing::TemporaryFolder;
using Weights = std::vector<std::vector<float>>;

struct Result {
  std::vector<Weights> weights;               // by rank
  std::vector<std::vector<double>> loss;      // of the epochs
  std::vector<std::vector<double>> accuracy;  // of the validation
};

const train::ProgressOptions quiet{.mode = train::ProgressMode::none};

// Fits in each rank of a cluster. `tune` may change the options.
template <class F>
Result fit(SimCluster& cluster, int ranks, i64 batch, const F& tune) {
  Result r;
  const auto n = static_cast<std::size_t>(ranks);
  r.weights.resize(n), r.loss.resize(n), r.accuracy.resize(n);
  cluster.run([&](const Communicator& w) {
    const auto rank = static_cast<std::size_t>(w.rank());
    const MultiWorkerMirroredStrategy strategy;
    // Before the scope: the ranks draw from one generator here, and would take turns while they make Variables.
    const layers::Sequential net = network(1 + w.rank(), 0);
    strategy.broadcast(net);
    const auto scope = strategy.scope();
    train::TrainerOptions trainer_options = options();
    train::FitOptions o{
        .epochs = 4, .validation_data = strategy.distribute_dataset(Points(33, 9).batches(16)), .progress = quiet};
    tune(w, trainer_options, o);
    train::Trainer trainer(net, trainer_options);
    const train::History h = trainer.fit(strategy.distribute_dataset(Points(50).shuffled(batch)), o);
    r.weights[rank] = weights_of(net);
    r.loss[rank] = h["loss"];
    if (o.validation_data) r.accuracy[rank] = h["val_sparse_categorical_accuracy"];
  });
  return r;
}
template <class F>
Result fit(int ranks, i64 batch, const F& tune) {
  SimCluster cluster(ranks, {.seed = static_cast<u64>(ranks)});
  return fit(cluster, ranks, batch, tune);
}
const auto as_it_is = [](const Communicator&, train::TrainerOptions&, train::FitOptions&) {};

void check_near(const Weights& a, const Weights& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].size(); ++k) CHECK(a[i][k] == Approx(b[i][k]).margin(2e-5));
}

TEST_CASE("fit: weights, loss and metrics do not depend on the number of processes") {
  const Result one = fit(1, 16, as_it_is);  // 50 rows: the last batch has 2
  REQUIRE(one.loss[0].size() == 4);
  for (const int ranks : {2, 3, 4}) {
    INFO(ranks);
    const Result several = fit(ranks, 16, as_it_is);
    for (const Weights& w : several.weights) CHECK(w == several.weights[0]);
    check_near(several.weights[0], one.weights[0]);
    for (std::size_t rank = 0; rank < several.loss.size(); ++rank)
      for (std::size_t e = 0; e < 4; ++e) {
        CHECK(several.loss[rank][e] == Approx(one.loss[0][e]).epsilon(1e-4));
        CHECK(several.accuracy[rank][e] == Approx(one.accuracy[0][e]).epsilon(1e-6));
      }
  }
}

TEST_CASE("fit: accumulated steps, loss scaling, averages of weights, a summed loss") {
  const auto tunes = {
      +[](const Communicator&, train::TrainerOptions& t, train::FitOptions&) { t.accumulate_steps = 2; },
      +[](const Communicator&, train::TrainerOptions& t, train::FitOptions&) {
        t.loss_scale = train::LossScale({.initial = 8});
      },
      +[](const Communicator&, train::TrainerOptions& t, train::FitOptions&) { t.ema = 0.9; },
      +[](const Communicator&, train::TrainerOptions& t, train::FitOptions&) {
        t.loss = losses::SparseCategoricalCrossentropy({.from_logits = true, .reduction = losses::Reduction::sum});
      }};
  for (const auto& tune : tunes) check_near(fit(3, 16, tune).weights[1], fit(1, 16, tune).weights[0]);
}

TEST_CASE("fit: virtual shards give the same bits with any number of processes") {
  const auto fitted = [](int ranks) {
    SimCluster cluster(ranks);
    Weights r;
    cluster.run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy({.virtual_shards = 4});
      const layers::Sequential net = network(1, 0);
      strategy.broadcast(net);
      const auto scope = strategy.scope();
      train::Trainer trainer(net, options());
      trainer.fit(strategy.distribute_dataset(Points(50).shuffled(16)), {.epochs = 3, .progress = quiet});
      if (w.rank() == ranks - 1) r = weights_of(net);
    });
    return r;
  };
  const Weights one = fitted(1);
  CHECK(fitted(2) == one);
  CHECK(fitted(4) == one);
  check_near(one, fit(1, 16, [](const Communicator&, train::TrainerOptions&, train::FitOptions& o) {
                    o.epochs = 3;
                  }).weights[0]);
  SimCluster(3).run([](const Communicator&) {
    CHECK_THROWS_WITH(MultiWorkerMirroredStrategy({.virtual_shards = 4}),
                      ContainsSubstring("must be powers of 2") && ContainsSubstring("4 and 3"));
  });
}

TEST_CASE("fit: every process stops in the same epoch") {
  std::array<std::atomic<i64>, 3> epochs{};
  fit(3, 16, [&](const Communicator& w, train::TrainerOptions&, train::FitOptions& o) {
    o.epochs = 50;
    o.callbacks = {train::EarlyStopping({.monitor = "loss", .min_delta = 0.02, .patience = 1}),
                   train::LambdaCallback({.on_epoch_end = [&epochs, rank = w.rank()](train::Run&) {
                     ++epochs[static_cast<std::size_t>(rank)];
                   }})};
  });
  CHECK(epochs[0] > 1);
  CHECK(epochs[0] < 50);
  CHECK(epochs[1] == epochs[0]);
  CHECK(epochs[2] == epochs[0]);
}

TEST_CASE("fit: a loss that is not finite in one process is an error in all") {
  SimCluster cluster(3);
  CHECK_THROWS_WITH(fit(cluster, 3, 16,
                        [](const Communicator&, train::TrainerOptions& t, train::FitOptions& o) {
                          t.optimizer = optimizers::SGD(1e38);
                          o.callbacks = {train::TerminateOnNaN()};
                        }),
                    ContainsSubstring("the loss"));
  for (const std::string& e : cluster.errors()) CHECK_THAT(e, ContainsSubstring("the loss"));
}

TEST_CASE("fit: rank 0 writes checkpoints, all go on from them, also another number of processes") {
  const auto with = [](const std::string& folder, i64 epochs) {
    return [=](const Communicator&, train::TrainerOptions&, train::FitOptions& o) {
      o.directory = folder;
      o.epochs = epochs;
    };
  };
  const TemporaryFolder folder;
  const Weights whole = fit(3, 16, with(folder / "whole", 4)).weights[0];
  fit(3, 16, with(folder / "parts", 2));
  const Result second = fit(3, 16, with(folder / "parts", 4));
  CHECK(second.weights[0] == whole);
  CHECK(second.weights[2] == whole);
  CHECK(second.loss[1].size() == 4);  // with those of the first two epochs
  fit(3, 16, with(folder / "others", 2));
  check_near(fit(2, 16, with(folder / "others", 4)).weights[1], whole);
}

TEST_CASE("fit: a process is killed, all start again and end as if nothing had happened") {
  const TemporaryFolder folder;
  const auto in = [&](const std::string& name) {
    return [path = folder / name](const Communicator&, train::TrainerOptions&, train::FitOptions& o) {
      o.directory = path;
      o.save_steps = 3;
    };
  };
  const Weights whole = fit(3, 16, in("whole")).weights[0];
  for (const int rank : {0, 1, 2}) {
    INFO(rank);
    SimCluster cluster(3, {.seed = 4, .timeout = 60, .max_restarts = 1, .faults = {{.rank = rank, .at = 90}}});
    const Result r = fit(cluster, 3, 16, in("killed" + std::to_string(rank)));
    CHECK(cluster.restarts() == 1);
    for (const Weights& w : r.weights) CHECK(w == whole);
  }
}

TEST_CASE("fit: one process that stops a run stops all; a folder that rank 0 cannot use is an error in all") {
  std::array<std::atomic<i64>, 2> steps{};
  fit(2, 16, [&](const Communicator& w, train::TrainerOptions&, train::FitOptions& o) {
    o.callbacks = {train::LambdaCallback({.on_step_end = [&steps, rank = w.rank()](train::Run& run) {
      if (++steps[static_cast<std::size_t>(rank)] == 3 && rank == 1) run.stop("enough");
    }})};
  });
  CHECK(steps[0] == 3);
  CHECK(steps[1] == 3);
  SimCluster cluster(2);
  CHECK_THROWS_AS(
      fit(cluster, 2, 16,
          [](const Communicator&, train::TrainerOptions&, train::FitOptions& o) { o.directory = "/dev/null/run"; }),
      errors::OpError);
  CHECK_THAT(cluster.errors()[1], ContainsSubstring("rank 0 could not use the folder /dev/null/run"));
}

TEST_CASE("fit: a process that stops in any callback stops all after the same step") {
  struct Hook {
    const char* name;
    train::AnyFunction<void(train::Run&)> train::LambdaCallbackOptions::*hook;
  };
  for (const Hook& h : {Hook{"on_epoch_begin", &train::LambdaCallbackOptions::on_epoch_begin},
                        Hook{"on_step_end", &train::LambdaCallbackOptions::on_step_end},
                        Hook{"on_evaluate", &train::LambdaCallbackOptions::on_evaluate},
                        Hook{"on_epoch_end", &train::LambdaCallbackOptions::on_epoch_end}}) {
    INFO(h.name);
    std::array<std::atomic<i64>, 3> steps{};
    const TemporaryFolder folder;
    fit(3, 16, [&](const Communicator& w, train::TrainerOptions&, train::FitOptions& o) {
      const int rank = w.rank();
      train::LambdaCallbackOptions stops, counts;
      stops.*h.hook = [=](train::Run& run) {
        if (rank == 2 && run.epoch() == 1) run.stop("enough");
      };
      counts.on_step_end = [&steps, rank](train::Run&) { ++steps[static_cast<std::size_t>(rank)]; };
      o.callbacks = {train::LambdaCallback(stops), train::LambdaCallback(counts)};
      o.directory = folder / "run";
    });
    CHECK(steps[0] >= 4);
    CHECK(steps[0] <= 8);
    CHECK(steps[1] == steps[0]);
    CHECK(steps[2] == steps[0]);
  }
}

TEST_CASE("fit: a summed loss with a penalty, and its validation") {
  const auto fitted = [](int ranks) {
    Result r;
    r.loss.resize(static_cast<std::size_t>(ranks)), r.weights.resize(r.loss.size());
    std::vector<double> validated;
    SimCluster(ranks).run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy;
      random::set_seed(1);
      const layers::Sequential net{
          layers::Dense(4, {.activation = nn::tanh, .kernel_regularizer = regularizers::L2(0.1)}), layers::Dense(2)};
      net.build({none, 2});
      strategy.broadcast(net);
      const auto scope = strategy.scope();
      train::TrainerOptions o = options();
      o.loss = losses::SparseCategoricalCrossentropy({.from_logits = true, .reduction = losses::Reduction::sum});
      train::Trainer trainer(net, o);
      const train::History h = trainer.fit(
          strategy.distribute_dataset(Points(50).shuffled(16)),  // the last batch has rows for two processes
          {.epochs = 3, .validation_data = strategy.distribute_dataset(Points(25, 9).batches(12)), .progress = quiet});
      r.weights[static_cast<std::size_t>(w.rank())] = weights_of(net);
      r.loss[static_cast<std::size_t>(w.rank())] = h["loss"];
      if (w.rank() == 0) validated = h["val_loss"];
    });
    r.accuracy = {validated};
    return r;
  };
  const Result one = fitted(1), three = fitted(3);
  check_near(three.weights[2], one.weights[0]);
  for (std::size_t e = 0; e < 3; ++e) {
    CHECK(three.loss[1][e] == Approx(one.loss[0][e]).epsilon(1e-4));
    CHECK(three.accuracy[0][e] == Approx(one.accuracy[0][e]).epsilon(1e-4));
  }
}

TEST_CASE("fit: outside of the scope in which the Trainer was made, and with tensors") {
  const Points points(48);
  const auto fitted = [&](int ranks) {
    Weights r;
    SimCluster(ranks).run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy;
      const layers::Sequential net = network(1, 0);
      strategy.broadcast(net);
      const auto trainer = [&] {
        const auto scope = strategy.scope();
        return std::make_unique<train::Trainer>(net, options());
      }();
      trainer->fit(points.x, points.y, {.epochs = 3, .progress = quiet, .batch_size = 12, .shuffle = false});
      const double accuracy = trainer->evaluate(points.x, points.y)["sparse_categorical_accuracy"];
      if (accuracy < 0.5) errors::raise<errors::InternalError>("test", "accuracy " + std::to_string(accuracy));
      if (w.rank() == ranks - 1) r = weights_of(net);
    });
    return r;
  };
  const Weights one = fitted(1);
  check_near(fitted(2), one);
  check_near(fitted(3), one);
}

TEST_CASE("fit: the epoch that a checkpoint divides has the means of all rows") {
  const auto run = [](const std::string& folder, i64 steps) {
    SimCluster cluster(2);
    return fit(cluster, 2, 10, [&](const Communicator&, train::TrainerOptions&, train::FitOptions& o) {
      o.directory = folder;
      o.max_steps = steps;
      o.validation_data = {};
    });
  };
  const TemporaryFolder folder;
  const auto whole = run(folder / "whole", 10).loss;
  run(folder / "parts", 3);
  const auto parts = run(folder / "parts", 10).loss;
  CHECK(parts[0] == whole[0]);
  CHECK(parts[1] == whole[0]);
}

TEST_CASE("fit: dropout in a simulated cluster; each process draws its own") {
  std::array<std::vector<float>, 2> masks;
  SimCluster(2, {.seed = 3}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    random::set_seed(5);
    const layers::Sequential net = network(1, 0.5);
    train::Trainer trainer(net, options());
    trainer.fit(strategy.distribute_dataset(Points(40).shuffled(8)), {.epochs = 2, .progress = quiet});
    masks[static_cast<std::size_t>(w.rank())] = random::uniform({4}).to_vector<float>();
  });
  CHECK(masks[0] == masks[1]);  // after the step the generators are where one alone would be
}

TEST_CASE("fit: what all processes must be told") {
  SimCluster cluster(4);
  CHECK_THROWS_WITH(fit(cluster, 4, 3, as_it_is), ContainsSubstring("the first batch has fewer rows than there are"));
  // A step of one's own whose output is not finite in one process.
  SimCluster two(2);
  CHECK_THROWS_WITH(two.run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const float value = w.rank() == 1 ? std::numeric_limits<float>::infinity() : 1.f;
    train::Trainer trainer({}, [value](const Tensor& x, const Tensor&) {
      return train::Outputs{{"loss", reduce_mean(x) * 0.f + value}};
    });
    trainer.fit(strategy.distribute_dataset(Points(40).batches(8)),
                {.callbacks = {train::TerminateOnNaN()}, .progress = quiet});
  }),
                    ContainsSubstring("loss"));
  for (const std::string& e : two.errors()) CHECK_THAT(e, !ContainsSubstring("no answer") && ContainsSubstring("loss"));
}

}  // namespace distributed_fit_test
