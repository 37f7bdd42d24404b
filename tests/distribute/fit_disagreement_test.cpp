// train::Trainer where processes differ: in what their callbacks measure, in options and data sets, in what fails; and
// what they must have in common with one process: sample weights, clipping, loss scales, merged metrics.
#include <array>
#include <atomic>
#include <limits>
#include <string>

#include "tandem/distribute.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/train/problem.hpp"

namespace fit_disagreement_test {

using namespace training;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;
using Weights = std::vector<std::vector<float>>;

const train::ProgressOptions quiet{.mode = train::ProgressMode::none};

struct Result {
  std::vector<Weights> weights;       // by rank
  std::vector<double> learning_rate;  // at the end
  std::vector<train::History> history;
};
// Fits in each rank of a cluster. `tune` may change the options.
template <class F>
Result fit(SimCluster& cluster, int ranks, const F& tune) {
  Result r;
  const auto n = static_cast<std::size_t>(ranks);
  r.weights.resize(n), r.learning_rate.resize(n), r.history.resize(n);
  cluster.run([&](const Communicator& w) {
    const auto rank = static_cast<std::size_t>(w.rank());
    const MultiWorkerMirroredStrategy strategy;
    const layers::Sequential net = network(1, 0);
    strategy.broadcast(net);
    const auto scope = strategy.scope();
    train::TrainerOptions trainer_options = options();
    train::FitOptions o{.epochs = 4, .progress = quiet};
    tune(w.rank(), trainer_options, o);
    train::Trainer trainer(net, trainer_options);
    r.history[rank] = trainer.fit(strategy.distribute_dataset(Points(50).shuffled(16)), o);
    r.weights[rank] = weights_of(net);
    r.learning_rate[rank] = cast(trainer_options.optimizer->learning_rate(), DType::float64).item<double>();
  });
  return r;
}
template <class F>
Result fit(int ranks, const F& tune) {
  SimCluster cluster(ranks, {.seed = static_cast<u64>(ranks)});
  return fit(cluster, ranks, tune);
}
void check_near(const Weights& a, const Weights& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].size(); ++k) CHECK(a[i][k] == Approx(b[i][k]).margin(2e-5));
}

// Adds a value to those of an epoch: in rank 0 it is best in epoch 1, in the others in epoch 2, or they have none.
train::LambdaCallback measures(int rank, bool all_have_it) {
  return train::LambdaCallback({.on_epoch_end = [=](train::Run& run) {
    const i64 best = rank == 0 ? 1 : 2;
    if (rank == 0 || all_have_it) run.set_value("measured", run.epoch() == best ? 0. : 1. + double(run.epoch()));
  }});
}
TEST_CASE("fit: a value that processes measure differently decides as rank 0 has it") {
  for (const bool all_have_it : {true, false}) {
    INFO(all_have_it);
    const Result r = fit(2, [&](int rank, train::TrainerOptions&, train::FitOptions& o) {
      o.callbacks = {measures(rank, all_have_it),
                     train::EarlyStopping({.monitor = "measured", .patience = 9, .restore_best_weights = true})};
    });
    CHECK(r.weights[1] == r.weights[0]);
    const Weights second = fit(2, [&](int, train::TrainerOptions&, train::FitOptions& o) { o.epochs = 2; }).weights[0];
    CHECK(r.weights[0] == second);
    const Result slower = fit(2, [&](int rank, train::TrainerOptions&, train::FitOptions& o) {
      o.callbacks = {measures(rank, all_have_it),
                     train::ReduceLROnPlateau({.monitor = "measured", .factor = 0.5, .patience = 2})};
    });
    CHECK(slower.learning_rate[0] == Approx(0.005));  // epochs 2 and 3 are worse than 1
    CHECK(slower.learning_rate[1] == slower.learning_rate[0]);
    CHECK(slower.weights[1] == slower.weights[0]);
  }
  SimCluster cluster(2);
  CHECK_THROWS_AS(fit(cluster, 2,
                      [](int, train::TrainerOptions&, train::FitOptions& o) {
                        o.callbacks = {train::EarlyStopping({.monitor = "nothing"})};
                      }),
                  errors::NotFoundError);
  for (const std::string& e : cluster.errors()) CHECK_THAT(e, !ContainsSubstring("no answer"));
}

