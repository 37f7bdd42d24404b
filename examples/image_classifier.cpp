// image_classifier: a small AlexNet tells horizontal stripes, vertical stripes and checkers apart, in JPEG files.
//   image_classifier                    writes 300 pictures to a folder, learns from 240 of them; 60 are held out
//   image_classifier --size 250 151     larger ones
//   image_classifier --data DIR         your pictures: JPEG, PNG or BMP files in a subfolder for each class; or digits:
//                                       MNIST's four files, train-images-idx3-ubyte.gz and so on
// Files are read, decoded and augmented by threads while the network learns. It keeps its run in a folder. Stopped in
// the middle of an epoch, even by kill -9, it goes on to the same result.
#include <fmt/core.h>
#include <array>
#include <filesystem>
#include <numbers>

#include <tandem/data.hpp>
#include <tandem/image.hpp>
#include <tandem/io.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/data_name.hpp"
#include "examples/support/digits.hpp"
#include "examples/support/program.hpp"
#include "examples/support/training.hpp"

using namespace tandem;

namespace {

struct Options : training::Options {
  std::string pictures = "image_classifier_pictures";  // where the generated ones are written
  std::array<int, 2> size = {125, 76};                 // height, width
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
  std::uint64_t hash = data::fingerprint("");
  for (const auto& [path, label] : found.files)
    hash = data::fingerprint(io::read_file(path), data::fingerprint(path, hash));
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

int learn(const Options& o) {
  const auto [classes, train, test, source] = task_of(o);
  const auto batches = train.shuffle({.seed = o.seed})
                           .map(augment, {.num_parallel_calls = data::autotune})
                           .batch(o.batch, {.drop_remainder = true})
                           .prefetch(2);
  print_shapes();
  random::set_seed(o.seed);  // of the initial weights, of dropout and of the augmentation
  const SmallAlexNet net(classes);
  net(batches.at(0, 0).first);  // makes the weights
  fmt::print("{}\n", net.summary());

  train::Trainer trainer(net, {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                               .optimizer = optimizers::Adam(2e-4),
                               .metrics = {metrics::SparseCategoricalAccuracy({.name = "accuracy"})}});
  const train::History history =
      trainer.fit(batches, training::fit_options(o, {{"program", "image_classifier"}, {"data", source}},
                                                 {.validation_data = test.batch(20)}));
  if (history.exit_status) return training::interrupted(history, o.run);
  fmt::print("training loss {:.4f}, {:.1f} % of {} held-out pictures right; weights in {}\n",
             trainer.evaluate(train.batch(20))["loss"], 100 * history["val_accuracy"].back(), test.size(), o.run);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.run = "image_classifier_run", o.epochs = 2, o.batch = 3, o.steps_per_epoch = 100;
  CLI::App app("A small AlexNet learns to classify pictures. With --data, the default is 30 epochs of batches of 32.");
  training::add_options(
      app, o,
      "a folder with a subfolder of pictures for each class, or with MNIST's four files; default: generated pictures",
      "pictures");
  app.add_option("--pictures", o.pictures, "the folder that generated pictures are written to")->capture_default_str();
  arguments::add(app, "--size", o.size, 8, "height and width of the pictures, to which those of a folder are resized");
  return program::run("image_classifier", app, argc, argv, [&] {
    if (!o.data.empty() && !app.count("--epochs")) o.epochs = 30;
    if (!o.data.empty() && !app.count("--batch")) o.batch = 32;
    const auto scope = tandem::device(o.device);
    return learn(o);
  });
}
