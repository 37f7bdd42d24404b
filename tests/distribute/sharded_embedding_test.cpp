// ShardedEmbedding in a simulated cluster: the same table, results, gradients and training for any number of ranks.
#include "tandem/distribute/sharded_embedding.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/dense.hpp"
#include "tandem/losses.hpp"
#include "tandem/module/model.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optimizers.hpp"
#include "tandem/train.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sharded_embedding_test {

using namespace tandem;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::ShardedEmbedding;
using distribute::SimCluster;
using Floats = std::vector<float>;

constexpr i64 words = 2500, size = 3;  // three blocks of initial values

Floats table_of(int ranks) {
  Floats r;
  SimCluster(ranks, {.seed = 3}).run([&](const Communicator& w) {
    const ShardedEmbedding embedding(words, size, {.seed = 8});
    const Tensor table = embedding.table();
    if (w.rank() == ranks - 1) r = table.to_vector<float>();
  });
  return r;
}
TEST_CASE("a ShardedEmbedding has the same initial values for any number of ranks, all different") {
  const Floats one = table_of(1);
  REQUIRE(one.size() == words * size);
  Floats sorted = one;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::unique(sorted.begin(), sorted.end()) - sorted.begin() > words * size * 99 / 100);
  CHECK(sorted.front() >= -0.05f);
  CHECK(sorted.back() < 0.05f);
  for (const int ranks : {2, 3, 4, 7}) CHECK(table_of(ranks) == one);
}
TEST_CASE("initial values of a large table need no more memory than the table and a block") {
  const i64 before = memory::info().live;
  memory::reset_peak();
  const ShardedEmbedding embedding(200'000, 8, {.seed = 8});
  CHECK(memory::info().peak - before < 200'000 * 8 * 4 * 5 / 4);
}
TEST_CASE("without a seed rank 0 draws one for all") {
  std::atomic<int> right = 0;
  SimCluster(3).run([&](const Communicator& w) {
    random::set_seed(w.rank() + 1);
    const Tensor a = ShardedEmbedding(20, 2).table(), b = ShardedEmbedding(20, 2).table();
    const Tensor first = distribute::broadcast(a);
    right += a.to_vector<float>() == first.to_vector<float>() && a.to_vector<float>() != b.to_vector<float>();
  });
  CHECK(right == 3);
}

// Rank r of p looks up ids r, r + p, ... of these, some of which are asked for by several ranks and several times.
const std::vector<int> ids{5, 1, 5, 0, 9, 1, 2, 5, 9, 9, 3, 0};
Tensor own_ids(const Communicator& w) { return constant(ids)(Slice(w.rank(), none, w.size())); }

TEST_CASE("every rank gets the rows that it asks for, of ids of any shape, eagerly and traced, and for no ids") {
  std::atomic<int> right = 0, errors = 0;
  SimCluster(3, {.seed = 1}).run([&](const Communicator& w) {
    const ShardedEmbedding embedding(10, 2);
    const Tensor table = reshape(range(20.f), {10, 2});
    embedding.assign(table);
    const auto lookup = function([&](const Tensor& x) { return embedding(x); });
    const auto same = [](const Tensor& a, const Tensor& b) {
      return a.shape() == b.shape() && a.to_vector<float>() == b.to_vector<float>();
    };
    for (const Tensor& x : {own_ids(w), reshape(own_ids(w), {2, 1, 2}), cast(own_ids(w), DType::int64),
                            own_ids(w)(Slice(0, w.rank() == 1 ? 0 : 3)), constant(4)})
      right += same(embedding(x), gather(table, x)) && same(lookup(x), gather(table, x));
    right += same(embedding.table(), table);
    errors += testing::error_of([&] { embedding.assign(table(Slice(1, none))); }).find("the table is float32 ") !=
              std::string::npos;
  });
  CHECK(right == 18);
  CHECK(errors == 3);
}

// The table after 4 steps of Adam in a strategy's scope, and a weight that all ranks have.
Floats trained(int ranks, bool traced) {
  Floats r;
  SimCluster(ranks, {.seed = 2}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const ShardedEmbedding embedding(10, 2);
    embedding.assign(reshape(range(20.f) / 10.f, {10, 2}));
    const Variable b(constant({0.5f, 1.f}));
    const optimizers::Adam adam({.learning_rate = 0.1});
    const auto step = [&](const Tensor& x) {
      GradientTape tape;
      const Tensor error = reduce_sum(square(embedding(x) * b - 1.f), 1);
      const Tensor loss = nn::compute_average_loss(error, {.global_batch_size = static_cast<i64>(ids.size())});
      std::vector<Variable> weights = embedding.trainable_variables();
      weights.push_back(b);
      adam.apply_gradients(tape.gradient(loss, weights), weights);
      return loss;
    };
    auto f = function(step);
    for (int i = 0; i < 4; ++i) traced ? f(own_ids(w)) : step(own_ids(w));
    const Tensor table = embedding.table();
    if (w.rank() == ranks - 1) r = concat({reshape(table, {-1}), Tensor(b)}, 0).to_vector<float>();
  });
  return r;
}
TEST_CASE("training changes the table as one process does, and rows that nobody asked for not at all") {
  const Floats one = trained(1, false);
  CHECK(one[8] == 0.8f);  // id 4
  CHECK(one[10] != 1.f);  // id 5
  for (const int ranks : {1, 2, 3, 4, 12})
    for (const bool traced : {false, true}) {
      INFO(ranks << (traced ? " traced" : ""));
      const Floats several = trained(ranks, traced);
      REQUIRE(several.size() == one.size());
      for (std::size_t i = 0; i < one.size(); ++i) CHECK(several[i] == Approx(one[i]).margin(1e-5));
    }
}

struct Words : Model<Words> {
  ShardedEmbedding embedding{10, 4, {.seed = 3}};
  layers::Dense out{1};
  Tensor operator()(const Tensor& x) const { return out(embedding(x)); }
};
// The table after two epochs of fit, whose last batch leaves some of the ranks without rows.
Floats fitted(int ranks, bool scaled) {
  Floats r;
  SimCluster(ranks, {.seed = 4}).run([&](const Communicator& w) {
    random::set_seed(1);
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Words model;
    train::Trainer trainer(model, {.loss = losses::MeanSquaredError(),
                                   .optimizer = optimizers::Adam(0.05),
                                   .loss_scale = scaled ? std::optional(train::LossScale()) : std::nullopt});
    const Tensor x = constant(ids), y = reshape(cast(x, DType::float32), {-1, 1});
    const auto batches = data::from_tensor_slices(std::pair(x, y)).batch(5);
    trainer.fit(strategy.distribute_dataset(batches), {.epochs = 2, .progress = {.mode = train::ProgressMode::none}});
    const Tensor table = model.embedding.table();
    if (w.rank() == ranks - 1) r = table.to_vector<float>();
  });
  return r;
}
TEST_CASE("fit trains a sharded table as one process does, also where a rank has no rows of a batch") {
  for (const bool scaled : {false, true}) {
    const Floats one = fitted(1, scaled);
    for (const int ranks : {2, 3, 4}) {
      INFO(ranks << (scaled ? " scaled" : ""));
      const Floats several = fitted(ranks, scaled);
      REQUIRE(several.size() == one.size());
      for (std::size_t i = 0; i < one.size(); ++i) CHECK(several[i] == Approx(one[i]).margin(1e-4));
    }
  }
}

TEST_CASE("broadcast, clones and optimizers' slots leave each rank its shard") {
  std::atomic<int> right = 0;
  SimCluster(3).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Words model;
    model(constant({1}));
    const Variable shard = model.embedding.trainable_variables()[0];
    shard.assign(zeros_like(shard.value()) + (w.rank() + 1.f));
    const optimizers::Adam adam(0.1);
    adam.build(model.trainable_variables());
    strategy.broadcast(model);
    strategy.broadcast(adam);  // rows differ: 4, 3 and 3
    right += shard.value().to_vector<float>()[0] == static_cast<float>(w.rank() + 1);
    const Words copy = model.clone();
    const Variable copied = copy.embedding.trainable_variables()[0];
    right += !copied.aggregate() && copied.value().to_vector<float>()[0] == static_cast<float>(w.rank() + 1);
  });
  CHECK(right == 6);
}
TEST_CASE("a group that is not the strategy's is refused") {
  std::atomic<int> right = 0;
  SimCluster(4).run([&](const Communicator& w) {
    const Communicator pair = w.split(w.rank() / 2);
    const ShardedEmbedding alone(10, 2, {.group = pair});  // without a strategy
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const std::string error = testing::error_of([&] { ShardedEmbedding(10, 2, {.group = pair}); });
    right += error.find("the strategy has 4 processes") != std::string::npos;
  });
  CHECK(right == 4);
}
TEST_CASE("where one rank has an id that there is not, the others raise, too") {
  std::atomic<int> right = 0;
  SimCluster cluster(3, {.timeout = 5});
  CHECK_THROWS_AS(cluster.run([&](const Communicator& w) {
    const ShardedEmbedding embedding(10, 2);
    try {
      embedding(constant({w.rank() == 1 ? 10 : 0}));
    } catch (const errors::UnavailableError&) {
      ++right;
      throw;
    }
  }),
                  errors::OpError);
  CHECK(right == 2);
  CHECK_THAT(cluster.errors()[1], ContainsSubstring("beyond the table"));
}

