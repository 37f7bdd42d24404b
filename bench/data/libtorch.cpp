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

// Numbers, each times `factor`.
class Numbers : public torch::data::Dataset<Numbers> {
 public:
  explicit Numbers(std::int64_t factor) : factor_(factor) {}
  torch::data::Example<> get(std::size_t i) override {
    const at::Tensor x = numbers_[static_cast<std::int64_t>(i)];
    return {factor_ == 1 ? x : x * factor_, x};
  }
  torch::optional<std::size_t> size() const override { return static_cast<std::size_t>(numbers); }

 private:
  std::int64_t factor_;
  at::Tensor numbers_ = torch::arange(numbers);
};

template <class Sampler, class Data>
auto loader_of(Data data, std::int64_t batch_size, int workers) {
  return torch::data::make_data_loader<Sampler>(std::move(data).map(torch::data::transforms::Stack<>()),
                                                torch::data::DataLoaderOptions()
                                                    .batch_size(static_cast<std::size_t>(batch_size))
                                                    .workers(static_cast<std::size_t>(workers)));
}

// A pass over all batches; the sum of a tensor of each is compared.
template <class Sampler, class Data>
bench::Work pass(Data data, std::int64_t batch_size, int workers, at::Tensor torch::data::Example<>::*compared) {
  using Loader = decltype(loader_of<Sampler>(data, batch_size, workers));
  auto loader = std::make_shared<Loader>(loader_of<Sampler>(std::move(data), batch_size, workers));
  bench::Work work;
  work.run = [loader](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      for (auto& batch : **loader) benchmark::DoNotOptimize(batch);
  };
  work.result = [loader, compared] {
    double total = 0;
    for (auto& batch : **loader) total += (batch.*compared).sum().template item<double>();
    return std::vector<float>{static_cast<float>(total)};
  };
  return work;
}

using torch::data::samplers::RandomSampler;
using torch::data::samplers::SequentialSampler;
using Example = torch::data::Example<>;

bench::Work first_of_rows(int workers) {
  bench::Work work;
  work.run = [workers, data = Rows()](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      auto loader = loader_of<RandomSampler>(data, row_batch, workers);
      auto batch = *loader->begin();
      benchmark::DoNotOptimize(batch);
    }
  };
  work.result = [] { return std::vector<float>(); };  // the orders differ
  return work;
}

// With the consumer's thread alone, and with threads of its own (@workers).
template <class Make>
bool add_both(const char* name, Make make) {
  return bench::add(name, [make] { return make(0); }) &&
         bench::add(std::string(name) + "@workers", [make] { return make(bench::threads()); });
}

[[maybe_unused]] const bool added[] = {
    add_both(range_batch, [](int w) { return pass<SequentialSampler>(Numbers(1), batch, w, &Example::data); }),
    add_both(map_batched, [](int w) { return pass<SequentialSampler>(Numbers(2), batch, w, &Example::data); }),
    add_both(mnist_rows, [](int w) { return pass<RandomSampler>(Rows(), row_batch, w, &Example::target); }),
    add_both(first_batch, first_of_rows)};
}  // namespace
