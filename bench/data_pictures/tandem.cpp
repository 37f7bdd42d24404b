// Pictures in Tandem.
#include <tandem/data.hpp>
#include <tandem/image.hpp>

#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::data_pictures;
namespace td = tandem::data;
namespace image = tandem::image;
using tandem::Tensor;

std::vector<Tensor> files() {
  std::vector<Tensor> r;
  for (std::int64_t k = 0; k < of_each; ++k)
    for (const Size& size : sizes)
      r.push_back(
          image::encode_jpeg(tandem::constant(picture(size, k).data(), {size.height, size.width, 3}), {.quality = 90}));
  return r;
}
Tensor decoded(const Tensor& file) { return image::resize(image::decode_jpeg(file), {side, side}); }
Tensor decoded_small(const Tensor& file) { return image::decode_resize_jpeg(file.item<std::string>(), {side, side}); }

template <class F>
bench::Work pass(F f, std::int64_t workers) {
  const auto ds = td::from_items(files()).map(f, {.num_parallel_calls = workers});
  bench::Work work;
  work.run = [ds](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      for (auto& pixels : ds.epoch(0)) benchmark::DoNotOptimize(pixels);
  };
  work.result = [ds] {
    std::vector<float> means;
    for (auto& pixels : ds.epoch(0))
      means.push_back(tandem::reduce_mean(tandem::cast(pixels, tandem::float32)).template item<float>());
    return means;
  };
  return work;
}
std::int64_t workers() { return bench::threads() > 1 ? bench::threads() : 0; }

[[maybe_unused]] const bool added[] = {
    bench::add(decode_resize, [] { return pass(decoded, workers()); }),
    bench::add(std::string(decode_resize) + "@scaled", [] { return pass(decoded_small, workers()); }),
    bench::add(std::string(decode_resize) + "@8_workers", [] { return pass(decoded, 8); })};
}  // namespace
