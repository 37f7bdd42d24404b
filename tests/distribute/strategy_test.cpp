// MultiWorkerMirroredStrategy in a simulated cluster: steps of one's own, row-sparse gradients, parts of batches.
#include "tandem/distribute/strategy.hpp"

#include <atomic>
#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/data/dataset_files.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/dense.hpp"
#include "tandem/layers/normalization.hpp"
#include "tandem/nn.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace strategy_test {

using namespace tandem;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::ReduceOp;
using distribute::SimCluster;
using Floats = std::vector<float>;

TEST_CASE("trainable Variables made in the scope have rank 0's value, and reset() restores it") {
  std::atomic<int> right = 0;
  SimCluster(4).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const Variable outside(static_cast<float>(w.rank()));
    const auto scope = strategy.scope();
    if (w.rank() == 1) const Variable alone(1.f, {.trainable = false});
    const Variable inside(static_cast<float>(w.rank()) + 7);
    inside.assign(3.f);
    inside.reset();
    right += outside.item<float>() == static_cast<float>(w.rank()) && inside.item<float>() == 7;
  });
  CHECK(right == 4);
}

// The weights after 5 steps of gradient descent with the rows of `ranks` processes.
Floats weights_after(int ranks, bool traced, distribute::StrategyOptions options = {}) {
  Floats r;
  SimCluster(ranks, {.seed = 5}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy(options);
    const auto scope = strategy.scope();
    const Variable a(constant({{0.5f, -1.f}, {2.f, 1.f}, {0.25f, 0.f}})), b(constant({0.f, 0.f}));
    const optimizers::Adam adam({.learning_rate = 0.1, .global_clipnorm = 0.5});
    const auto step = [&](const Tensor& x, const Tensor& y) {
      GradientTape tape;
      const Tensor error = reduce_sum(square(matmul(tanh(x), a) + b - y), 1);
      const Tensor loss = nn::compute_average_loss(error, {.global_batch_size = 12});
      adam.apply_gradients(tape.gradient(loss, {a, b}), {a, b});
      return loss;
    };
    auto f = function(step);
    const Tensor x = reshape(range(36.f) / 10.f, {12, 3}), y = reshape(range(24.f), {12, 2});
    const i64 rows = 12 / ranks;
    const Tensor own_x = x(Slice(w.rank() * rows, (w.rank() + 1) * rows)),
                 own_y = y(Slice(w.rank() * rows, (w.rank() + 1) * rows));
    for (int i = 0; i < 5; ++i) traced ? f(own_x, own_y) : step(own_x, own_y);
    if (w.rank() == ranks - 1) r = concat({reshape(Tensor(a), {-1}), Tensor(b)}, 0).to_vector<float>();
  });
  return r;
}

TEST_CASE("apply_gradients adds up: weights after steps do not depend on the number of processes") {
  const Floats one = weights_after(1, false);
  for (const int ranks : {1, 2, 3, 4, 6})
    for (const bool traced : {false, true}) {
      INFO(ranks << (traced ? " traced" : ""));
      const Floats several = weights_after(ranks, traced);
      REQUIRE(several.size() == one.size());
      for (std::size_t i = 0; i < one.size(); ++i) CHECK(several[i] == Approx(one[i]).margin(1e-5));
    }
}

TEST_CASE("buckets of any size give the same bits; bfloat16 is near") {
  const Floats whole = weights_after(3, true);
  CHECK(weights_after(3, true, {.bucket_bytes = 1, .first_bucket_bytes = 1}) == whole);
  CHECK(weights_after(3, true, {.bucket_bytes = 20, .first_bucket_bytes = 8}) == whole);
  const Floats narrow = weights_after(3, true, {.compression = distribute::Compression::bfloat16});
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(narrow[i] == Approx(whole[i]).margin(0.05));
  CHECK(narrow != whole);
}

TEST_CASE("row-sparse gradients stay sparse, and their rows are exchanged") {
  for (const bool traced : {false, true}) {
    INFO(traced);
    std::atomic<int> right = 0;
    SimCluster(3).run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy;
      const auto scope = strategy.scope();
      const Variable table(zeros({6, 2}));
      const optimizers::SGD sgd(1.0);
      const auto step = [&](const Tensor& ids) {
        GradientTape tape;
        const Tensor loss = reduce_sum(nn::embedding_lookup(table, ids));
        const auto g = tape.gradient(loss, std::vector<Variable>{table});
        if (!g[0].is_sparse()) errors::raise<errors::InternalError>("test", "the gradient is dense");
        sgd.apply_gradients(g, {table});
      };
      auto f = function(step);
      const i64 r = w.rank();
      const auto ids = constant(std::vector<i64>{r, 5, 5});
      traced ? f(ids) : step(ids);
      right += table.to_vector<float>() == Floats{-1, -1, -1, -1, -1, -1, 0, 0, 0, 0, -6, -6};
    });
    CHECK(right == 3);
  }
}

