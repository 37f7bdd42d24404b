// gan: two networks play against each other. One draws digits; the other one tells them from real ones.
//   gan                       generated digits
//   gan --data DIR            MNIST's four files, train-images-idx3-ubyte.gz and so on
// A step trains both, each with an optimizer of its own (Goodfellow et al. 2014, "Generative Adversarial Nets", with
// the loss that does not saturate). It keeps its run in a folder; stopped, the same command goes on from it.
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
  std::string picture = "gan.svg";
};

constexpr i64 code_size = 64;  // of the random numbers that a picture is drawn from

Tensor pixels(const Tensor& images) { return expand_dims(cast(images, float32) / 255, -1); }

// Pictures [n, 28, 28, 1] from 0 to 1, of codes [n, 64].
layers::Sequential generator_network() {
  layers::Sequential net{layers::Dense(7 * 7 * 32), layers::BatchNormalization({.momentum = 0.9}), layers::ReLU(),
                         layers::Reshape({7, 7, 32})};
  net.add(layers::Conv2DTranspose(16, 4, {.strides = 2, .padding = Padding::same}));
  net.add(layers::BatchNormalization({.momentum = 0.9})).add(layers::ReLU());
  net.add(layers::Conv2DTranspose(1, 4, {.strides = 2, .padding = Padding::same})).add([](const Tensor& x) {
    return sigmoid(x);
  });
  net.build({none, code_size});
  return net;
}
// A logit for each picture: positive for what looks real.
layers::Sequential discriminator_network() {
  const auto leaky = [](const Tensor& x) { return nn::leaky_relu(x, {.alpha = 0.2}); };
  const layers::ConvOptions halves{.strides = 2, .padding = Padding::same};
  layers::Sequential net{layers::Conv2D(16, 5, halves), leaky, layers::Conv2D(32, 5, halves), leaky};
  net.add(layers::Flatten()).add(layers::Dropout(0.3)).add(layers::Dense(1));
  net.build({none, 28, 28, 1});
  return net;
}
Tensor cross_entropy(const Tensor& logits, float label) {
  return reduce_mean(nn::sigmoid_cross_entropy_with_logits(fill(logits.shape(), label), logits));
}

// How digit-like and how different pictures are, from 1 to 10: exp of the mean of KL(p(digit | picture) || p(digit)),
// by a network that reads digits (Salimans et al. 2016, "Improved Techniques for Training GANs").
class Judge {
 public:
  explicit Judge(const data::Digits& digits) : trainer_(net_, options()) {
    trainer_.fit(pixels(digits.images), digits.labels,
                 {.epochs = 3, .progress = {.mode = train::ProgressMode::none}, .batch_size = 100});
  }
  double score(const Tensor& images) {
    const Tensor p = nn::softmax(trainer_.predict(images)), mean = reduce_mean(p, 0);
    return exp(reduce_mean(reduce_sum(p * (log(p + 1e-12) - log(mean + 1e-12)), 1))).item<float>();
  }

 private:
  static train::TrainerOptions options() {
    return {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}), .optimizer = optimizers::Adam(2e-3)};
  }
  layers::Sequential net_{layers::Flatten(), layers::Dense(128, nn::relu), layers::Dense(10)};
  train::Trainer trainer_;
};

int learn(const Options& o) {
  const digits::Digits digits = digits::load(o.data, o.seed);
  const auto batches = data::from_tensor_slices(pixels(digits.train.images))
                           .shuffle({.seed = o.seed})
                           .batch(o.batch, {.drop_remainder = true});
  random::set_seed(o.seed);  // of the initial weights, of codes and of dropout
  const layers::Sequential generator = generator_network(), discriminator = discriminator_network();
  fmt::print("{}\n\n{}\n", generator.summary(), discriminator.summary());

  const optimizers::Adam generator_adam({.learning_rate = 1e-3, .beta_1 = 0.5});
  const optimizers::Adam discriminator_adam({.learning_rate = 4e-4, .beta_1 = 0.5});
  const auto play = [&](const Tensor& real) -> train::Outputs {
    GradientTape tape({.persistent = true});
    const Tensor drawn = generator(random::normal({real.shape()[0], code_size}));
    const Tensor of_drawn = discriminator(drawn);
    const Tensor fooled = cross_entropy(of_drawn, 1);  // small if drawn ones look real
    const Tensor told = (cross_entropy(discriminator(real), 1) + cross_entropy(of_drawn, 0)) / 2;
    const auto g = generator.trainable_variables(), d = discriminator.trainable_variables();
    const auto for_g = tape.gradient(fooled, g), for_d = tape.gradient(told, d);
    generator_adam.apply_gradients(for_g, g), discriminator_adam.apply_gradients(for_d, d);
    return {{"generator", fooled}, {"discriminator", told}};
  };
  train::Trainer trainer({{"generator", generator},
                          {"discriminator", discriminator},
                          {"generator_adam", generator_adam},
                          {"discriminator_adam", discriminator_adam}},
                         play);
  const train::History history =
      trainer.fit(batches, training::fit_options(o, {{"program", "gan"}, {"data", digits.source}}));
  if (history.exit_status) return training::interrupted(history, o.run);

  const Tensor drawn = generator(random::Generator(o.seed).normal({1500, code_size}));
  plot::images(squeeze(drawn(Slice(0, 160)), {-1}), {},
               {.title = "Digits that a generator draws", .columns = 16, .gap = 0, .zero_is_white = true, .width = 800})
      .save(o.picture);
  Judge judge(digits.train);
  fmt::print("of at most 10, drawn digits reach {:.2f}, held-out ones {:.2f}, and noise {:.2f}; drawn in {}\n",
             judge.score(drawn), judge.score(pixels(digits.test.images)),
             judge.score(random::uniform({1500, 28, 28, 1})), o.picture);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.run = "gan_run", o.epochs = 20, o.batch = 64;
  CLI::App app("Two networks: one draws digits, the other one tells them from real ones.");
  training::add_options(app, o, "the folder of MNIST's four files; default: generated digits", "digits");
  app.add_option("--picture", o.picture, "file of the picture")->capture_default_str();
  return program::run("gan", app, argc, argv, o, learn);
}
