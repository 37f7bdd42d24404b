// A step of Trainer::fit in its steady state: how often it calls operator new.
#include <algorithm>
#include <array>
#include <memory>
#include <sstream>

#include "tandem/data.hpp"
#include "tandem/tandem.hpp"
#include "tandem/train.hpp"
#include "tests/allocations/counted.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;

namespace {

// The most calls of operator new between the ends of two steps, once the first ones have filled caches and free lists.
struct Counter : train::Callback {
  long most = 0, last = 0;
  void on_step_end(train::Run& run) override {
    if (run.step_in_epoch() > 4) most = std::max(most, counted::news - last);
    last = counted::news;
  }
};
data::Dataset<std::array<Tensor, 2>> batches() {
  return data::from_tensor_slices({testing::wave({12, 8, 3}), testing::wave({12, 8, 1}, 1)});
}
train::TrainerOptions options() {
  return {.loss = losses::MeanSquaredError(),
          .optimizer = optimizers::Adam({.learning_rate = 0.01, .clipnorm = 1}),
          .metrics = {metrics::MeanAbsoluteError()}};
}
long news_of_steps(train::Trainer& trainer, train::ProgressOptions progress = {.mode = train::ProgressMode::none}) {
  const auto counter = std::make_shared<Counter>();
  trainer.fit(batches(), {.epochs = 3, .callbacks = {counter}, .progress = progress});
  return counter->most;
}
layers::Sequential network() {
  return layers::Sequential{layers::Dense(4, nn::relu), layers::Dropout(0.1), layers::Dense(1)};
}

}  // namespace

TEST_CASE("allocations: a step of fit has none") {
  train::Trainer plain(network(), options());
  CHECK(news_of_steps(plain) == 0);
  train::TrainerOptions o = options();
  o.ema = 0.9;
  o.accumulate_steps = 2;
  train::Trainer averaged(network(), o);
  CHECK(news_of_steps(averaged) == 0);
}

TEST_CASE("allocations: a step whose loss is scaled has none") {
  train::TrainerOptions o = options();
  o.loss_scale = train::LossScale();
  train::Trainer scaled(network(), o);
  CHECK(news_of_steps(scaled) == 0);
  o = options();
  o.ema = 0.9;
  o.accumulate_steps = 2;
  o.loss_scale = train::LossScale();
  train::Trainer all(network(), o);
  CHECK(news_of_steps(all) == 0);
}

TEST_CASE("allocations: a step whose progress is not due has none") {
  std::ostringstream out;
  train::Trainer trainer(network(), options());
  CHECK(news_of_steps(trainer, {.mode = train::ProgressMode::lines, .output = &out, .clock = [] { return 1e9; }}) == 0);
}

TEST_CASE("allocations: a step of one's own has at most the vector of its outputs") {
  const layers::Dense net(1);
  net.build(3);
  const optimizers::SGD sgd(0.1);
  train::Trainer trainer({{"net", net}, {"sgd", sgd}}, [&](const Tensor& x, const Tensor& y) -> train::Outputs {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(net(x) - y));
    sgd.apply_gradients(tape.gradient(loss, net.trainable_variables()), net.trainable_variables());
    return {{"loss", loss}};
  });
  CHECK(news_of_steps(trainer) <= 1);  // an optimised build may need no memory for it
}
