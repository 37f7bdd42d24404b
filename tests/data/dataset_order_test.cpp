// Data sets of several others, and repetitions: where they end, and how they go on from any position.
#include <limits>
#include <set>

#include "tandem/data/dataset_files.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace data_dataset_order_test {
using namespace tandem;
using testing::error_of;
using Longs = std::vector<i64>;

data::Dataset<i64> stream(i64 n) {
  return data::range(n).filter([](i64) { return true; });
}
// How many elements there are from a position on; at most 1000.
template <class D>
i64 count_from(const D& ds, data::Position from) {
  auto it = ds.iterator(from);
  i64 n = 0;
  while (n < 1000 && it.next()) ++n;
  return n;
}

TEST_CASE("zip: with a stream, no input goes on behind its end") {
  const testing::TemporaryFolder folder;
  const data::TextLineDataset lines(folder.file("lines", "a\nb\nc\nd\ne\nf\ng\nh\n"));
  const auto pairs = data::zip(data::range(4), lines);
  const auto check_end = [](const auto& ds, i64 n) {
    auto it = ds.iterator();
    while (it.next()) {
    }
    CHECK(it.position() == data::Position{0, n});
    for (const i64 k : {n, n + 1, n + 3, i64{1000}}) CHECK(count_from(ds, {0, k}) == 0);
    CHECK(count_from(ds, {0, n - 1}) == 1);
  };
  check_end(pairs, 4);
  check_end(pairs.batch(3), 2);
  check_end(pairs.batch(3).prefetch(2), 2);
  check_end(data::zip(lines, data::range(4).shuffle().map([](i64 x) { return x; }, {.num_parallel_calls = 2})), 4);
  check_end(data::zip(lines, data::range(2).repeat(2).concatenate(data::range(1)).shard(2, 0)), 3);
  check_end(data::zip(pairs.take(3), stream(9)), 3);
  check_end(pairs.enumerate(), 4);
  check_end(lines.enumerate(), 8);
  check_end(stream(4).concatenate(stream(3)), 7);
  check_end(data::range(4).concatenate(stream(3)), 7);
  check_end(stream(4).skip(1).take(9).shard(2, 0), 2);
  check_end(stream(4).repeat(2), 8);
  check_end(stream(4).shuffle(3), 4);
}

TEST_CASE("choose_from_datasets: ends with its data sets") {
  const std::vector<data::Dataset<i64>> ends{data::range(2), data::range(10, 12)};
  const auto choice = data::range(2).repeat();
  // The default is TensorFlow's: the end of the first data set that ends.
  const std::vector<data::Dataset<i64>> uneven{data::range(1), data::range(10, 13)};
  CHECK(data::choose_from_datasets(uneven, choice).to_vector() == Longs{0, 10});
  CHECK(data::choose_from_datasets(uneven, choice, true).to_vector() == Longs{0, 10});
  CHECK(data::choose_from_datasets(uneven, choice, false).to_vector() == Longs{0, 10, 11, 12});
  // When all have ended, so does an infinite choice.
  const auto all = data::choose_from_datasets(ends, choice, false);
  CHECK(all.to_vector() == Longs{0, 10, 1, 11});
  CHECK(count_from(all, {0, 1}) == 3);
  CHECK(count_from(all, {0, 4}) == 0);
  CHECK(count_from(all, {0, 1000}) == 0);
  CHECK(all.shard(2, 1).to_vector() == Longs{10, 11});
  CHECK(all.skip(9).to_vector().empty());
  CHECK(all.batch(3).to_vector()[1].to_vector<i64>() == Longs{11});
  CHECK(data::choose_from_datasets(uneven, choice).batch(3).to_vector().size() == 1);
  CHECK_THROWS_AS(data::choose_from_datasets<i64>({}, choice), errors::InvalidArgumentError);
}

TEST_CASE("memory_limit: data sets of several others keep the least") {
  const auto limited = data::range(9).memory_limit(500), larger = data::range(9).memory_limit(900);
  const std::vector<data::Dataset<i64>> both{data::range(9), limited};
  CHECK(data::choose_from_datasets(both, data::range(2).repeat()).limit() == 500);
  CHECK(data::choose_from_datasets<i64>({larger, data::range(9)}, limited).limit() == 500);
  CHECK(stream(1).concatenate(limited).limit() == 500);
  CHECK(larger.concatenate(limited).limit() == 500);
  CHECK(limited.concatenate(stream(1)).limit() == 500);
  CHECK(stream(1).concatenate(stream(1)).limit() == 0);
  CHECK_THROWS_AS(stream(1).concatenate(data::range(200).memory_limit(100)).shuffle(200).to_vector(),
                  errors::ResourceExhaustedError);
}

TEST_CASE("repeat: goes on behind a repetition without elements") {
  const auto maybe = data::range(2).shuffle().take(1).filter([](i64 x) { return x == 1; });
  i64 ones = 0;
  for (i64 epoch = 0; epoch < 100; ++epoch)
    for (const i64 x : maybe.epoch(epoch)) ones += x;
  REQUIRE(ones > 30);
  REQUIRE(ones < 70);
  const auto all = maybe.repeat(100);
  CHECK(all.to_vector() == Longs(std::size_t(ones), 1));
  for (const i64 k : {i64{1}, ones / 2, ones - 1, ones, ones + 5})
    CHECK(count_from(all, {0, k}) == std::max<i64>(0, ones - k));
  CHECK(all.skip(3).shard(2, 0).to_vector().size() == static_cast<std::size_t>((ones - 3 + 1) / 2));
  // Without a count the first one that has no element is the end, as in TensorFlow, also in batches and on passing
  // over.
  const Longs endless = maybe.repeat().to_vector();
  CHECK(std::ssize(endless) < ones);
  i64 in_batches = 0;
  for (const Tensor& batch : maybe.repeat().batch(3)) in_batches += batch.shape()[0];
  CHECK(in_batches == std::ssize(endless));
  for (i64 k = 0; k < 12; ++k) CHECK(count_from(maybe.repeat(), {0, k}) == std::max<i64>(0, std::ssize(endless) - k));
  CHECK(stream(0).repeat().to_vector().empty());
  CHECK(stream(0).repeat().skip(4).to_vector().empty());
  CHECK(stream(0).repeat(5).to_vector().empty());
}

