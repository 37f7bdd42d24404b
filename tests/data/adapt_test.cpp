// Layers adapt to data sets in one pass.
#include "tandem/data/dataset_sources.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/ops/all.hpp"
#include "tests/data/string_layers.hpp"
#include "tests/support/catch.hpp"

namespace data_adapt_test {
using namespace tandem;

TEST_CASE("Normalization adapts to a data set: batched, single, one element of a pair; one pass") {
  const Tensor x = random::stateless_normal({100, 3}, {1, 2}, {.mean = 5}), y = range(100);
  const layers::Normalization whole, batched, single, pairs;
  whole.adapt(x);
  int calls = 0;
  const auto rows = data::from_tensor_slices(x).map([&](const Tensor& row) { return ++calls, row; });
  batched.adapt(rows.batch(7).epoch(0));
  CHECK(calls == 100);
  single.adapt(rows);
  pairs.adapt(
      data::from_tensor_slices({x, y}).shuffle().batch(8).map([](const Tensor& a, const Tensor&) { return a; }));
  for (const layers::Normalization* layer : {&batched, &single, &pairs})
    for (std::size_t v = 0; v < 2; ++v) {
      const auto a = whole.variables()[v].value().to_vector<float>(),
                 b = layer->variables()[v].value().to_vector<float>();
      for (std::size_t i = 0; i < a.size(); ++i) CHECK(b[i] == Approx(a[i]).epsilon(3e-7));
    }
}
TEST_CASE("IntegerLookup, Discretization adapt to numbers of a data set") {
  const layers::IntegerLookup lookup;
  lookup.adapt(data::from_items(std::vector<i64>{5, 2, 5, 9, 9, 9}));
  CHECK(lookup.get_vocabulary() == std::vector<i64>{-1, 9, 5, 2});
  const layers::Discretization bins({.num_bins = 4}), whole({.num_bins = 4});
  bins.adapt(data::range(1000).map([](i64 i) { return static_cast<double>(i * 37 % 1000); }));
  whole.adapt(range(1000));
  CHECK(bins.bin_boundaries() == whole.bin_boundaries());
}
#if TANDEM_WITH_STRINGS
TEST_CASE("StringLookup adapts to texts and batches of them") {
  using Words = std::vector<std::string>;
  const Words words{"b", "a", "c", "c", "a", "c", "[UNK]"};
  const layers::StringLookup whole, texts, batches;
  whole.adapt(constant(words));
  texts.adapt(data::from_items(words));
  batches.adapt(data::from_items(words).batch(2));
  CHECK(whole.get_vocabulary() == Words{"[UNK]", "c", "a", "b"});
  CHECK(texts.get_vocabulary() == whole.get_vocabulary());
  CHECK(batches.get_vocabulary() == whole.get_vocabulary());
}
#endif

}  // namespace data_adapt_test
