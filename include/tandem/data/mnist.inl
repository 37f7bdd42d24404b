// Definitions of data/mnist.hpp.
#pragma once
#include <filesystem>

#include "tandem/base/error.hpp"
#include "tandem/data/idx.hpp"
#include "tandem/data/mnist.hpp"

namespace TANDEM_NS::data {

namespace detail {

inline Digits load_digits(const std::string& folder, const std::string& prefix) {
  const auto file = [&](const char* kind) {
    const std::string path = folder + "/" + prefix + kind;
    if (std::filesystem::exists(path)) return path;
    if (std::filesystem::exists(path + ".gz")) return path + ".gz";
    errors::raise<errors::NotFoundError>("load_mnist", "there is neither " + path + " nor " + path + ".gz");
  };
  const auto wrong = [](const std::string& path, const std::string& what) {
    errors::raise<errors::InvalidArgumentError>("load_mnist", path + ": " + what);
  };
  const std::string images_file = file("-images-idx3-ubyte");
  const Tensor images = load_idx(images_file);
  const std::string labels_file = file("-labels-idx1-ubyte");
  const Tensor labels = load_idx(labels_file);
  const Shape &i = images.shape(), &l = labels.shape();
  if (images.dtype() != DType::uint8 || i.rank() != 3 || i[0] < 1 || i[1] != 28 || i[2] != 28)
    wrong(images_file, "not images of 28x28 pixels but " + to_string(images.spec()));
  if (labels.dtype() != DType::uint8 || l.rank() != 1 || l[0] != i[0])
    wrong(labels_file, "not a label for each of " + std::to_string(i[0]) + " images but " + to_string(labels.spec()));
  for (const std::uint8_t label : labels.data<std::uint8_t>())
    if (label > 9) wrong(labels_file, "the label " + std::to_string(label) + " is not a digit");
  return {images, labels};
}

}  // namespace detail

TANDEM_INLINE Mnist load_mnist(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    errors::raise<errors::NotFoundError>("load_mnist",
                                         "there is no folder " + folder + " with the four files of MNIST");
  return {detail::load_digits(folder, "train"), detail::load_digits(folder, "t10k")};
}

}  // namespace TANDEM_NS::data
