// train::Trainer with an Embedding in a strategy's scope: row-sparse gradients stay so, with replicas, virtual shards
// and clipping.
#include <array>

#include "tandem/distribute.hpp"
#include "tests/support/catch.hpp"
#include "tests/train/problem.hpp"

namespace fit_embedding_test {

using namespace training;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;

const train::ProgressOptions quiet{.mode = train::ProgressMode::none};

// The table of an Embedding after two epochs, in which several ids of a batch are equal and some rows not in it.
std::vector<float> fitted_table(const train::TrainerOptions& trainer_options) {
  const layers::Sequential net{layers::Embedding(5, 2), layers::Flatten(), layers::Dense(1)};
  const Tensor ids = constant(std::vector<int>{0, 0, 3, 0, 1, 1, 2, 1, 1, 1, 1, 1, 2, 1, 2, 2});
  net(reshape(ids, {16, 1}));
  Variable table = net.trainable_variables()[0], kernel = net.trainable_variables()[1];
  table.assign(reshape(range(10.f), {5, 2}) / 7.f - 0.5f), kernel.assign(constant({{0.7f}, {-0.4f}}));
  train::Trainer trainer(net, trainer_options);
  const Tensor labels = reshape(range(16.f) / 5.f, {16, 1});  // fit(x, y) takes the rows of each process
  trainer.fit(reshape(ids, {16, 1}), labels, {.epochs = 2, .progress = quiet, .batch_size = 4, .shuffle = false});
  return table.to_vector<float>();
}
train::TrainerOptions by_adam(const optimizers::AdamOptions& o = {.learning_rate = 0.1}) {
  return {.loss = losses::MeanSquaredError(), .optimizer = optimizers::Adam(o)};
}
std::vector<float> fitted_table(int ranks, const distribute::StrategyOptions& strategy_options,
                                const optimizers::AdamOptions& o = {.learning_rate = 0.1}) {
  std::vector<float> r;
  SimCluster(ranks).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy(strategy_options);
    const auto scope = strategy.scope();
    const std::vector<float> table = fitted_table(by_adam(o));
    if (w.rank() == ranks - 1) r = table;
  });
  return r;
}
void check_near(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(2e-5));
}

TEST_CASE("fit: Adam changes the rows of an Embedding that a batch has, also with replicas and virtual shards") {
  const std::vector<float> alone = fitted_table(by_adam());
  CHECK(alone[8] == 8 / 7.f - 0.5f);  // a row that no batch has
  check_near(fitted_table(2, {}), alone);
  for (const int replicas : {2, 3}) {
    INFO(replicas);
    const distribute::MirroredStrategy strategy(replicas);
    const auto scope = strategy.scope();
    check_near(fitted_table(by_adam()), alone);
  }
  for (const int shards : {4, 8}) {  // of 8, half have no rows
    INFO(shards);
    const std::vector<float> divided = fitted_table(1, {.virtual_shards = shards});
    check_near(divided, alone);
    for (const int ranks : {2, 4}) CHECK(fitted_table(ranks, {.virtual_shards = shards}) == divided);
  }
}

TEST_CASE("virtual shards: equal rows of a sparse gradient are added up in the order of a tree over processes") {
  std::vector<float> tables(4);
  SimCluster(4).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy({.virtual_shards = 4});
    const auto scope = strategy.scope();
    const Variable table(zeros({2, 1}));
    const auto rank = static_cast<std::size_t>(w.rank());
    const float value = std::array{1e8f, 1.f, -1e8f, 1.f}[rank];  // 0, 2, 1, 3: not 1e8 + 1, which float32 has not
    const IndexedSlices g{constant({{value}}), constant({1}), Tensor(table)};
    optimizers::SGD(1.).apply_gradients(std::vector<Gradient>{Gradient(g)}, {table});
    tables[rank] = table.to_vector<float>()[1];
  });
  CHECK(tables == std::vector<float>(4, -2));
}

TEST_CASE("fit: clipping the gradient of an Embedding does not depend on the number of processes") {
  const double rate = 0.1;
  for (const optimizers::AdamOptions& o :
       {optimizers::AdamOptions{.learning_rate = rate, .epsilon = 1, .clipnorm = 0.05},
        optimizers::AdamOptions{.learning_rate = rate, .epsilon = 1, .clipvalue = 0.02},
        optimizers::AdamOptions{.learning_rate = rate, .epsilon = 1, .global_clipnorm = 0.1}}) {
    const std::vector<float> alone = fitted_table(by_adam(o));
    check_near(fitted_table(2, {}, o), alone);
    check_near(fitted_table(4, {}, o), alone);
    check_near(fitted_table(2, {.virtual_shards = 4}, o), alone);
  }
}

}  // namespace fit_embedding_test
