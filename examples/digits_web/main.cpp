// digits_web: a page where one draws a digit and sees which one a model takes it for.
//   digits_web                trains a small network on generated digits, saves it, and serves it and the page
//   digits_web --data DIR     on MNIST's four files
//   digits_web --no-train     serves the model that is there
#include <fmt/core.h>
#include <csignal>
#include <filesystem>
#include <thread>

#include <tandem/data.hpp>
#include <tandem/serving.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/program.hpp"
#include "examples/support/training.hpp"
#include "page.hpp"

using namespace tandem;

namespace {

struct Options {
  std::string data, base = "models";
  std::int64_t epochs = 6, seed = 1;
  int port = 8501;
  bool no_train = false;
};

layers::Sequential network() {
  const auto moved = [](const Tensor& images) { return is_training() ? digits::moved(images) : images; };
  layers::Sequential net{moved, layers::Reshape({28, 28, 1})};
  for (const i64 filters : {8, 16})
    net.add(layers::Conv2D(filters, 5, {.padding = Padding::same, .activation = nn::relu}))
        .add(layers::MaxPooling2D(2));
  net.add(layers::Flatten()).add(layers::Dense(64, nn::relu)).add(layers::Dropout(0.3)).add(layers::Dense(10));
  return net;
}
Tensor ink_of(const Tensor& images) { return cast(images, float32) / 255.f; }

// Trains a network and saves it as a version of the model "digits": pixels from 0 to 1 -> how likely each digit is.
int train_model(const Options& o, const std::string& directory) {
  const digits::Digits digits = digits::load(o.data, o.seed);
  const auto batches = data::from_tensor_slices({ink_of(digits.train.images), digits.train.labels})
                           .shuffle({.seed = o.seed})
                           .batch(100, {.drop_remainder = true});
  const auto held_out = data::from_tensor_slices({ink_of(digits.test.images), digits.test.labels}).batch(500);
  random::set_seed(o.seed);
  const layers::Sequential net = network();
  net.build({none, 28, 28}, float32);
  train::Trainer trainer(net, {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                               .optimizer = optimizers::Adam(2e-3),
                               .metrics = {metrics::SparseCategoricalAccuracy({.name = "accuracy"})}});
  const train::History history =
      trainer.fit(batches, {.epochs = o.epochs, .validation_data = held_out, .progress = training::progress()});
  if (history.exit_status) {
    fmt::print("interrupted\n");
    return history.exit_status;
  }
  const auto likely = function([&](const Tensor& ink) { return nn::softmax(net(ink)); });
  saved_model::save(
      directory, {{"serving_default", saved_model::predict(likely, {{"ink", {{none, 28, 28}, float32}}}, {"likely"})}},
      {.overwrite = true});
  fmt::print("{:.2f} % of {} held-out digits right; saved as {}\n", 100 * history["val_accuracy"].back(),
             digits.test.labels.shape()[0], directory);
  return 0;
}

volatile std::sig_atomic_t is_over = 0;
void end(int) { is_over = 1; }

int serve(const Options& o) {
  serving::Server server({.models = {{.name = "digits", .base_path = o.base + "/digits"}},
                          .rest_api_port = o.port,
                          .web_files = page(),
                          .drain_seconds = 0});
  server.engine().settle();
  if (!server.engine().is_ready())
    throw std::runtime_error(fmt::format("there is no model in {}/digits; without --no-train one is trained", o.base));
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, end);
  fmt::print("draw at http://127.0.0.1:{}/\n", server.rest_port());
  while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server.stop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("digits_web: serves a page where one draws a digit and sees which one a network takes it for");
  app.add_option("--data", o.data, "the folder of MNIST's four files; default: generated digits");
  app.add_option("--base", o.base, "the folder of models")->capture_default_str();
  arguments::add(app, "--epochs", o.epochs, 1, "how often to go through the data");
  arguments::add(app, "--seed", o.seed, 0, "of everything random");
  app.add_option("--port", o.port, "of the page; 0: one that is free")->capture_default_str();
  app.add_flag("--no-train", o.no_train, "serves the model that is there");
  return program::run("digits_web", app, argc, argv, [&] {
    const int status = o.no_train ? 0 : train_model(o, o.base + "/digits/1");
    return status ? status : serve(o);
  });
}
