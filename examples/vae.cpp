// vae: a variational autoencoder learns how likely pictures of digits are, and draws new ones.
//   vae                       generated digits
//   vae --data DIR            MNIST's four files, train-images-idx3-ubyte.gz and so on
// It maximizes the evidence lower bound of the log-likelihood of black and white pictures (Kingma and Welling 2013,
// "Auto-Encoding Variational Bayes"). It keeps its run in a folder; stopped, the same command goes on from it.
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
  std::string picture = "vae.svg";
  i64 dims = 16;
};

Tensor black_and_white(const Tensor& images) { return cast(images > 127, DType::float32); }

struct Vae : Module {
  layers::Sequential encoder, decoder;

  explicit Vae(i64 dims)
      : encoder{layers::Flatten(), layers::Dense(256, nn::relu), layers::Dense(2 * dims)},
        decoder{layers::Dense(256, nn::relu), layers::Dense(784), layers::Reshape({28, 28})} {
    add_module("encoder", encoder), add_module("decoder", decoder);
    encoder.build({none, 28, 28}), decoder.build({none, dims});
  }
  /// Mean and logarithm of the variance of the codes of pictures [n, 28, 28]: two of [n, dims].
  std::vector<Tensor> codes(const Tensor& images) const { return split(encoder(images), 2, -1); }
};

// The two parts of the negative bound, in nats a picture: what is lost of it, and what its code says beyond a code that
// is drawn from a standard normal distribution.
std::pair<Tensor, Tensor> parts_of_bound(const Vae& vae, const Tensor& images) {
  const std::vector<Tensor> code = vae.codes(images);
  const Tensor &mean = code[0], &log_variance = code[1];
  const Tensor z = mean + exp(log_variance / 2) * random::normal(mean.shape());
  const Tensor lost = reduce_sum(nn::sigmoid_cross_entropy_with_logits(images, vae.decoder(z)), {1, 2});
  const Tensor said = 0.5 * reduce_sum(square(mean) + exp(log_variance) - 1 - log_variance, 1);
  return {reduce_mean(lost), reduce_mean(said)};
}

// Left, digits that are drawn from random codes; right, rows of digits of which the first and the last are held out,
// and those between are decoded from the codes between theirs.
void draw(const std::string& path, const Vae& vae, const Tensor& held_out, i64 dims, i64 seed) {
  constexpr i64 rows = 10, columns = 10;
  const random::Generator generator(seed);
  const plot::ImagesOptions look{.columns = columns, .gap = 0, .zero_is_white = true, .width = 600};
  plot::ImagesOptions left = look, right = look;
  left.title = "New digits, from random codes";
  right.title = "From one held-out digit to another";
  const Tensor codes = vae.codes(held_out(Slice(0, 2 * rows)))[0];
  const Tensor first = expand_dims(codes(Slice(0, rows)), 1), last = expand_dims(codes(Slice(rows, none)), 1);
  const Tensor share = reshape(cast(range(columns), DType::float32) / (columns - 1), {1, columns, 1});
  const Tensor between = reshape(first * (1 - share) + last * share, {-1, dims});
  plot::beside({plot::images(sigmoid(vae.decoder(generator.normal({rows * columns, dims}))), {}, left),
                plot::images(sigmoid(vae.decoder(between)), {}, right)},
               {.title = "Digits of a variational autoencoder", .width = 1200})
      .save(path);
}

int learn(const Options& o) {
  const digits::Digits digits = digits::load(o.data, o.seed);
  const Tensor held_out = black_and_white(digits.test.images);
  const auto batches = data::from_tensor_slices(black_and_white(digits.train.images))
                           .shuffle({.seed = o.seed})
                           .batch(o.batch, {.drop_remainder = true});
  random::set_seed(o.seed);  // of the initial weights and of the codes in training
  const Vae vae(o.dims);
  fmt::print("{}\n", vae.summary());

  const optimizers::Adam adam(1e-3);
  train::Trainer trainer({{"model", vae}, {"adam", adam}}, [&](const Tensor& images) -> train::Outputs {
    GradientTape tape;
    const auto [lost, said] = parts_of_bound(vae, images);
    const Tensor loss = lost + said;
    adam.apply_gradients(tape.gradient(loss, vae.trainable_variables()), vae.trainable_variables());
    return {{"loss", loss}, {"lost", lost}, {"said", said}};
  });
  const auto measure = [&](train::Run& run) {
    const auto [lost, said] = parts_of_bound(vae, held_out);
    run.set_value("val_loss", lost.item<float>() + said.item<float>());
  };
  const train::History history = trainer.fit(
      batches, training::fit_options(o, {{"program", "vae"}, {"data", digits.source}, {"dims", std::to_string(o.dims)}},
                                     {.callbacks = {train::LambdaCallback({.on_epoch_end = measure})}}));
  if (history.exit_status) return training::interrupted(history, o.run);
  draw(o.picture, vae, held_out, o.dims, o.seed);
  fmt::print("held out: {:.1f} nats a digit at most; drawn in {}\n", history["val_loss"].back(), o.picture);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.run = "vae_run", o.epochs = 60, o.batch = 100;
  CLI::App app("A variational autoencoder draws digits.");
  training::add_options(app, o, "the folder of MNIST's four files; default: generated digits", "digits");
  arguments::add(app, "--dims", o.dims, 1, "numbers of a code");
  app.add_option("--picture", o.picture, "file of the picture")->capture_default_str();
  return program::run("vae", app, argc, argv, o, learn);
}