TEST_CASE("repeat within flat_map: repetitions have epochs of their own") {
  const auto ds = data::range(20).flat_map([](i64) { return data::range(30).shuffle().repeat(1'000'003).take(60); });
  std::set<Longs> orders;
  for (const Tensor& order : ds.batch(30)) orders.insert(order.to_vector<i64>());
  CHECK(orders.size() == 40);
}

TEST_CASE("Dataset: more than 2^63 - 1 elements raise") {
  const i64 many = i64{1} << 40, most = std::numeric_limits<i64>::max();
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { data::range(many).repeat(many); }),
             ContainsSubstring("repeat: 1099511627776 times 1099511627776 elements are more than 2^63 - 1"));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               const auto half = data::range(i64{1} << 62);
               half.concatenate(half);
             }),
             ContainsSubstring("concatenate: 4611686018427387904 and 4611686018427387904 elements are more than"));
  const auto largest = data::range(most);
  CHECK_THROWS_AS(data::sample_from_datasets<i64>({largest, largest}), errors::InvalidArgumentError);
  CHECK(data::sample_from_datasets<i64>({largest, largest}, {0, 1}).cardinality() == most);
  CHECK(data::sample_from_datasets<i64>({largest, largest, largest.repeat()}).cardinality() ==
        data::infinite_cardinality);
  CHECK(data::sample_from_datasets<i64>({largest, largest}, {}, {.stop_on_empty_dataset = true}).cardinality() ==
        data::unknown_cardinality);
  CHECK(largest.concatenate(data::range(0)).size() == most);
  CHECK(data::range(most / 7).repeat(7).size() == most / 7 * 7);
  CHECK(data::range(0).repeat(most).size() == 0);
  CHECK(data::range(most / 7).repeat(7).at(0, most / 7 * 7 - 1) == most / 7 - 1);
}

TEST_CASE("Dataset: elements beyond number 2^63 - 2 are behind the end, or raise") {
  constexpr i64 most = std::numeric_limits<i64>::max(), large = i64{1} << 62;
  const auto endless = data::range(10).repeat();
  const auto sum = [](const data::Dataset<i64>& window) {
    i64 r = 0;
    for (const i64 x : window) r += x;
    return r;
  };
  const auto in_lists = [](const auto& ds) { return ds.map([](i64 x) { return range(x); }).padded_batch(4); };
  const auto check_ends = [&](const auto& ds) {
    for (const i64 k : {large + 1, most - 1, most}) {
      INFO("element " << k);
      CHECK(count_from(ds.batch(4), {0, k}) == 0);
      CHECK(count_from(in_lists(ds), {0, k}) == 0);
      CHECK(count_from(ds.window(4).map(sum), {0, k}) == 0);
      CHECK(count_from(ds.window(2, {.shift = 4, .stride = large}).map(sum), {0, k}) == 0);
      CHECK(count_from(ds.skip(k).shard(4, 3), {0, k}) == 0);
      CHECK(count_from(ds.batch(4).skip(k).take(5), {0, 1}) == 0);
      CHECK(count_from(ds.skip(k).skip(k).skip(k), {0, 0}) == 0);
    }
    CHECK(count_from(ds, {0, most}) == 0);
  };
  check_ends(stream(100));
  // A data set without an end ends there, too; elements by number raise.
  const auto read = endless.filter([](i64) { return true; }).take(most);
  CHECK(count_from(endless.window(4).map(sum), {0, large + 1}) == 0);
  CHECK(count_from(endless.skip(large).skip(large), {0, most}) == 0);
  CHECK(count_from(read, {0, most}) == 0);
  const auto check_end = [](const auto& ds, i64 index) {
    CHECK_THAT(error_of<errors::OutOfRangeError>([&] { ds.at(0, index); }),
               ContainsSubstring("element " + std::to_string(index) + " is out of range") &&
                   ContainsSubstring("beyond element 2^63 - 2"));
    CHECK(count_from(ds, {0, index}) == 0);
  };
  check_end(endless.batch(4), large);
  check_end(in_lists(endless), large);
  check_end(endless.shard(4, 3), large);
  check_end(endless.skip(large), large);
  CHECK(endless.batch(4).at(0, large / 2 - 1).to_vector<i64>() == Longs{4, 5, 6});  // 2^63 - 4 to 2^63 - 2
  CHECK(endless.skip(large).at(0, large - 2) == (most - 1) % 10);
  // An iteration that gets there raises.
  auto batches = data::range(5).concatenate(endless).batch(2).iterator({0, large - 1});
  CHECK(batches.next()->to_vector<i64>() == Longs{(most - 1 - 5) % 10});
  CHECK_THROWS_AS(batches.next(), errors::OutOfRangeError);
  // Behind the last element of the largest data set.
  auto it = data::range(most).iterator({0, most});
  CHECK_FALSE(it.next());
  CHECK(it.position() == data::Position{0, most});
}

}  // namespace data_dataset_order_test
