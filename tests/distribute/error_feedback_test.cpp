// What gradients lose when they travel as bfloat16, with and without error feedback. In a simulated cluster.
#include <atomic>
#include <limits>
#include <optional>

#include "tandem/autodiff/tape.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/train.hpp"
#include "tests/support/catch.hpp"

namespace feedback_test {

using namespace tandem;
using distribute::Communicator;
using distribute::Compression;
using distribute::MultiWorkerMirroredStrategy;
using distribute::SimCluster;
using distribute::StrategyOptions;

// The weight after 64 steps of SGD whose gradient, in each of 4 processes, is +-256, which changes its sign from step
// to step, and a constant 0.25: less than half of the distance of bfloat16 numbers there, which is 1 below 256 and 2
// above. Four steps add up to 1, which is sent in one of them.
float after_steps(bool feedback, bool traced) {
  float r = 0;
  SimCluster(4, {.seed = 2}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy({.compression = Compression::bfloat16, .error_feedback = feedback});
    const auto scope = strategy.scope();
    const Variable weight(zeros({3}));
    const optimizers::SGD sgd(1.0);
    const auto step = [&](const Tensor& x) {
      GradientTape tape;
      sgd.apply_gradients(tape.gradient(reduce_sum(weight * x), {weight}), {weight});
    };
    auto f = function(step);
    for (int i = 0; i < 64; ++i) {
      const Tensor x = fill({3}, i % 2 ? 0.25f - 256.f : 0.25f + 256.f);
      traced ? f(x) : step(x);
    }
    if (w.rank() == 3) r = weight.value()[1].item<float>();
  });
  return r;
}

TEST_CASE("error feedback: what bfloat16 rounds away arrives later") {
  for (const bool traced : {false, true}) {
    INFO(traced);
    CHECK(after_steps(false, traced) == 0);
    CHECK(after_steps(true, traced) == -64 * 4 * 0.25);
  }
}

TEST_CASE("error feedback: a gradient that is not finite leaves nothing behind") {
  std::atomic<int> right = 0;
  SimCluster(2).run([&](const Communicator&) {
    const MultiWorkerMirroredStrategy strategy({.compression = Compression::bfloat16, .error_feedback = true});
    const auto scope = strategy.scope();
    const Variable weight(zeros({2}));
    const optimizers::SGD sgd(1.0);
    const auto step = [&](const Tensor& x) {
      GradientTape tape;
      sgd.apply_gradients(tape.gradient(reduce_sum(weight * x), {weight}), {weight});
    };
    step(constant({std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}));
    weight.assign(zeros({2}));
    step(ones({2}));
    right += weight.to_vector<float>() == std::vector<float>{-2, -2};
  });
  CHECK(right == 2);
}

// What a Trainer of two processes has added up of gradients of 1.003 in each row, without rounding: 1.003 for each
// step.
double fitted(i64 rows, i64 batch, i64 epochs, const std::optional<train::LossScaleOptions>& scale) {
  double r = 0;
  SimCluster(2).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy({.compression = Compression::bfloat16, .error_feedback = true});
    const auto scope = strategy.scope();
    const layers::Sequential net{layers::Dense(1, {.use_bias = false})};
    const Tensor x = fill({rows, 1}, 1.003f), y = fill({rows, 1}, -1000.f);
    net(x);
    Variable kernel = net.trainable_variables()[0];
    kernel.assign(zeros({1, 1}));
    train::TrainerOptions options{.loss = losses::MeanAbsoluteError(), .optimizer = optimizers::SGD(1.)};
    if (scale) options.loss_scale.emplace(*scale);  // each process has its own
    train::Trainer trainer(net, options);
    trainer.fit(
        x, y,
        {.epochs = epochs, .progress = {.mode = train::ProgressMode::none}, .batch_size = batch, .shuffle = false});
    if (w.rank() == 1) r = -kernel.to_vector<float>()[0];
  });
  return r;
}

TEST_CASE("error feedback: a Trainer's batches of different size, and loss scales that change") {
  // 512 rows of a process lose 0.003 of each, which 2 rows make up for by 0.003 of each.
  CHECK(fitted(1024 + 4, 1024, 1, {}) == Approx(2 * 1.003).margin(0.005));
  CHECK(fitted(1024 + 4, 1024, 1, train::LossScaleOptions{.initial = 1024, .growth_steps = 1}) ==
        Approx(2 * 1.003).margin(0.005));
  CHECK(fitted(4 + 1, 4, 2, {}) == Approx(4 * 1.003).margin(0.02));  // the second process has no row of the last batch
}

TEST_CASE("error feedback: where it has no meaning it is refused") {
  CHECK_THROWS_WITH(MultiWorkerMirroredStrategy(StrategyOptions{.error_feedback = true}),
                    ContainsSubstring("MultiWorkerMirroredStrategy: .error_feedback needs .compression"));
  CHECK_THROWS_AS(MultiWorkerMirroredStrategy(StrategyOptions{
                      .compression = Compression::bfloat16, .error_feedback = true, .virtual_shards = 4}),
                  errors::InvalidArgumentError);
}

}  // namespace feedback_test