TEST_CASE("fit: options that differ between processes are an error in all") {
  using Tune = void (*)(int, train::TrainerOptions&, train::FitOptions&);
  struct Difference {
    const char* name;
    Tune tune;
  };
  for (const Difference& d :
       {Difference{"epochs", [](int rank, train::TrainerOptions&, train::FitOptions&o) { o.epochs = 2 + rank; }},
        Difference{"steps_per_epoch",
                   [](int rank, train::TrainerOptions&, train::FitOptions&o) { o.steps_per_epoch = 3 + rank; }},
        Difference{"max_steps",
                   [](int rank, train::TrainerOptions&, train::FitOptions&o) { o.max_steps = 5 + 2 * rank; }},
        Difference{"validation_data",
                   [](int rank, train::TrainerOptions&, train::FitOptions&o) {
                     if (rank == 1) o.validation_data = Points(16).batches(8);
                   }},
        Difference{"accumulate_steps",
                   [](int rank, train::TrainerOptions&t, train::FitOptions&) { t.accumulate_steps = 1 + rank; }}}) {
    INFO(d.name);
    SimCluster cluster(2);
    CHECK_THROWS_WITH(fit(cluster, 2, d.tune), ContainsSubstring(d.name));
    for (const std::string& e : cluster.errors()) CHECK_THAT(e, ContainsSubstring(d.name));
  }
}

// The errors of two processes, each with its data sets.
template <class F>
std::vector<std::string> errors_with(const F& data, bool evaluates) {
  SimCluster cluster(2);
  testing::error_of([&] {
    cluster.run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy;
      const layers::Sequential net = network(1, 0);
      const auto scope = strategy.scope();
      train::Trainer trainer(net, options());
      for (int i = 0; i < 100; ++i) w.barrier();  // the first 100 operations are compared
      if (evaluates) trainer.evaluate(data(w.rank()));
      else trainer.fit(data(w.rank()), {.epochs = 1, .progress = quiet});
    });
  });
  return cluster.errors();
}
TEST_CASE("fit and evaluate: a data set that is empty or fails in one process is an error in all") {
  for (const bool evaluates : {false, true}) {
    INFO(evaluates);
    const auto empty = errors_with([](int rank) { return Points(32).batches(8).take(rank == 1 ? 0 : 4); }, evaluates);
    CHECK_THAT(empty[0], ContainsSubstring("another process"));
    CHECK_THAT(empty[1], ContainsSubstring("the data set is empty"));
    const auto failing = errors_with(
        [](int rank) {
          return Points(32).batches(8).map([rank](const Tensor& x, const Tensor& y) {
            if (rank == 1) errors::raise<errors::DataLossError>("test", "a file is damaged");
            return std::array<Tensor, 2>{x, y};
          });
        },
        evaluates);
    CHECK_THAT(failing[0], ContainsSubstring("another process"));
    CHECK_THAT(failing[1], ContainsSubstring("a file is damaged"));
  }
}

TEST_CASE("fit: what a callback raises at the beginning or end of an epoch in one process is an error in all") {
  struct Hook {
    const char* name;
    train::AnyFunction<void(train::Run&)> train::LambdaCallbackOptions::*hook;
  };
  for (const Hook& h : {Hook{"on_begin", &train::LambdaCallbackOptions::on_begin},
                        Hook{"on_epoch_begin", &train::LambdaCallbackOptions::on_epoch_begin},
                        Hook{"on_epoch_end", &train::LambdaCallbackOptions::on_epoch_end}}) {
    INFO(h.name);
    SimCluster cluster(3);
    testing::error_of([&] {
      fit(cluster, 3, [&](int rank, train::TrainerOptions&, train::FitOptions& o) {
        train::LambdaCallbackOptions raises;
        raises.*h.hook = [rank](train::Run& run) {
          if (rank == 1 && run.epoch() == run.epochs() - 4) errors::raise<errors::InternalError>("test", "own error");
        };
        o.callbacks = {train::LambdaCallback(raises)};
      });
    });
    CHECK_THAT(cluster.errors()[1], ContainsSubstring("own error"));
    for (const std::size_t rank : {std::size_t{0}, std::size_t{2}})
      CHECK_THAT(cluster.errors()[rank], ContainsSubstring("another process"));
  }
}

