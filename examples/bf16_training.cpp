// bf16_training: a network on digits in bfloat16, which has the range of float32 but 8 bits of precision. The weights
// stay in float32: a step is often smaller than the distance of a bfloat16 to the next one, and would be lost.
// It keeps the run of each network in a folder. Stopped, even by kill -9, it goes on to the same result.
#include <fmt/core.h>
#include <chrono>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/training.hpp"

using namespace tandem;

namespace {

// A dense layer that has its weights in float32 and computes in another dtype. Gradients pass through the casts.
struct MixedDense : layers::Layer {
  MixedDense(i64 units, DType compute) : Layer("mixed_dense"), units(units), compute(compute) {}
  Tensor operator()(const Tensor& x) const {
    return run_with_weights(
        [&] {
          return Weights{{"kernel", {features_of("MixedDense", x), units}, initializers::GlorotUniform()},
                         {"bias", {units}, initializers::Zeros()}};
        },
        [&](const Tensors& w) { return matmul(cast(x, compute), cast(w[0], compute)) + cast(w[1], compute); });
  }
  i64 units;
  DType compute;
};

struct Net : Model<Net> {
  explicit Net(DType compute) : hidden(256, compute), hidden_2(128, compute), out(10, compute) {}
  Tensor operator()(const Tensor& images) const {
    const Tensor x = reshape(cast(images, float32) / 255, {-1, 28 * 28});
    return cast(out(nn::relu(hidden_2(nn::relu(hidden(x))))), float32);  // the loss is computed in float32
  }
  MixedDense hidden, hidden_2, out;
};
Tensor loss_of(const Net& net, const Tensor& images, const Tensor& labels) {
  return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(cast(labels, int32), net(images)));
}

// What a tape keeps of one batch, for its gradient.
i64 bytes_kept(const Net& net, const Tensor& images, const Tensor& labels) {
  GradientTape tape;
  const Tensor loss = loss_of(net, images, labels);
  i64 bytes = 0;
  for (const TapeMemory& m : tape.memory()) bytes += m.bytes;
  return bytes;
}
void round_to_bfloat16(const std::vector<Variable>& weights) {
  for (const Variable& w : weights) w.assign(cast(cast(w, bfloat16), float32));
}

struct Setting {
  const char *name, *suffix;  // suffix: of the run's folder
  DType compute;
  bool round_weights;  // as if they were in bfloat16, too
};

void report(const Setting& setting, const Net& net, const digits::Digits& d, double ms_a_step, i64 bytes) {
  const Tensor right = metrics::sparse_categorical_accuracy(cast(d.test.labels, int32), net(d.test.images));
  fmt::print("{:28} {:6.2f} %  {:8.5f}  {:6.2f} ms  {:6} kB\n", setting.name, 100 * reduce_mean(right).item<float>(),
             program::checked_loss(loss_of(net, d.train.images, d.train.labels).item<float>()), ms_a_step,
             bytes / 1000);
}

// Returns the exit status.
int train(const Setting& setting, const digits::Digits& d, const training::Options& o) {
  random::set_seed(o.seed);
  const Net net(setting.compute);
  const optimizers::Adam adam(0.001);
  const auto batches =
      data::from_tensor_slices({d.train.images, d.train.labels}).shuffle({.seed = o.seed}).batch(o.batch);
  const auto [first_images, first_labels] = batches.at_step(0);
  const i64 kept = bytes_kept(net, first_images, first_labels);  // makes the weights
  const std::vector<Variable> weights = net.trainable_variables();
  train::Trainer trainer({{"model", net}, {"optimizer", adam}},
                         [&](const Tensor& images, const Tensor& labels) -> train::Outputs {
                           const Tensor loss = adam.minimize([&] { return loss_of(net, images, labels); }, weights);
                           if (setting.round_weights) round_to_bfloat16(weights);
                           return {{"loss", loss}};
                         });
  train::FitOptions fit =
      training::fit_options(o, {{"program", "bf16_training"}, {"network", setting.name}, {"data", d.source}});
  fit.directory += setting.suffix;
  fit.progress.mode = train::ProgressMode::none;
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  i64 steps = 0;  // of this process
  fit.callbacks.push_back(train::LambdaCallback({.on_step_end = [&](train::Run&) {
    if (steps++ == 0) begin = Clock::now();  // behind the first one, which also traces
  }}));
  const train::History history = trainer.fit(batches, fit);
  if (history.exit_status) return training::interrupted(history, fit.directory);
  const std::chrono::duration<double, std::milli> elapsed = Clock::now() - begin;
  report(setting, net, d, elapsed.count() / static_cast<double>(std::max<i64>(steps - 1, 1)), kept);
  return 0;
}

int compare(const training::Options& o) {
  const digits::Digits d = digits::load(o.data, o.seed);
  fmt::print("{:28} {:>8}  {:>8}  {:>9}  {:>9}\n", "", "test", "loss", "step", "kept");
  for (const Setting& setting : {Setting{"float32", "_float32", float32, false},
                                 Setting{"bfloat16, float32 weights", "_bfloat16", bfloat16, false},
                                 Setting{"bfloat16, weights too", "_all_bfloat16", bfloat16, true}})
    if (const int status = train(setting, d, o)) return status;
  fmt::print(
      "test: the share of held-out digits that are right; loss: of training; kept: by a tape, for the gradient of a\n"
      "batch of {}. A CPU computes in float32 and rounds: bfloat16 saves memory here, and costs time.\n",
      o.batch);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  training::Options o{.run = "bf16_training_run", .epochs = 6, .batch = 100, .steps_per_epoch = 100};
  CLI::App app("Trains a network on digits in float32 and in bfloat16, and compares them.");
  training::add_options(app, o, "a folder with MNIST's files; default: generated digits", "digits");
  return program::run("bf16_training", app, argc, argv, o, compare);
}
