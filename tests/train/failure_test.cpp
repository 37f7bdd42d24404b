// What a training that fails leaves: gradients that are not finite, failure files, damaged checkpoints.
#include <cmath>
#include <filesystem>

#include "tandem/io/failure_file.hpp"
#include "tandem/op_table.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace train_failure_test {
using namespace training;
using testing::error_of;
using testing::TemporaryFolder;

// Its loss is finite where its gradient is not: that of a square root of 0.
struct Distance : Model<Distance> {
  layers::Dense out{1, {.use_bias = false}};
  Tensor operator()(const Tensor& x) const { return sqrt(abs(out(x))); }
};
// Batches of 4 rows; batch `bad` of 1, 2, ... is all zeros.
data::Dataset<std::array<Tensor, 2>> batches(i64 n, i64 bad) {
  random::set_seed(5);
  const Tensor zero = logical_and(range(4 * n) >= 4 * (bad - 1), range(4 * n) < 4 * bad);
  const Tensor x = where(expand_dims(zero, 1), 0.f, random::uniform({4 * n, 2}, 1, 2));
  return data::from_tensor_slices({x, ones({4 * n, 1})}).batch(4);
}
struct Training {
  Distance net;
  optimizers::SGD sgd{0.01};
  train::Trainer trainer;
  explicit Training(i64 accumulate = 1)
      : trainer((net(zeros({1, 2})), net),
                {.loss = losses::MeanSquaredError(), .optimizer = sgd, .accumulate_steps = accumulate}) {}
};
train::FitOptions checked(const std::string& directory = {}) {
  return {.callbacks = {train::TerminateOnNaN()},
          .progress = {.mode = train::ProgressMode::none},
          .directory = directory,
          .save_steps = directory.empty() ? 0 : 1};
}

TEST_CASE("a gradient that is not finite ends training before the weights change, at any step") {
  for (const i64 bad : {1, 3, 5}) {  // 5: the last one
    const TemporaryFolder folder;
    const std::string run = folder / "run";
    Training t;
    std::vector<std::vector<float>> before = weights_of(t.net);
    train::FitOptions o = checked(run);
    o.callbacks.push_back(train::LambdaCallback({.on_step_end = [&](train::Run&) { before = weights_of(t.net); }}));
    const std::string error = error_of<errors::InvalidArgumentError>([&] { t.trainer.fit(batches(5, bad), o); });
    INFO(error);
    CHECK_THAT(error, ContainsSubstring("fit: step " + std::to_string(bad) + " of epoch 1: ") &&
                          ContainsSubstring("in the gradient of Sqrt"));
    CHECK(weights_of(t.net) == before);
    CHECK(t.trainer.step() == bad - 1);

    // The folder has the state before it, from which training goes on with other data.
    Training again;
    again.trainer.fit(batches(5, 9), checked(run));
    CHECK(again.trainer.step() == 5);
    CHECK(std::isfinite(weights_of(again.net)[0][0]));
  }
  Training t;
  t.trainer.fit(batches(5, 3), {.progress = {.mode = train::ProgressMode::none}});  // without it training goes on
  CHECK(std::isnan(weights_of(t.net)[0][0]));
}

TEST_CASE("so it does where gradients of several batches are added up, of which none is kept") {
  const TemporaryFolder folder;
  Training t(2);
  const auto before = weights_of(t.net);
  CHECK_THAT(error_of([&] { t.trainer.fit(batches(4, 1), checked(folder / "run")); }),
             ContainsSubstring("fit: step 1 of epoch 1: "));
  CHECK(weights_of(t.net) == before);
  Training again(2);
  again.trainer.fit(batches(4, 9), checked(folder / "run"));
  CHECK(std::isfinite(weights_of(again.net)[0][0]));
}

