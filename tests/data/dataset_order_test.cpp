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

}  // namespace data_dataset_order_test
