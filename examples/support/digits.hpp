// Pictures of digits for the examples: MNIST's four files, or generated digits of the same form.
#pragma once
#include <fmt/core.h>
#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/support/data_name.hpp"

namespace digits {

/// Images are uint8 [n, 28, 28], labels uint8 [n].
struct Digits {
  tandem::data::Digits train, test;
  std::string source;  ///< the folder and what is in it, as data_setting has them, or "generated"
};

/// Reads PREFIX-images-idx3-ubyte and PREFIX-labels-idx1-ubyte of a folder, compressed (.gz) or not.
///   throws  std::runtime_error or the reader's error, naming the file
inline tandem::data::Digits read(const std::string& folder, const std::string& prefix) {
  const auto file = [&](const char* kind) {
    const std::string path = folder + "/" + prefix + kind;
    return std::filesystem::exists(path) ? path : path + ".gz";
  };
  const std::string images_file = file("-images-idx3-ubyte"), labels_file = file("-labels-idx1-ubyte");
  const tandem::Tensor images = tandem::data::load_idx(images_file), labels = tandem::data::load_idx(labels_file);
  const tandem::Shape &i = images.shape(), &l = labels.shape();
  if (images.dtype() != tandem::DType::uint8 || i.rank() != 3 || i[0] < 1 || i[1] != 28 || i[2] != 28)
    throw std::runtime_error(fmt::format("{}: not images of 28x28 pixels but {}", images_file, to_string(i)));
  if (labels.dtype() != tandem::DType::uint8 || l.rank() != 1 || l[0] != i[0])
    throw std::runtime_error(
        fmt::format("{}: not a label for each of {} images but {}", labels_file, i[0], to_string(l)));
  if (tandem::reduce_max(labels).item<std::uint8_t>() > 9)
    throw std::runtime_error(labels_file + ": a label is not a digit");
  return {images, labels};
}

/// The digits of a folder; without one, 8,500 + 1,500 generated ones.
///   throws  as read; std::runtime_error if there is no such folder
inline Digits load(const std::string& folder, std::int64_t seed) {
  if (folder.empty())
    return {tandem::data::synthetic_digits(8500, 2 * seed), tandem::data::synthetic_digits(1500, 2 * seed + 1),
            "generated"};
  if (!std::filesystem::is_directory(folder))
    throw std::runtime_error("there is no folder " + folder + " (--data takes that of MNIST's four files)");
  Digits d{read(folder, "train"), read(folder, "t10k"), {}};
  std::uint64_t hash = stable_hash("");
  for (const tandem::Tensor& t : {d.train.images, d.train.labels}) {
    const std::vector<std::uint8_t> bytes = t.to_vector<std::uint8_t>();
    hash = stable_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, hash);
  }
  d.source = data_setting(folder, hash);
  return d;
}

/// Moves each image, uint8 [n, 28, 28], by up to two pixels up or down and left or right, at random.
inline tandem::Tensor moved(const tandem::Tensor& images) {
  using namespace tandem;
  const auto window = [&] { return range(28) + random::uniform({images.shape()[0], 1}, 0, 5, DType::int32); };
  const Tensor padded = pad(images, {{0, 0}, {2, 2}, {2, 2}});
  const Tensor rows = gather(padded, window(), {.axis = 1, .batch_dims = 1});
  return gather(rows, window(), {.axis = 2, .batch_dims = 1});
}

}  // namespace digits
