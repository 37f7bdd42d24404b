// image_classifier: a small AlexNet tells horizontal stripes, vertical stripes and checkers apart, in JPEG files.
//   image_classifier                    writes 300 pictures to a folder, learns from 240 of them; 60 are held out
//   image_classifier --size 250 151     larger ones
//   image_classifier --data DIR         your pictures: JPEG, PNG or BMP files in a subfolder for each class; or digits:
//                                       MNIST's four files, train-images-idx3-ubyte.gz and so on
// Files are read, decoded and augmented by threads while the network learns. It saves a checkpoint every 100 steps and
// at Ctrl-C. Stopped in the middle of an epoch, even by kill -9, it goes on to the same result.
#include <fmt/core.h>
#include <array>
#include <filesystem>
#include <numbers>

#include <tandem/data.hpp>
#include <tandem/image.hpp>
#include <tandem/io.hpp>
#include <tandem/tandem.hpp>

#include "examples/support/data_name.hpp"
#include "examples/support/digits.hpp"
#include "examples/support/program.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/saved_run.hpp"

using namespace tandem;

namespace {

struct Options {
  std::string data;  // empty: generated pictures
  std::string checkpoint = "image_classifier.safetensors";
  std::string pictures = "image_classifier_pictures";  // where the generated ones are written
  std::array<int, 2> size = {125, 76};                 // height, width
  int steps = 0, batch = 0;                            // 0: 200 steps of 3 pictures, 3000 of 32 digits
  int seed = 1, checkpoint_every = 100;
};

// A gray picture, float32 [height, width, 1] from -0.5 to 0.5, and its class, int32 or uint8 [].
using Picture = std::pair<Tensor, Tensor>;
struct Task {
  int classes;
  data::Dataset<Picture> train, test;
  std::string source;
};

// Horizontal stripes, vertical stripes and checkers of random period, phase and contrast, under noise: uint8
// [n, height, width, 1]; picture i is of class i % 3.
Tensor generate(i64 n, i64 height, i64 width, i64 seed) {
  const random::Generator draw(seed);
  const auto stripes = [&](i64 size) {  // 1 and -1, [n, size]
    const Tensor period = draw.uniform({n, 1}, 6, 20), phase = draw.uniform({n, 1}, 0, 1);
    return sign(sin(2 * std::numbers::pi * (cast(range(size), DType::float32) / period + phase)));
  };
  const Tensor label = reshape(range(n) % 3, {n, 1, 1, 1});
  const Tensor rows = reshape(stripes(height), {n, height, 1, 1}), columns = reshape(stripes(width), {n, 1, width, 1});
  const Tensor pattern = where(label != 1, rows, 1) * where(label != 0, columns, 1);
  const Tensor contrast = draw.uniform({n, 1, 1, 1}, 0.2, 1);
  const Tensor gray = 0.5 + 0.4 * contrast * pattern + 0.08 * draw.normal({n, height, width, 1});
  return image::convert_image_dtype(gray, DType::uint8, {.saturate = true});
}

// Writes 300 pictures as JPEG files to a subfolder for each class, unless they are there. The folder gets its name when
// it is complete.
std::string generated_folder(const Options& o) {
  const auto [height, width] = o.size;
  const std::string folder = fmt::format("{}/{}x{}_{}", o.pictures, height, width, o.seed);
  if (std::filesystem::exists(folder)) return folder;
  const std::string writing = folder + ".writing";
  std::filesystem::remove_all(writing);
  const char* const names[] = {"horizontal", "vertical", "checkers"};
  const Tensor pictures = generate(300, height, width, o.seed);
  for (i64 i = 0; i < 300; ++i)
    io::write_file(fmt::format("{}/{}/{:03}.jpg", writing, names[i % 3], i),
                   image::encode_jpeg(pictures[i], {.quality = 90}).item<std::string>());
  std::filesystem::rename(writing, folder);
  return folder;
}

Picture read_picture(const std::string& path, i64 label, std::array<int, 2> size) try {
  const Tensor picture = image::decode_image(io::read_file(path), {.channels = 1});
  return {image::resize_with_pad(picture, size[0], size[1]) / 255 - 0.5, constant(label)};
} catch (errors::OpError& e) {
  e.set_context(path);
  throw;
}

// A fifth of the pictures of a folder is held out.
Task pictures_of(const std::string& folder, const Options& o) {
  const io::ClassFolder found = io::list_class_folder(folder);
  if (found.files.size() < 5) throw std::runtime_error(folder + ": fewer than five pictures");
  std::uint64_t hash = stable_hash("");
  for (const auto& [path, label] : found.files) hash = stable_hash(io::read_file(path), stable_hash(path, hash));
  const auto read = [size = o.size](const std::string& path, i64 label) { return read_picture(path, label, size); };
  const auto parts = data::split(data::from_items(found.files), {0.8, 0.2}, {.seed = o.seed});
  // Read once, and then kept in memory.
  const auto kept = [&](const auto& part) { return part.map(read, {.num_parallel_calls = data::autotune}).cache(); };
  return {static_cast<int>(found.class_names.size()), kept(parts[0]), kept(parts[1]), data_setting(folder, hash)};
}

Task digits_of(const Options& o) {
  const digits::Digits digits = digits::load(o.data, o.seed);
  const auto pictures = [](const data::Digits& d) {
    return data::from_tensor_slices({d.images, d.labels}).map([](const Tensor& x, const Tensor& label) {
      return Picture(cast(expand_dims(x, -1), DType::float32) / 255 - 0.5, label);
    });
  };
  return {10, pictures(digits.train), pictures(digits.test), digits.source};
}

Task task_of(const Options& o) {
  if (o.data.empty()) return pictures_of(generated_folder(o), o);
  bool has_folders = false;
  if (std::filesystem::is_directory(o.data))
    for (const auto& entry : std::filesystem::directory_iterator(o.data)) has_folders |= entry.is_directory();
  return has_folders ? pictures_of(o.data, o) : digits_of(o);
}

// The picture moved by up to two pixels, darker or brighter.
Picture augment(const Tensor& picture, const Tensor& label) {
  const Shape& shape = picture.shape();
  const Tensor padded = pad(picture, {{2, 2}, {2, 2}, {0, 0}}, {.mode = PadMode::reflect});
  return {image::random_brightness(image::random_crop(padded, shape), 0.1), label};
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
std::pair<double, double> evaluate(const SmallAlexNet& net, const data::Dataset<Picture>& pictures) {
  const metrics::SparseCategoricalCrossentropy loss({.from_logits = true});
  const metrics::SparseCategoricalAccuracy accuracy;
  for (const auto& [images, labels] : pictures.batch(20).epoch(0)) {
    const Tensor logits = net(images);
    loss.update_state(labels, logits), accuracy.update_state(labels, logits);
  }
  return {loss.result().item<double>(), accuracy.result().item<double>()};
}

int learn(const Options& o) {
  const auto [classes, train, test, source] = task_of(o);
  const auto batches = train.shuffle({.seed = o.seed})
                           .map(augment, {.num_parallel_calls = data::autotune})
                           .batch(o.batch, {.drop_remainder = true})
                           .repeat()
                           .prefetch(2);
  print_shapes();
  random::set_seed(o.seed);  // of the initial weights, of dropout and of the augmentation
  const SmallAlexNet net(classes);
  net(batches.at(0, 0).first);  // makes the weights
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
  auto next = batches.iterator({.epoch = 0, .index = first});
  for (const i64 i : interrupt::steps(first, o.steps)) {
    const auto [images, labels] = *next.next();
    const float value = step(images, labels).item<float>();
    progress.show(double(i + 1) / o.steps, fmt::format("step {}  loss {:f}", i + 1, value));
    if ((i + 1) % o.checkpoint_every == 0 || i + 1 == o.steps) run.save();
  }
  progress.end();
  if (interrupt::received) return run.interrupted();
  fmt::print("training loss {:.4f}, {:.1f} % of {} held-out pictures right; weights in {}\n",
             evaluate(net, train).first, 100 * evaluate(net, test).second, test.size(), o.checkpoint);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("A small AlexNet learns to classify pictures.");
  app.add_option(
      "--data", o.data,
      "a folder with a subfolder of pictures for each class, or with MNIST's four files; default: generated pictures");
  app.add_option("--pictures", o.pictures, "the folder that generated pictures are written to")->capture_default_str();
  app.add_option("--size", o.size, "height and width of the pictures, to which those of a folder are resized")
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
