// Pictures of digits for the examples: MNIST's four files, or generated digits of the same form.
#pragma once
#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

#include <cstdint>
#include <string>

#include "examples/support/data_name.hpp"

namespace digits {

/// Images are uint8 [n, 28, 28], labels uint8 [n].
struct Digits {
  tandem::data::Digits train, test;
  std::string source;  ///< the folder and what is in it, as data_setting has them, or "generated"
};

/// The digits of a folder; without one, 8,500 + 1,500 generated ones.
///   throws  as tandem::data::load_mnist
inline Digits load(const std::string& folder, std::int64_t seed) {
  if (folder.empty())
    return {tandem::data::synthetic_digits(8500, 2 * seed), tandem::data::synthetic_digits(1500, 2 * seed + 1),
            "generated"};
  const auto [train, test] = tandem::data::load_mnist(folder);
  return {train, test,
          data_setting(folder, tandem::data::fingerprint(train.labels, tandem::data::fingerprint(train.images)))};
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
