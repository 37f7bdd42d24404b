// ShardedEmbedding in a simulated cluster: the same table, results, gradients and training for any number of ranks.
#include "tandem/distribute/sharded_embedding.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
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
    const ShardedEmbedding embedding(words, size,
                                     {.embeddings_initializer = initializers::RandomUniform(-0.05, 0.05, 8)});
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
TEST_CASE("any initializer gives a ShardedEmbedding the same values for any number of ranks") {
  struct Case {
    Initializer rule;
    double mean, variance;
  };
  const double out = (2500. + 16) / 2;  // of the fans of the whole table
  for (const Case& c :
       {Case{initializers::Zeros(), 0, 0}, Case{initializers::Constant(3), 3, 0},
        Case{initializers::RandomUniform(-1, 3, 4), 1, 16. / 12}, Case{initializers::RandomNormal(1, 2, 4), 1, 4},
        Case{initializers::GlorotUniform(4), 0, 1 / out}, Case{initializers::GlorotNormal(4), 0, 1 / out},
        Case{initializers::Orthogonal(1, 4), 0, 1. / 2500}}) {
    std::array<Floats, 3> tables;
    for (std::size_t ranks = 1; ranks <= 3; ++ranks)
      SimCluster(static_cast<int>(ranks), {.seed = 3}).run([&](const Communicator& w) {
        const ShardedEmbedding embedding(2500, 16, {.embeddings_initializer = c.rule});
        const Tensor table = embedding.table();
        if (w.rank() == 0) tables[ranks - 1] = table.to_vector<float>();
      });
    CHECK(tables[1] == tables[0]);
    CHECK(tables[2] == tables[0]);
    const Tensor all = cast(constant(tables[0]), DType::float64);
    const double mean = reduce_mean(all).item<double>(), variance = reduce_mean(square(all - mean)).item<double>();
    CHECK(mean == Approx(c.mean).margin(0.04 * std::sqrt(c.variance)));
    CHECK(variance == Approx(c.variance).epsilon(0.04));
  }
  const Tensor table = ShardedEmbedding(3, 2, {.embeddings_initializer = initializers::Identity(2)}).table();
  CHECK(table.to_vector<float>() == Floats{2, 0, 0, 2, 0, 0});
}
TEST_CASE("initial values of a large table need no more memory than the table and a block") {
  const i64 before = memory::info().live;
  memory::reset_peak();
  const ShardedEmbedding embedding(200'000, 8, {.embeddings_initializer = initializers::RandomUniform(-0.05, 0.05, 8)});
  CHECK(memory::info().peak - before < 200'000 * 8 * 4 * 5 / 4);
}
TEST_CASE("the table of one process is on the current device") {
  config::set_logical_cpu_devices(2);
  {
    const auto there = device("CPU:1");
    const ShardedEmbedding embedding(10, 2);
    CHECK(embedding.trainable_variables()[0].device() == current_device());
    CHECK(embedding(constant({1, 9})).device() == current_device());
  }
  config::set_logical_cpu_devices(1);
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
  ShardedEmbedding embedding{10, 4, {.embeddings_initializer = initializers::RandomUniform(-0.05, 0.05, 3)}};
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

}  // namespace sharded_embedding_test
