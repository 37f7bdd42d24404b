// autoencoder: squeezes pictures of digits into a few numbers and draws what it makes of them.
//   autoencoder               generated digits, 16 numbers each
//   autoencoder --dims 2      two numbers: also draws where the digits lie in the plane
//   autoencoder --data DIR    MNIST's four files, train-images-idx3-ubyte.gz and so on
// It keeps its run in a folder; stopped, the same command goes on from it.
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/plot.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/training.hpp"

using namespace tandem;

namespace {

struct Options : training::Options {
  std::string picture = "autoencoder.svg", plane = "autoencoder_plane.svg";
  int dims = 16;
};

struct Autoencoder : Module {
  layers::Sequential encoder, decoder;

  explicit Autoencoder(i64 dims)
      : encoder{layers::Flatten(), layers::Dense(256, nn::relu), layers::Dense(64, nn::relu), layers::Dense(dims)},
        decoder{layers::Dense(64, nn::relu), layers::Dense(256, nn::relu), layers::Dense(784),
                layers::Reshape({28, 28})} {
    add_module("encoder", encoder), add_module("decoder", decoder);
  }
  /// The logits of the pixels.
  Tensor operator()(const Tensor& images) const { return decoder(encoder(images)); }
};

Tensor pixels(const Tensor& images) { return cast(images, DType::float32) / 255; }

// The mean square of the errors, as a share of the pixels' variance.
double error(const Autoencoder& net, const Tensor& images) {
  const Tensor residual = images - sigmoid(net(images)), spread = images - reduce_mean(images, 0);
  return (reduce_sum(square(residual)) / reduce_sum(square(spread))).item<float>();
}

// Three digits of each kind, and below each one what is decoded from its code.
void draw_reconstructions(const std::string& path, const Tensor& images, const Tensor& decoded, const Tensor& labels) {
  constexpr std::size_t rows = 3, kinds = 10;
  std::vector<plot::Image> cells(2 * rows * kinds);
  const std::vector<std::uint8_t> digit = labels.to_vector<std::uint8_t>();
  std::size_t drawn[kinds] = {};
  for (std::size_t i = 0; i < digit.size(); ++i) {
    const std::size_t column = digit[i], row = drawn[column]++;
    if (row >= rows) continue;
    cells[2 * row * kinds + column].gray = images[i64(i)];
    cells[(2 * row + 1) * kinds + column].gray = decoded[i64(i)];
  }
  for (plot::Image& cell : cells)  // fewer than three of a kind
    if (!cell.gray.is_set()) cell.gray = zeros({28, 28});
  const std::vector<std::string> names{"held out", "decoded", "held out", "decoded", "held out", "decoded"};
  plot::images(cells, {.title = "Held-out digits, and below each one what is decoded from its code",
                       .columns = kinds,
                       .row_names = names,
                       .gap = 4,
                       .zero_is_white = true,
                       .width = 680})
      .save(path);
}

// Left, where the encoder puts the digits in the plane; right, what the decoder makes of its points. Both axes are
// stretched so that as many digits are in one strip of the picture as in any other: a digit lies at its rank.
void draw_plane(const std::string& path, const Autoencoder& net, const Tensor& images, const Tensor& labels) {
  constexpr i64 grid = 20;
  const Tensor codes = net.encoder(images), sorted = sort(codes, {.axis = 0});
  const i64 n = codes.shape()[0];
  const Tensor place = (cast(argsort(argsort(codes, 0), 0), DType::float32) + 0.5) / n;
  const plot::Figure encoder = plot::scatter(place(Ellipsis, 0), place(Ellipsis, 1),
                                             {.title = "The encoder: the codes of held-out digits",
                                              .classes = labels,
                                              .axes = false,
                                              .width = 640,
                                              .height = 680});
  // The codes at the middles of the strips, the second number falling from row to row.
  const Tensor at = gather(sorted, floordiv((2 * range(grid) + 1) * n, 2 * grid));
  const Tensor x = tile(at(Ellipsis, 0), {grid}), y = repeat(reverse(at(Ellipsis, 1), 0), grid);
  const plot::Figure decoder = plot::images(sigmoid(net.decoder(stack({x, y}, 1))), {},
                                            {.title = "The decoder: the digits that it draws at these places",
                                             .columns = int(grid),
                                             .gap = 0,
                                             .zero_is_white = true,
                                             .width = 640});
  plot::beside({encoder, decoder},
               {.title = "Digits as points of a plane, by an autoencoder with a code of two numbers",
                .description = "Across the first number of the code, upwards the second; both axes are stretched so "
                               "that the digits are spread evenly.",
                .width = 1280})
      .save(path);
}

int learn(const Options& o) {
  const digits::Digits digits = digits::load(o.data, o.seed);
  const Tensor held_out = pixels(digits.test.images);
  const auto batches = data::from_tensor_slices(digits.train.images)
                           .shuffle({.seed = o.seed})
                           .batch(o.batch, {.drop_remainder = true})
                           .map([](const Tensor& images) { return std::pair(pixels(images), pixels(images)); });

  random::set_seed(o.seed);  // of the initial weights
  const Autoencoder net(o.dims);
  net(zeros({1, 28, 28}));  // makes the weights
  fmt::print("{}\n", net.summary());

  train::Trainer trainer(
      net, {.loss = losses::BinaryCrossentropy({.from_logits = true}), .optimizer = optimizers::Adam(2e-3)});
  const auto measure = [&](train::Run& run) { run.set_value("error", error(net, held_out)); };
  const train::History history = trainer.fit(
      batches,
      training::fit_options(o, {{"program", "autoencoder"}, {"data", digits.source}, {"dims", std::to_string(o.dims)}},
                            {.callbacks = {train::LambdaCallback({.on_epoch_end = measure})}}));
  if (history.exit_status) return training::interrupted(history, o.run);
  draw_reconstructions(o.picture, held_out, sigmoid(net(held_out)), digits.test.labels);
  if (o.dims == 2) draw_plane(o.plane, net, held_out, digits.test.labels);
  fmt::print("784 pixels in {} numbers: error {:.1f} % of the variance; drawn in {}{}\n", o.dims,
             100 * history["error"].back(), o.picture, o.dims == 2 ? " and " + o.plane : "");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.run = "autoencoder_run", o.epochs = 60, o.batch = 100;
  CLI::App app("Squeezes pictures of digits into a few numbers and draws what it makes of them.");
  training::add_options(app, o, "the folder of MNIST's four files; default: generated digits", "digits");
  arguments::add(app, "--dims", o.dims, 1, "numbers per picture; 2: also draw the plane");
  app.add_option("--picture", o.picture, "file of the reconstructions")->capture_default_str();
  app.add_option("--plane", o.plane, "file of the plane")->capture_default_str();
  return program::run("autoencoder", app, argc, argv, o, learn);
}
