// Data sets: stages that draw at random one behind another draw apart.
#include <algorithm>

#include "tandem/data/dataset_sources.hpp"
#include "tests/support/catch.hpp"

namespace data_dataset_draws_test {
using namespace tandem;
using Longs = std::vector<i64>;

data::Dataset<i64> same(i64 value) {
  return data::range(1).repeat().map([=](i64) { return value; });
}

TEST_CASE("draws: rejection_resample behind sample_from_datasets, of equal seeds") {
  const auto mixed = data::sample_from_datasets<i64>({same(0), same(1)}).take(100'000);
  i64 ones = 0, all = 0;
  for (auto& [number, element] : mixed.rejection_resample([](i64 x) { return x; }, {0.8, 0.2}, {0.5, 0.5}))
    ones += element, ++all;
  CHECK(std::abs(all - 62'500) < 1500);  // all zeros, a quarter of the ones
  CHECK(std::abs(static_cast<double>(ones) / static_cast<double>(all) - 0.2) < 0.01);
}

TEST_CASE("draws: one sample_from_datasets within another, and two rejection_resample in a row") {
  const auto mixed = data::sample_from_datasets<i64>({data::sample_from_datasets<i64>({same(0), same(1)}), same(2)});
  const auto number = [](i64 x) { return x; };
  const auto once = data::range(1).rejection_resample(number, {1, 2}, {1, 1});  // keeps half of the zeros
  const auto twice = once.map([](i64, i64 x) { return x; }).rejection_resample(number, {1, 2}, {1, 1});
  Longs first(3);
  i64 kept = 0, kept_twice = 0;
  for (i64 epoch = 0; epoch < 1000; ++epoch) {
    ++first[std::size_t(*mixed.iterator({epoch, 0}).next())];
    kept += once.iterator({epoch, 0}).next().has_value();
    kept_twice += twice.iterator({epoch, 0}).next().has_value();
  }
  CHECK(std::abs(first[0] - 250) < 60);
  CHECK(std::abs(first[1] - 250) < 60);
  CHECK(std::abs(first[2] - 500) < 60);
  CHECK(std::abs(kept - 500) < 60);
  CHECK(std::abs(kept_twice - 250) < 60);
}

// In how many of `epochs` epochs the two elements of a data set come as 0, 1.
template <class D>
i64 in_order(const D& ds, i64 epochs) {
  i64 r = 0;
  for (i64 epoch = 0; epoch < epochs; ++epoch) {
    Longs elements;
    for (const i64 x : ds.epoch(epoch)) elements.push_back(x);
    REQUIRE(elements.size() == 2);
    r += elements == Longs{0, 1};
  }
  return r;
}

TEST_CASE("draws: two shuffles in a row, of equal seeds") {
  const auto f = [](i64 x) { return x; };
  const auto indexed = data::range(2).shuffle(), stream = data::range(2).filter([](i64) { return true; }).shuffle(10);
  CHECK(std::abs(in_order(indexed, 400) - 200) < 60);
  CHECK(std::abs(in_order(indexed.map(f).shuffle(), 400) - 200) < 60);
  CHECK(std::abs(in_order(indexed.shuffle().map(f).shuffle(), 400) - 200) < 60);
  CHECK(std::abs(in_order(stream.shuffle(10), 400) - 200) < 60);
  CHECK(std::abs(in_order(stream.map(f).shuffle(10).shuffle(10), 400) - 200) < 60);
  CHECK(std::abs(in_order(data::zip(indexed, data::range(2)).map([](i64 a, i64) { return a; }).shuffle(), 400) - 200) <
        60);
}

TEST_CASE("draws: what is before a shuffle, but for other draws, does not change its order") {
  const auto f = [](i64 x) { return x; };
  const Longs order = data::range(30).shuffle().to_vector();
  CHECK(data::range(30).map(f).take(40).shuffle().to_vector() == order);
  CHECK(data::range(30).shuffle().map(f).to_vector() == order);
  // So data sets that are shuffled alike stay together.
  const auto a = data::range(30), b = a.map(f).concatenate(data::range(0));
  for (const i64 epoch : {0, 1, 7}) {
    for (auto& [x, y] : data::zip(a.shuffle(), b.shuffle()).epoch(epoch)) CHECK(x == y);
    for (auto& [x, y] : data::zip(a.shuffle(9).shuffle(5), b.shuffle(9).shuffle(5)).epoch(epoch)) CHECK(x == y);
  }
}

TEST_CASE("draws: a shuffle behind a choice that is shuffled, of equal seeds") {
  const auto choice = data::range(2).filter([](i64) { return true; }).shuffle(10);
  const auto chosen = data::choose_from_datasets<i64>({same(0), same(1)}, choice);
  CHECK(std::abs(in_order(chosen, 400) - 200) < 60);
  CHECK(std::abs(in_order(chosen.shuffle(10), 400) - 200) < 60);
}

}  // namespace data_dataset_draws_test