TEST_CASE("a function has a trace for each strategy, and one without") {
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy, other(w.split(w.rank()));
    const Variable x(1.f);
    const optimizers::SGD sgd(1.0);
    auto f = function([&] { sgd.minimize([&] { return x * 1.f; }, {x}); });
    f();
    right += x.item<float>() == 0;
    strategy.run([&] { f(); });
    right += x.item<float>() == -2;
    other.run([&] { f(); });
    right += x.item<float>() == -3;
    f();
    right += x.item<float>() == -4;
  });
  CHECK(right == 8);
}

TEST_CASE("two optimizers, one of them in a branch: each has its own gradients") {
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator&) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Variable a(zeros({3})), b(zeros({70}));
    const optimizers::SGD first(1.0), second(1.0);
    auto f = function([&](const Tensor& x) {
      GradientTape tape({.persistent = true});
      const Tensor loss = reduce_sum(a * x[0]) + reduce_sum(b * x[1]);
      const auto ga = tape.gradient(loss, std::vector<Variable>{a}), gb = tape.gradient(loss, std::vector<Variable>{b});
      cond(
          x[0] > 0.f, [&] { first.apply_gradients(ga, {a}); }, [] {});
      second.apply_gradients(gb, {b});
    });
    for (int i = 0; i < 3; ++i) f(constant({1.f, 5.f}));
    right += reduce_all(equal(a, -6.f)).item<bool>() && reduce_all(equal(b, -30.f)).item<bool>();
  });
  CHECK(right == 2);
}

TEST_CASE("gradients that are unset stay so") {
  SimCluster(2).run([&](const Communicator&) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Variable used(1.f), unused(1.f);
    optimizers::SGD(1.0).minimize([&] { return used * 2.f; }, {used, unused});
    if (used.item<float>() != -3 || unused.item<float>() != 1) errors::raise<errors::InternalError>("test", "wrong");
  });
}

TEST_CASE("reduce and gather, along an axis in which processes differ") {
  std::atomic<int> right = 0;
  SimCluster(3).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const float r = static_cast<float>(w.rank());
    const Tensor x = fill({w.rank() + 1, 2}, r);  // 0; 1, 1; 2, 2, 2
    right += strategy.reduce(ReduceOp::sum, x, 0).to_vector<float>() == Floats{8, 8};
    right += strategy.reduce(ReduceOp::mean, x, 0).to_vector<float>() == Floats{8.f / 6, 8.f / 6};
    right += strategy.reduce(ReduceOp::mean, constant(r)).item<float>() == 1;
    right += strategy.gather(x).shape() == Shape{6, 2};
    right += strategy.gather(transpose(x), 1).to_vector<float>() == Floats{0, 1, 1, 2, 2, 2, 0, 1, 1, 2, 2, 2};
    right += strategy.num_replicas_in_sync() == 3;
  });
  CHECK(right == 18);
}

TEST_CASE("distribute_dataset: each process has its rows of every batch, some none of the last") {
  std::vector<std::vector<std::vector<i64>>> rows(4);
  SimCluster(4).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const Tensor x = range(i64{14}), y = range(i64{100}, i64{114});
    for (const auto& [a, b] : strategy.distribute_dataset(data::from_tensor_slices(std::pair(x, y)).batch(6))) {
      if (reduce_all(equal(a + i64{100}, b)).item<bool>())
        rows[static_cast<std::size_t>(w.rank())].push_back(a.to_vector<i64>());
    }
  });
  CHECK(rows[0] == std::vector<std::vector<i64>>{{0, 4}, {6, 10}, {12}});
  CHECK(rows[1] == std::vector<std::vector<i64>>{{1, 5}, {7, 11}, {13}});
  CHECK(rows[2] == std::vector<std::vector<i64>>{{2}, {8}, {}});
  CHECK(rows[3] == std::vector<std::vector<i64>>{{3}, {9}, {}});
}

TEST_CASE("distribute_dataset with AutoShard::off: each process has all rows of every batch") {
  std::atomic<int> right = 0;
  SimCluster(3).run([&](const Communicator&) {
    const MultiWorkerMirroredStrategy strategy;
    const auto batches = data::range(14).batch(6);
    std::vector<std::vector<i64>> rows;
    for (const Tensor& b : strategy.distribute_dataset(batches, {.auto_shard = distribute::AutoShard::off}))
      rows.push_back(b.to_vector<i64>());
    right += rows == std::vector<std::vector<i64>>{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}, {12, 13}};
    rows.clear();
    for (const Tensor& b : strategy.distribute_dataset(batches, {.auto_shard = distribute::AutoShard::data}))
      rows.push_back(b.to_vector<i64>());
    std::vector<std::vector<i64>> by_default;
    for (const Tensor& b : strategy.distribute_dataset(batches)) by_default.push_back(b.to_vector<i64>());
    right += rows == by_default && rows[0].size() == 2;
  });
  CHECK(right == 6);
}

