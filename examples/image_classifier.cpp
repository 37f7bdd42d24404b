// image_classifier: a small AlexNet tells horizontal stripes, vertical stripes and checkers apart.
//   image_classifier                    generated pictures: 240 to learn from, 60 held out
//   image_classifier --size 250 151     larger ones
//   image_classifier --data DIR         digits instead: MNIST's four files, train-images-idx3-ubyte.gz and so on
// It saves a checkpoint every 100 steps and at Ctrl-C. Stopped, even by kill -9, it goes on to the same result.
#include <fmt/core.h>
#include <array>
#include <numbers>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/program.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/saved_run.hpp"

using namespace tandem;

namespace {

struct Options {
  std::string data;  // empty: generated pictures
  std::string checkpoint = "image_classifier.safetensors";
  std::array<int, 2> size = {125, 76};  // height, width
  int steps = 0, batch = 0;             // 0: 200 steps of 3 pictures, 3000 of 32 digits
  int seed = 1, checkpoint_every = 100;
};

// Gray pictures, float32 [n, height, width, 1] from about -0.5 to 0.5, and their classes [n].
struct Pictures {
  Tensor images, labels;
};
struct Task {
  int classes;
  Pictures train, test;
  std::string source;
};

// Horizontal stripes, vertical stripes and checkers of random period, phase and contrast, under noise.
Pictures generate(i64 n, i64 height, i64 width, i64 seed) {
  const random::Generator draw(seed);
  const auto stripes = [&](i64 size) {  // 1 and -1, [n, size]
    const Tensor period = draw.uniform({n, 1}, 6, 20), phase = draw.uniform({n, 1}, 0, 1);
    return sign(sin(2 * std::numbers::pi * (cast(range(size), DType::float32) / period + phase)));
  };
  const Tensor labels = range(n) % 3, label = reshape(labels, {n, 1, 1, 1});
  const Tensor rows = reshape(stripes(height), {n, height, 1, 1}), columns = reshape(stripes(width), {n, 1, width, 1});
  const Tensor pattern = where(label != 1, rows, 1) * where(label != 0, columns, 1);
  const Tensor contrast = draw.uniform({n, 1, 1, 1}, 0.2, 1);
  return {0.5 * contrast * pattern + 0.1 * draw.normal({n, height, width, 1}), labels};
}

Task task_of(const Options& o) {
  if (o.data.empty()) {
    const auto [height, width] = o.size;
    return {3, generate(240, height, width, 2 * o.seed), generate(60, height, width, 2 * o.seed + 1),
            fmt::format("{}x{}", height, width)};
  }
  const auto pictures = [](const data::Digits& digits) {
    return Pictures{cast(expand_dims(digits.images, -1), DType::float32) / 255 - 0.5, digits.labels};
  };
  const digits::Digits digits = digits::load(o.data, o.seed);
  return {10, pictures(digits.train), pictures(digits.test), digits.source};
}

struct SmallAlexNet : Model<SmallAlexNet> {
  layers::Conv2D conv_1{32, 5, {.strides = 2, .padding = Padding::same, .activation = Activation::relu}};
  layers::Conv2D conv_2{64, 5, {.padding = Padding::same, .activation = Activation::relu}};
  layers::MaxPooling2D pool_1{2, {.padding = Padding::same}}, pool_2{2, {.padding = Padding::same}};
  layers::Flatten flatten;
  layers::Dense hidden{512, nn::relu, {.kernel_initializer = initializers::TruncatedNormal(0, 0.1)}};
  layers::Dropout dropout{0.1};
  layers::Dense out;

