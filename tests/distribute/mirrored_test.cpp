// MirroredStrategy: run, reduce and gather against the whole batch, eager, traced and with uneven rows; train::Trainer
// on replicas; what raises.
#include "tandem/distribute/mirrored.hpp"

#include <string>

#include "tandem/core/scope.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/train/problem.hpp"

namespace mirrored_test {

using namespace training;
using distribute::MirroredStrategy;
using distribute::ReduceOp;
using Floats = std::vector<float>;

TEST_CASE("run calls f once for each replica, with its rows; reduce and gather put the results together") {
  const MirroredStrategy strategy(3);
  CHECK(strategy.num_replicas_in_sync() == 3);
  const Tensor x = reshape(range(14.f), {7, 2});
  std::vector<i64> sizes;
  const auto rows = strategy.run([&](const Tensor& part) { return sizes.push_back(part.shape()[0]), part; }, x);
  CHECK(sizes == std::vector<i64>{3, 2, 2});
  CHECK(strategy.gather(rows).to_vector<float>() == x.to_vector<float>());
  CHECK(strategy.reduce(ReduceOp::sum, rows, 0).to_vector<float>() == Floats{42, 49});
  CHECK(strategy.reduce(ReduceOp::mean, rows, 0).to_vector<float>() == Floats{6, 7});
  const auto largest = strategy.run([](const Tensor& part) { return reduce_max(part); }, x);
  CHECK(strategy.reduce(ReduceOp::sum, largest).item<float>() == 5 + 9 + 13);
  CHECK(strategy.reduce(ReduceOp::mean, largest).item<float>() == 9);
  CHECK(strategy.reduce(ReduceOp::min, largest).item<float>() == 5);
  CHECK(strategy.reduce(ReduceOp::max, largest).item<float>() == 13);
  CHECK(strategy.reduce(ReduceOp::prod, largest).item<float>() == 5 * 9 * 13);
  int calls = 0;
  strategy.run([&](const Tensor&, int more) { calls += more; }, x, 2);
  CHECK(calls == 6);
  CHECK(strategy.run([](const Tensor& part) { return part; }, x(Slice(0, 2))).size() == 2);  // a row each
}

TEST_CASE("a mean of half precision whose sum it does not have") {
  const MirroredStrategy strategy(2);
  const Tensor x = cast(constant({60000.f, 50000.f, 60000.f, 50000.f}), float16);
  const auto largest = strategy.run([](const Tensor& part) { return reduce_max(part); }, x);
  const Tensor mean = strategy.reduce(ReduceOp::mean, largest);
  CHECK(mean.dtype() == float16);
  CHECK(cast(mean, float32).item<float>() == 60000);
  const auto rows = strategy.run([](const Tensor& part) { return part; }, x);
  const Tensor of_all = strategy.reduce(ReduceOp::mean, rows, 0);
  CHECK(of_all.dtype() == float16);
  CHECK(cast(of_all, float32).item<float>() == Approx(55000).epsilon(1e-3));
}

TEST_CASE("with fewer rows than replicas, means are over the replicas that are called") {
  const MirroredStrategy strategy(3);
  const auto mean = [](const Tensor& part) { return nn::compute_average_loss(reduce_sum(part, 1)); };
  const Tensor x = constant({{1.f, 2.f}, {5.f, 8.f}});
  CHECK(strategy.reduce(ReduceOp::sum, strategy.run(mean, x)).item<float>() == 8);
}
TEST_CASE("a traced function in run is traced once for each replica") {
  const MirroredStrategy strategy(2);
  int traces = 0;
  const auto f = function([&](const Tensor& part) { return ++traces, reduce_sum(part); });
  for (int i = 0; i < 4; ++i) CHECK(strategy.reduce(ReduceOp::sum, strategy.run(f, ones({4, 2}))).item<float>() == 8);
  CHECK(traces == 2);
}

// The weights after 5 steps of Adam.
Floats weights_after(const MirroredStrategy& strategy, bool traced) {
  const auto scope = strategy.scope();
  const Variable a(constant({{0.5f, -1.f}, {2.f, 1.f}, {0.25f, 0.f}})), b(constant({0.f, 0.f}));
  const optimizers::Adam adam({.learning_rate = 0.1, .global_clipnorm = 0.5});
  const std::vector<Variable> weights{a, b};
  const auto gradients = [&](const Tensor& x, const Tensor& y) {
    GradientTape tape;
    const Tensor error = reduce_sum(square(matmul(tanh(x), a) + b - y), 1);
    return tape.gradient(nn::compute_average_loss(error, {.global_batch_size = 12}), weights);
  };
  const auto step = [&](const Tensor& x, const Tensor& y) {
    adam.apply_gradients(strategy.reduce(ReduceOp::sum, strategy.run(gradients, x, y)), weights);
  };
  const auto f = function(step);
  const Tensor x = reshape(range(36.f) / 10.f, {12, 3}), y = reshape(range(24.f), {12, 2});
  for (int i = 0; i < 5; ++i) traced ? f(x, y) : step(x, y);
  return concat({reshape(Tensor(a), {-1}), Tensor(b)}, 0).to_vector<float>();
}
TEST_CASE("weights after steps of one's own do not depend on the number of replicas") {
  const Floats one = weights_after(MirroredStrategy(1), false);
  for (const int replicas : {1, 2, 3, 5})
    for (const bool traced : {false, true}) {
      INFO(replicas << (traced ? " traced" : ""));
      const Floats several = weights_after(MirroredStrategy(replicas), traced);
      REQUIRE(several.size() == one.size());
      for (std::size_t i = 0; i < one.size(); ++i) CHECK(several[i] == Approx(one[i]).margin(1e-5));
    }
}
TEST_CASE("a penalty, and losses without a batch size, are divided by the replicas, as their sums count") {
  const MirroredStrategy strategy({"CPU:0", "CPU:0"});
  const auto scope = strategy.scope();
  const Tensor x = constant({1.f, 2.f, 3.f, 6.f});
  const auto mean = strategy.run([](const Tensor& part) { return nn::compute_average_loss(part); }, x);
  CHECK(strategy.reduce(ReduceOp::sum, mean).item<float>() == 3);
  const auto penalty = strategy.run([](const Tensor&) { return nn::scale_regularization_loss(constant(5.f)); }, x);
  CHECK(strategy.reduce(ReduceOp::sum, penalty).item<float>() == 5);
}

std::vector<Floats> fitted(const MirroredStrategy* strategy, i64 batch) {
  const layers::Sequential net = network(1, 0);
  const auto fit = [&] {
    train::Trainer trainer(net, options());
    trainer.fit(Points(50).shuffled(batch), {.epochs = 3, .progress = {.mode = train::ProgressMode::none}});
  };
  if (!strategy) fit();
  else {
    const auto scope = strategy->scope();
    fit();
  }
  return weights_of(net);
}
TEST_CASE("train::Trainer divides batches among the replicas, also those that they do not divide") {
  const std::vector<Floats> alone = fitted(nullptr, 16);  // 50 rows: the last batch has 2
  config::set_logical_cpu_devices(2);
  for (const MirroredStrategy& strategy : {MirroredStrategy(1), MirroredStrategy(2), MirroredStrategy(3),
                                           MirroredStrategy(), MirroredStrategy({"CPU:1"})}) {
    INFO(strategy.num_replicas_in_sync());
    const std::vector<Floats> several = fitted(&strategy, 16);
    for (std::size_t i = 0; i < alone.size(); ++i)
      for (std::size_t k = 0; k < alone[i].size(); ++k) CHECK(several[i][k] == Approx(alone[i][k]).margin(2e-5));
  }
  CHECK(MirroredStrategy().num_replicas_in_sync() == 2);
  config::set_logical_cpu_devices(1);
}
TEST_CASE("replicas on devices: values come back to the first one") {
  config::set_logical_cpu_devices(2);
  const MirroredStrategy strategy({"CPU:0", "CPU:1"});
  const auto where = strategy.run([](const Tensor& part) { return part; }, ones({4, 2}));
  CHECK(where[1].device() == device_named("CPU:1"));
  CHECK(strategy.reduce(ReduceOp::sum, where).device() == device_named("CPU:0"));
  CHECK(strategy.gather(where, 1).shape() == Shape{2, 4});
  config::set_logical_cpu_devices(1);
}

TEST_CASE("synchronized batch normalization of a batch that is not divided, in the scope of a strategy that could") {
  const Tensor x = reshape(range(12.f), {4, 3});
  const layers::BatchNormalization alone({.momentum = 0.5});
  const Floats expected = alone(x, {.training = true}).to_vector<float>();
  const auto check = [&](const auto& strategy) {
    const layers::BatchNormalization norm({.momentum = 0.5, .synchronized = true});
    const auto traced = function([&](const Tensor& t) { return norm(t, {.training = true}); });
    const auto scope = strategy.scope();
    CHECK(norm(x, {.training = true}).to_vector<float>() == expected);
    CHECK(traced(x).template to_vector<float>() == expected);
    const layers::Sequential net{norm, layers::Dense(1)};
    const optimizers::SGD sgd(0.1);
    train::Trainer trainer({{"net", net}, {"sgd", sgd}}, [&](const Tensor& rows, const Tensor& y) {
      GradientTape tape;
      const Tensor loss = reduce_mean(square(net(rows) - y));
      const std::vector<Variable> weights = net.trainable_variables();
      sgd.apply_gradients(tape.gradient(loss, weights), weights);
      return train::Outputs{{"loss", loss}};
    });
    trainer.fit(data::from_tensor_slices({x, ones({4, 1})}).batch(4),
                {.progress = {.mode = train::ProgressMode::none}});
  };
  check(MirroredStrategy(2));
  check(distribute::MultiWorkerMirroredStrategy({.virtual_shards = 4}));
  CHECK(alone.variables()[2].value().to_vector<float>() == Floats{2.25f, 2.75f, 3.25f});
}

TEST_CASE("what a MirroredStrategy cannot do raises") {
  const MirroredStrategy strategy(2);
  const auto scope = strategy.scope();
  const Variable w(1.f);
  const optimizers::SGD sgd(0.1);
  const Tensor x = ones({4, 2});
  CHECK_THROWS_WITH(strategy.run([&](const Tensor&) { sgd.apply_gradients({constant(1.f)}, {w}); }, x),
                    ContainsSubstring("replica 0 of 2") && ContainsSubstring("return them from run()"));
  CHECK(w.item<float>() == 1);
  sgd.apply_gradients({constant(1.f)}, {w});
  CHECK(w.item<float>() == Approx(0.9f));
  const layers::BatchNormalization norm({.synchronized = true});
  CHECK_THROWS_WITH(strategy.run([&](const Tensor& part) { return norm(part, {.training = true}); }, x),
                    ContainsSubstring(".synchronized needs MultiWorkerMirroredStrategy"));
  const layers::Sequential net{norm, layers::Dense(1)};
  train::Trainer trainer(net, {.loss = losses::MeanSquaredError(), .optimizer = sgd});
  const auto fit = [&] { trainer.fit(x, ones({4, 1}), {.progress = {.mode = train::ProgressMode::none}}); };
  CHECK_THROWS_WITH(fit(), ContainsSubstring(".synchronized needs the moments of all rows of a batch") &&
                               ContainsSubstring("2 parts for 1 process"));
  const auto sizes = strategy.run([](const Tensor& part) { return part; }, ones({3, 2}));
  CHECK_THROWS_WITH(strategy.reduce(ReduceOp::sum, sizes), ContainsSubstring("differ in shape: float32[2,2] and"));
  CHECK_THROWS_WITH(strategy.reduce(ReduceOp::max, sizes, 0), ContainsSubstring("the op is sum or mean"));
  CHECK_THROWS_WITH(strategy.reduce(ReduceOp::sum, std::vector<Tensor>()), ContainsSubstring("there are no values"));
  CHECK_THROWS_WITH(strategy.run([](const Tensor& part) { return part; }, constant(1.f)),
                    ContainsSubstring("is a scalar, which has no rows"));
  CHECK_THROWS_AS(MirroredStrategy(0), errors::InvalidArgumentError);
}

}  // namespace mirrored_test
