// Pipelines of data in LibTorch: its data loader, which has one batch at a time and threads of its own (@workers).
#include <torch/data.h>

#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::data;

class Rows : public torch::data::Dataset<Rows> {
 public:
  torch::data::Example<> get(std::size_t i) override {
    const auto at = static_cast<std::int64_t>(i);
    return {images_[at], labels_[at]};
  }
  torch::optional<std::size_t> size() const override { return static_cast<std::size_t>(rows); }

 private:
  at::Tensor images_ = bench::torch_normal({rows, row}, 1), labels_ = torch::arange(rows);
};

bench::Work rows_shuffled(int workers) {
  using Sampler = torch::data::samplers::RandomSampler;
  const auto make = [workers] {
    return torch::data::make_data_loader<Sampler>(
        Rows().map(torch::data::transforms::Stack<>()),
        torch::data::DataLoaderOptions().batch_size(row_batch).workers(static_cast<std::size_t>(workers)));
  };
  using Loader = decltype(make());
  auto loader = std::make_shared<Loader>(make());
  bench::Work work;
  work.run = [loader](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      for (auto& batch : **loader) benchmark::DoNotOptimize(batch);
  };
  work.result = [loader] {
    double total = 0;
    for (auto& batch : **loader) total += batch.target.sum().template item<double>();
    return std::vector<float>{static_cast<float>(total)};
  };
  return work;
}

[[maybe_unused]] const bool added[] = {
    bench::add(mnist_rows, [] { return rows_shuffled(0); }),
    bench::add(std::string(mnist_rows) + "@workers", [] { return rows_shuffled(bench::threads()); })};
}  // namespace