TEST_CASE("distribute_datasets_from_function: each process reads its own files") {
  const testing::TemporaryFolder folder;
  for (const std::string file : {"0", "1", "2", "3", "4"}) folder.file("lines-" + file, file + "a\n" + file + "b\n");
  std::vector<std::vector<std::string>> lines(2);
  SimCluster(2).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto own = strategy.distribute_datasets_from_function([&](const distribute::InputContext& c) {
      return data::list_files(folder / "lines-*")
          .shard(c.num_input_pipelines, c.input_pipeline_id)
          .interleave([](const std::string& path) { return data::TextLineDataset(path); }, {.cycle_length = 1});
    });
    lines[static_cast<std::size_t>(w.rank())] = own.to_vector();
  });
  CHECK(lines[0] == std::vector<std::string>{"0a", "0b", "2a", "2b", "4a", "4b"});
  CHECK(lines[1] == std::vector<std::string>{"1a", "1b", "3a", "3b"});
}

TEST_CASE("broadcast gives a module's Variables rank 0's values") {
  std::atomic<int> right = 0;
  SimCluster(3).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    layers::Dense dense(2);
    dense(ones({1, 2}) * static_cast<float>(w.rank()));
    for (const Variable& v : dense.variables()) v.assign(v.value() * 0.f + static_cast<float>(w.rank() + 4));
    strategy.broadcast(dense);
    for (const Variable& v : dense.variables()) right += reduce_all(equal(v, 4.f)).item<bool>();
  });
  CHECK(right == 6);
}

TEST_CASE("synchronized batch normalization: as one process with all rows, also where one has none") {
  const Tensor all = reshape(range(36.f), {12, 3}) * constant({1.f, -2.f, 0.5f});
  struct Step {
    Floats y, gradient, mean, variance;
  };
  const auto step = [&](const Tensor& x, i64 rows) {
    layers::BatchNormalization norm({.momentum = 0.5, .synchronized = true});
    norm(zeros({1, 3}));
    const training_scope training(true);
    const Variable w(ones({3}));
    GradientTape tape;
    const Tensor y = norm(x * w), loss = reduce_sum(square(y) * y) / static_cast<double>(rows);
    const Tensor g = distribute::all_reduce(tape.gradient(loss, w));
    return Step{y.to_vector<float>(), g.to_vector<float>(), norm.variables()[2].to_vector<float>(),
                norm.variables()[3].to_vector<float>()};
  };
  const Step whole = step(all, 12);
  const auto near = [](const Floats& a, const Floats& b) {
    bool r = a.size() == b.size();
    for (std::size_t i = 0; r && i < a.size(); ++i) r = std::abs(a[i] - b[i]) < 1e-4f + 1e-3f * std::abs(b[i]);
    return r;
  };
  std::atomic<int> right = 0;
  SimCluster(3).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const i64 begin = w.rank() == 0 ? 0 : w.rank() == 1 ? 5 : 12, end = w.rank() == 0 ? 5 : 12;
    const Step part = step(all(Slice(begin, end)), 12);
    right += near(part.y, Floats(whole.y.begin() + begin * 3, whole.y.begin() + end * 3));
    right += near(part.gradient, whole.gradient);
    right += near(part.mean, whole.mean) && near(part.variance, whole.variance);
  });
  CHECK(right == 9);
}

TEST_CASE("synchronized batch normalization: a batch that is empty in all processes leaves the averages") {
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator&) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const layers::BatchNormalization norm({.synchronized = true});
    norm(zeros({0, 3}), {.training = true});
    right += norm.variables()[2].value().to_vector<float>() == Floats{0, 0, 0};
    right += norm.variables()[3].value().to_vector<float>() == Floats{1, 1, 1};
  });
  CHECK(right == 4);
}

TEST_CASE("compute_average_loss and scale_regularization_loss") {
  CHECK(nn::compute_average_loss(constant({1.f, 2.f, 6.f})).item<float>() == 3);
  CHECK(nn::compute_average_loss(constant({1.f, 2.f}), {.sample_weight = constant({2.f, 1.f}), .global_batch_size = 8})
            .item<float>() == 0.5);
  CHECK(nn::scale_regularization_loss(constant(6.f)).item<float>() == 6);
  CHECK_THROWS_WITH(nn::compute_average_loss(constant(1.f)), ContainsSubstring("not a scalar"));
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator&) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    right += nn::compute_average_loss(constant({1.f, 2.f, 6.f})).item<float>() == 1.5;
    right += nn::scale_regularization_loss(constant(6.f)).item<float>() == 3;
  });
  CHECK(right == 4);
}

TEST_CASE("MultiWorkerMirroredStrategy: wrong options") {
  CHECK_THROWS_AS(MultiWorkerMirroredStrategy(distribute::StrategyOptions{.bucket_bytes = 0}),
                  errors::InvalidArgumentError);
  CHECK_THROWS_WITH((distribute::InputContext{3, 0, 3}.get_per_replica_batch_size(10)),
                    ContainsSubstring("3 replicas do not divide a global batch of 10"));
}

}  // namespace strategy_test