TEST_CASE("in a step of one's own, the optimizer refuses the gradient") {
  Distance net;
  net(zeros({1, 2}));
  const optimizers::SGD sgd(0.01);
  train::Trainer trainer({{"net", net}, {"sgd", sgd}}, [&](const Tensor& x, const Tensor& y) -> train::Outputs {
    return {{"loss", sgd.minimize([&] { return reduce_mean(square(net(x) - y)); }, net.trainable_variables())}};
  });
  std::vector<std::vector<float>> before;
  train::FitOptions o = checked();
  o.callbacks.push_back(train::LambdaCallback({.on_step_end = [&](train::Run&) { before = weights_of(net); }}));
  const std::string error = error_of([&] { trainer.fit(batches(5, 3), o); });
  CHECK_THAT(error, ContainsSubstring("fit: step 3 of epoch 1: ") && ContainsSubstring("in the gradient of Sqrt"));
  CHECK(weights_of(net) == before);
  CHECK(sgd.iterations().item<i64>() == 2);
}

TEST_CASE("with a loss scale, steps with such gradients are left out") {
  Distance net;
  net(zeros({1, 2}));
  train::Trainer trainer(
      net, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::SGD(0.01), .loss_scale = train::LossScale()});
  trainer.fit(batches(5, 3), checked());
  CHECK(trainer.step() == 5);
  CHECK(std::isfinite(weights_of(net)[0][0]));
}

TEST_CASE("a step that raises leaves a failure file, which shows the error again") {
  const TemporaryFolder folder;
  const std::string path = folder / "step.failure";
  Training t;
  train::FitOptions o = checked();
  o.failure = {.path = path, .ops = all_ops()};
  const std::string error = error_of([&] { t.trainer.fit(batches(5, 3), o); });
  CHECK_THAT(error, ContainsSubstring("in the gradient of Sqrt"));
  const io::Failure failure = io::load_failure(path, {.ops = all_ops()});
  CHECK_THAT(failure.error, ContainsSubstring("check_numerics") && ContainsSubstring("the gradient of '"));
  CHECK(io::replay_failure(failure) == failure.error);

  // Any other error, too, also without TerminateOnNaN, and it stays what it was.
  const layers::Sequential net{layers::Embedding(10, 2), layers::Flatten(), layers::Dense(1)};
  train::Trainer words(net, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::SGD(0.01)});
  const Tensor ids = where(equal(range(12), 9), 10, range(12) % 10);
  const auto ds = data::from_tensor_slices({reshape(ids, {6, 2}), ones({6, 1})}).batch(2);
  const std::string second = folder / "words.failure";
  CHECK_THAT(
      error_of<errors::InvalidArgumentError>([&] {
        words.fit(ds, {.progress = {.mode = train::ProgressMode::none}, .failure = {.path = second, .ops = all_ops()}});
      }),
      ContainsSubstring("10"));
  CHECK(words.step() == 2);
  const io::Failure outside = io::load_failure(second, {.ops = all_ops()});
  // The file has the ops, not the layers that applied them.
  CHECK_THAT(outside.error, ContainsSubstring("Embedding: index 10 at position [0,1]") &&
                                ContainsSubstring("(in sequential/embedding)"));
  CHECK_THAT(io::replay_failure(outside), ContainsSubstring("gather: index 10 at position [0,1] of int32[2,2]"));
}

TEST_CASE(".fall_back goes on from the checkpoint before a damaged one") {
  const TemporaryFolder folder;
  const auto fit = [&](i64 epochs, bool fall_back) {
    random::set_seed(1);
    Training t;
    t.trainer.fit(batches(4, 9), {.epochs = epochs,
                                  .progress = {.mode = train::ProgressMode::none},
                                  .directory = folder / "run",
                                  .fall_back = fall_back});
    return weights_of(t.net);
  };
  fit(3, false);
  const std::string latest = train::latest_checkpoint(folder / "run/checkpoints");
  std::filesystem::resize_file(latest, std::filesystem::file_size(latest) / 2);
  CHECK_THAT(error_of<errors::DataLossError>([&] { fit(3, false); }), ContainsSubstring(latest));
  const auto again = fit(3, true);
  std::filesystem::remove_all(folder / "run");
  CHECK(again == fit(3, false));
}

}  // namespace train_failure_test