  explicit SmallAlexNet(i64 classes) : out(classes) {}
  // The results of the convolutional layers, one after the other.
  std::vector<Tensor> features(const Tensor& images) const {
    const Tensor a = conv_1(images), b = pool_1(a), c = conv_2(b), d = pool_2(c);
    return {a, b, c, d, flatten(d)};
  }
  Tensor operator()(const Tensor& images) const { return out(dropout(hidden(features(images).back()))); }
};

// Prints the shapes inside of the network for three pictures of 250x151 pixels.
void print_shapes() {
  const Shape expected[] = {{3, 125, 76, 32}, {3, 63, 38, 32}, {3, 63, 38, 64}, {3, 32, 19, 64}, {3, 38912}};
  const std::vector<Tensor> found = SmallAlexNet(3).features(zeros({3, 250, 151, 1}));
  fmt::print("(3, 250, 151, 1)");
  for (std::size_t i = 0; i < found.size(); ++i) {
    fmt::print(" -> {}", to_string(found[i].shape()));
    if (found[i].shape() != expected[i]) throw std::logic_error("the shape should be " + to_string(expected[i]));
  }
  fmt::print("\n");
}

// The mean loss, and the share of pictures that are recognized.
std::pair<double, double> evaluate(const SmallAlexNet& net, const Pictures& pictures) {
  const metrics::SparseCategoricalCrossentropy loss({.from_logits = true});
  const metrics::SparseCategoricalAccuracy accuracy;
  const auto batches = data::from_tensor_slices({pictures.images, pictures.labels}).batch(20);
  for (const auto& [images, labels] : batches.epoch(0)) {
    const Tensor logits = net(images);
    loss.update_state(labels, logits), accuracy.update_state(labels, logits);
  }
  return {loss.result().item<double>(), accuracy.result().item<double>()};
}

int learn(const Options& o) {
  const auto [classes, train, test, source] = task_of(o);
  const auto batches = data::from_tensor_slices({train.images, train.labels})
                           .shuffle({.seed = o.seed})
                           .batch(o.batch, {.drop_remainder = true});
  print_shapes();
  random::set_seed(o.seed);  // of the initial weights and of dropout
  const SmallAlexNet net(classes);
  net(batches.at_step(0)[0]);  // makes the weights
  fmt::print("{}\n", net.summary());

  const losses::SparseCategoricalCrossentropy loss({.from_logits = true});
  const optimizers::Adam adam(2e-4);
  const std::vector<Variable> weights = net.trainable_variables();
  adam.build(weights);
  const auto step = function([&](const Tensor& images, const Tensor& labels) {
    const training_scope training(true);
    return adam.minimize([&] { return loss(labels, net(images)); }, weights);
  });
  const SavedRun run(o.checkpoint,
                     {{"program", "image_classifier"},
                      {"data", source},
                      {"batch", std::to_string(o.batch)},
                      {"seed", std::to_string(o.seed)}},
                     {{"model", net}, {"optimizer", adam}, {"random", random::global_generator().state()}});

  Progress progress;
  const i64 first = adam.iterations().item<i64>();
  for (const i64 i : interrupt::steps(first, o.steps)) {
    const auto [images, labels] = batches.at_step(i);
    const float value = step(images, labels).item<float>();
    progress.show(double(i + 1) / o.steps, fmt::format("step {}  loss {:f}", i + 1, value));
    if ((i + 1) % o.checkpoint_every == 0 || i + 1 == o.steps) run.save();
  }
  progress.end();
  if (interrupt::received) return run.interrupted();
  fmt::print("training loss {:.4f}, {:.1f} % of {} held-out pictures right; weights in {}\n",
             evaluate(net, train).first, 100 * evaluate(net, test).second, test.labels.shape()[0], o.checkpoint);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("A small AlexNet learns to classify pictures.");
  app.add_option("--data", o.data, "the folder of MNIST's four files; default: generated pictures");
  app.add_option("--size", o.size, "height and width of generated pictures")
      ->check(arguments::whole_number(8))
      ->capture_default_str();
  app.add_option("--checkpoint", o.checkpoint, "the file to save to, and to go on from")->capture_default_str();
  app.add_option("--checkpoint-every", o.checkpoint_every, "steps between checkpoints")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--steps", o.steps, "how many steps to train; default: 200, with --data 3000")
      ->check(arguments::whole_number(1));
  app.add_option("--batch", o.batch, "pictures a step; default: 3, with --data 32")->check(arguments::whole_number(1));
  app.add_option("--seed", o.seed, "of everything random")->check(arguments::whole_number(0))->capture_default_str();
  return program::run("image_classifier", app, argc, argv, [&] {
    if (!o.steps) o.steps = o.data.empty() ? 200 : 3000;
    if (!o.batch) o.batch = o.data.empty() ? 3 : 32;
    return learn(o);
  });
}