TEST_CASE("a sharded table raises for ids out of range, and global_clipnorm") {
  std::atomic<int> right = 0;
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  SimCluster(2).run([&](const Communicator&) {
    const ShardedEmbedding embedding(10, 2);
    const std::string beyond = testing::error_of([&] { embedding(constant({3, 10})); });
    UNSCOPED_INFO(beyond);
    right += has(beyond, "beyond the table");
    right += has(testing::error_of([&] { embedding(constant({-1})); }), "is negative");
    right += has(testing::error_of([&] { embedding(constant({1.f})); }), "int32 or int64");
    right += has(testing::error_of([] { ShardedEmbedding(0, 2); }), "input_dim must be positive");
    const std::vector<Variable> weights = embedding.trainable_variables();
    const optimizers::SGD sgd({.learning_rate = 0.1, .global_clipnorm = 1.});
    const std::string clip =
        testing::error_of([&] { sgd.apply_gradients({zeros_like(weights[0].read_value())}, weights); });
    UNSCOPED_INFO(clip);
    right += has(clip, "global_clipnorm needs the gradients of all Variables") && has(clip, "shard");
  });
  CHECK(right == 10);
}

// --- in a Trainer's folder

struct Trained {
  Floats table, averages;
  std::vector<double> loss;
};
// Trains in a folder until a step, by as many ranks.
Trained fitted(const std::string& folder, int ranks, i64 steps, train::FitOptions o = {},
               train::Callbacks (*callbacks)() = nullptr) {
  Trained r;
  SimCluster(ranks, {.seed = 6}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    random::set_seed(2);
    const Words model;
    train::Trainer trainer(model, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::Adam(0.1), .ema = 0.5});
    const Tensor x = range(24) % 10, y = reshape(cast(range(24), DType::float32), {24, 1});
    train::FitOptions options = o;
    if (callbacks) options.callbacks = callbacks();  // each rank has its own
    options.max_steps = steps, options.directory = folder, options.progress.mode = train::ProgressMode::none;
    const train::History h =
        trainer.fit(strategy.distribute_dataset(data::from_tensor_slices(std::pair(x, y)).batch(6)), options);
    const Tensor table = model.embedding.table();
    const Variable average = trainer.ema().average(model.embedding.trainable_variables()[0]);
    const Tensor sum = strategy.reduce(distribute::ReduceOp::sum, average, 0);
    if (w.rank() == ranks - 1) r = {table.to_vector<float>(), sum.to_vector<float>(), h["loss"]};
  });
  return r;
}
TEST_CASE("a table in a Trainer's folder is saved by all ranks, and any number of them goes on with the same bits") {
  const ::testing::TemporaryFolder folder;
  const Trained two = fitted(folder / "run", 2, 5);
  for (const int ranks : {3, 1, 4, 2}) {  // restored, saved by none: the run is complete
    INFO(ranks);
    const Trained again = fitted(folder / "run", ranks, 5);
    CHECK(again.table == two.table);
    REQUIRE(again.averages.size() == two.averages.size());
    for (std::size_t i = 0; i < two.averages.size(); ++i)
      CHECK(again.averages[i] == Approx(two.averages[i]).epsilon(1e-6));
  }
  for (const int ranks : {1, 2, 3}) {  // for evaluation: the model and its averages
    INFO(ranks);
    std::vector<Floats> restored;
    SimCluster(ranks).run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy;
      const auto scope = strategy.scope();
      const Words model;
      train::Trainer trainer(model, {.loss = losses::MeanSquaredError(), .ema = 0.5});
      trainer.restore(folder / "run");
      const Tensor table = model.embedding.table();
      const Variable average = trainer.ema().average(model.embedding.trainable_variables()[0]);
      const Tensor sum = strategy.reduce(distribute::ReduceOp::sum, average, 0);
      if (w.rank() == ranks - 1) restored = {table.to_vector<float>(), sum.to_vector<float>()};
    });
    CHECK(restored[0] == two.table);
    for (std::size_t i = 0; i < two.averages.size(); ++i)
      CHECK(restored[1][i] == Approx(two.averages[i]).epsilon(1e-6));
  }
  // Each goes on from the other's files, slots included: near an uninterrupted run, whose sums have another order.
  const Trained whole = fitted(folder / "whole", 2, 11);
  const Trained three = fitted(folder / "run", 3, 8), same = fitted(folder / "copy", 2, 8);
  for (std::size_t i = 0; i < same.table.size(); ++i) CHECK(three.table[i] == Approx(same.table[i]).margin(1e-4));
  CHECK(fitted(folder / "run", 1, 8).table == three.table);
  const Trained one = fitted(folder / "run", 1, 11);
  for (std::size_t i = 0; i < whole.table.size(); ++i) CHECK(one.table[i] == Approx(whole.table[i]).margin(1e-4));
  // Interrupted and gone on with as many: the same bits.
  CHECK(fitted(folder / "copy", 2, 11).table == whole.table);
}
// Of an epoch that is the best one, as the loss only grows behind it.
train::Callbacks early_stopping() {
  return {train::LambdaCallback({.on_epoch_end =
                                     [](train::Run& run) {
                                       run.set_value("measured",
                                                     run.epoch() == 1 ? 0. : 1. + static_cast<double>(run.epoch()));
                                     }}),
          train::EarlyStopping({.monitor = "measured", .patience = 9, .restore_best_weights = true})};
}
TEST_CASE("the best rows of a table that EarlyStopping keeps are saved in a Trainer's folder, too") {
  const ::testing::TemporaryFolder folder;
  const auto train_until = [&](const std::string& run, int ranks, i64 steps) {
    return fitted(folder / run, ranks, steps, {}, early_stopping);
  };
  const Trained best = train_until("best", 2, 8);  // an epoch has 4 steps, the second one is the best
  const Trained whole = train_until("whole", 2, 14);
  CHECK(whole.table == best.table);
  for (const int ranks : {2, 3, 1}) {  // interrupted behind the best epoch, and gone on with as many ranks, and others
    INFO(ranks);
    const std::string run = "run" + std::to_string(ranks);
    train_until(run, 2, 10);
    const Trained again = train_until(run, ranks, 14);
    REQUIRE(again.table.size() == best.table.size());
    CHECK(again.table == best.table);
  }
  // A Variable of which each process has its own value, not rows of one, is still refused.
  const std::string error = testing::error_of([&] {
    SimCluster(2).run([&](const Communicator&) {
      const MultiWorkerMirroredStrategy strategy;
      const auto scope = strategy.scope();
      struct Keeps : train::Callback {
        Keeps() {
          kept.add_variables({{.path = "own", .variable = Variable(1.f, {.name = "own", .aggregate = false})}});
        }
        const train::SavedState* state() const override { return &kept; }
        train::SavedState kept;
      };
      const Words model;
      const Tensor x = range(24) % 10, y = reshape(cast(range(24), DType::float32), {24, 1});
      train::Trainer(model, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::SGD(0.1)})
          .fit(strategy.distribute_dataset(data::from_tensor_slices(std::pair(x, y)).batch(6)),
               {.callbacks = {Keeps()}, .progress = {.mode = train::ProgressMode::none}, .directory = folder / "own"});
    });
  });
  CHECK_THAT(error, ContainsSubstring("EarlyStopping's .restore_best_weights"));
}
TEST_CASE("files with rows: old ones are removed, a missing or foreign one is an error in all ranks") {
  const ::testing::TemporaryFolder folder;
  const auto files = [&](const std::string& run) {
    std::vector<std::string> r;
    for (const auto& entry : std::filesystem::directory_iterator(run + "/checkpoints"))
      if (const std::string name = entry.path().filename().string(); name.find(".shard-") != name.npos)
        r.push_back(name);
    std::sort(r.begin(), r.end());
    return r;
  };
  const std::string run = folder / "run";
  fitted(run, 3, 9, {.save_steps = 1, .max_to_keep = 1});
  const std::vector<std::string> left = files(run);
  CHECK(left.size() <= 3 * 2);  // the last step is saved twice: where it is due, and at the end
  const auto path = [&](const std::string& of, int rank) {
    const std::vector<std::string> names = files(of);
    const auto at = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return name.find("ckpt-9.shard-0000" + std::to_string(rank) + "-of-00003-") == 0;
    });
    REQUIRE(at != names.end());
    return of + "/checkpoints/" + *at;
  };
  const std::string second = path(run, 1), third = path(run, 2);
  const auto error = [&](int ranks) { return testing::error_of([&] { fitted(run, ranks, 10); }); };
  std::filesystem::rename(second, second + ".kept");
  CHECK_THAT(error(2), ContainsSubstring("there is no " + second));
  std::filesystem::copy_file(third, second);
  CHECK_THAT(error(2), ContainsSubstring(second + " does not belong to "));
  std::filesystem::remove(second);
  const std::string other = folder / "other";
  fitted(other, 3, 9);
  std::filesystem::copy_file(path(other, 1), second);
  CHECK_THAT(error(2), ContainsSubstring(second + " does not belong to "));
  CHECK_THAT(error(3), ContainsSubstring("could not restore its rows") || ContainsSubstring("does not belong to "));
  std::filesystem::remove(second);
  std::filesystem::rename(second + ".kept", second);
  CHECK(error(2) == "no error");
}

}  // namespace sharded_embedding_test
