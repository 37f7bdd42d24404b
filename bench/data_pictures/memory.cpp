// The memory of a pipeline of pictures over ten epochs: our side of program.py. Prints the megabytes of the process
// behind each epoch.
#include <fmt/core.h>
#include <tandem/data.hpp>
#include <tandem/image.hpp>
#include <tandem/tandem.hpp>

#include <fstream>
#include <string>

#include "work.hpp"

namespace {
using namespace tandem;
namespace work = bench::data_pictures;

double megabytes() {
  std::ifstream in("/proc/self/smaps_rollup");
  for (std::string word; in >> word;)
    if (double kilobytes = 0; word == "Pss:" && in >> kilobytes) return kilobytes / 1024;
  return 0;
}
Tensor decoded(const Tensor& file) { return image::resize(image::decode_jpeg(file), {work::side, work::side}); }

}  // namespace

int main() {
  std::vector<Tensor> files;
  for (i64 k = 0; k < work::of_each; ++k)
    for (const work::Size& size : work::sizes)
      files.push_back(
          image::encode_jpeg(constant(work::picture(size, k).data(), {size.height, size.width, 3}), {.quality = 90}));
  const auto batches =
      data::from_items(files).repeat(5).shuffle(40).map(decoded, {.num_parallel_calls = 2}).batch(8).prefetch(2);
  for (i64 epoch = 0; epoch < 10; ++epoch) {
    for (auto& batch : batches.epoch(epoch))
      if (batch.shape()[0] != 8) return 1;
    fmt::print("{:.1f}\n", megabytes());
  }
  return 0;
}