TEST_CASE("fit: clipping by the global norm, sample weights of 0 in one process, merged metrics: as one process") {
  const auto fitted = [](int ranks, const auto& tune) {
    Result r;
    r.weights.resize(static_cast<std::size_t>(ranks)), r.history.resize(r.weights.size());
    SimCluster(ranks).run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy;
      random::set_seed(1);
      const layers::Sequential net{layers::Dense(8, nn::relu), layers::Dense(1, {.activation = nn::sigmoid})};
      net.build({none, 2});
      strategy.broadcast(net);
      const auto scope = strategy.scope();
      train::TrainerOptions o{
          .loss = losses::BinaryCrossentropy(),
          .optimizer = optimizers::SGD({.learning_rate = 0.5, .global_clipnorm = 0.05}),
          .metrics = {metrics::AUC()},
          .weighted_metrics = {metrics::AUC({.name = "weighted_auc"}), metrics::MeanSquaredError()}};
      tune(o);
      // Weights of rows 0, 2, ... alone: rank 1 of 2 has none.
      const Points p(50);
      const Tensor y = reshape(cast(p.y, DType::float32), {50, 1}), even = cast(floormod(range(50), 2), DType::float32);
      const auto rows = data::from_tensor_slices({p.x, y, 1.f - even}).batch(16);
      train::Trainer trainer(net, o);
      const auto rank = static_cast<std::size_t>(w.rank());
      r.history[rank] = trainer.fit(strategy.distribute_dataset(rows), {.epochs = 3, .progress = quiet});
      r.weights[rank] = weights_of(net);
    });
    return r;
  };
  const auto tunes = {+[](train::TrainerOptions&) {},
                      +[](train::TrainerOptions& o) { o.function.reduce_retracing = true; },
                      +[](train::TrainerOptions& o) { o.accumulate_steps = 3, o.ema = 0.5; }};
  for (int number = 0; const auto& tune : tunes) {
    const Result one = fitted(1, tune);
    for (const int ranks : {2, 3}) {
      INFO("variant " << number << ", " << ranks);
      const Result several = fitted(ranks, tune);
      for (std::size_t rank = 0; rank < several.weights.size(); ++rank) {
        check_near(several.weights[rank], one.weights[0]);
        for (const char* name : {"loss", "auc", "weighted_auc", "mean_squared_error"})
          for (std::size_t e = 0; e < 3; ++e)
            CHECK(several.history[rank][name][e] == Approx(one.history[0][name][e]).epsilon(1e-4));
      }
    }
    ++number;
  }
}

TEST_CASE("fit: a gradient that overflows in one process leaves out the step in all") {
  std::array<Weights, 2> weights;
  std::array<double, 2> scale{};
  SimCluster(2).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const layers::Sequential net = network(1, 0);
    strategy.broadcast(net);
    const auto scope = strategy.scope();
    train::TrainerOptions o = options();
    o.loss_scale = train::LossScale({.initial = 8});
    train::Trainer trainer(net, o);
    const int rank = w.rank();
    const auto data = strategy.distribute_dataset(Points(48).batches(16)).map([=](const Tensor& x, const Tensor& y) {
      const bool overflows = rank == 1 && x.to_vector<float>()[0] == Points(48).x(17, 0).item<float>();
      return std::array<Tensor, 2>{overflows ? x * std::numeric_limits<float>::infinity() : x, y};
    });
    trainer.fit(data, {.epochs = 1, .progress = quiet});
    weights[static_cast<std::size_t>(rank)] = weights_of(net);
    scale[static_cast<std::size_t>(rank)] = o.loss_scale->value().item<float>();
  });
  CHECK(scale[0] == 4);
  CHECK(scale[1] == 4);
  CHECK(weights[1] == weights[0]);
  for (const std::vector<float>& w : weights[0])
    for (const float x : w) CHECK(std::isfinite(x));
}

TEST_CASE("a step of one's own: a process without rows, and one without a gradient, in a batch") {
  std::atomic<int> right = 0;
  SimCluster(3).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Variable v(constant({1.f, 2.f}));
    const optimizers::SGD sgd({.learning_rate = 1, .global_clipnorm = 5});
    const Tensor x = ones({w.rank() == 2 ? 0 : 1, 2}) * 6.f;
    GradientTape tape;
    const Tensor loss = nn::compute_average_loss(reduce_sum(x * v, 1));
    sgd.apply_gradients(tape.gradient(loss, std::vector{v}), {v});
    // The sum of two gradients of {2, 2}: {4, 4}, whose norm is clipped to 5.
    const std::vector<float> is = v.value().to_vector<float>();
    right += std::abs(is[0] - (1 - 5 / std::sqrt(2.f))) < 1e-5f && std::isfinite(loss.item<float>());
  });
  CHECK(right == 3);
}

}  // namespace fit_disagreement_test
