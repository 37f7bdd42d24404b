// Data sets: sources, order, batches, positions; from_tensor_slices().shuffle().batch() as a training loop uses it.
#include "tandem/data/dataset_sources.hpp"

#include <algorithm>
#include <set>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/values.hpp"

namespace data_dataset_test {
using namespace tandem;
using testing::error_of;
using Longs = std::vector<i64>;

Longs numbers(i64 n) {
  Longs r;
  for (i64 i = 0; i < n; ++i) r.push_back(i);
  return r;
}
// All rows of the batches of an epoch, from batch `first` on.
Longs rows_in(const data::Dataset<Tensor>& batches, i64 epoch, i64 first = 0) {
  Longs r;
  for (const Tensor& x : batches.epoch(epoch, first))
    for (const i64 i : x.to_vector<i64>()) r.push_back(i);
  return r;
}
Longs sorted(Longs x) {
  std::sort(x.begin(), x.end());
  return x;
}
Longs sizes_of(const data::Dataset<Tensor>& batches) {
  Longs r;
  for (const Tensor& x : batches) r.push_back(x.shape()[0]);
  return r;
}

TEST_CASE("Dataset: every row once an epoch, in batches of 3, 3 and 2") {
  const auto rows = data::from_tensor_slices(range(8, {.dtype = int64})).shuffle();
  const auto batches = rows.batch(3);
  CHECK(batches.size() == 3);
  CHECK(rows.size() == 8);
  CHECK(sizes_of(batches) == Longs{3, 3, 2});
  CHECK(sorted(rows_in(batches, 0)) == numbers(8));
  const auto dropping = rows.batch(3, {.drop_remainder = true});
  CHECK(sizes_of(dropping) == Longs{3, 3});
  const Longs seen = rows_in(dropping, 0);
  CHECK(std::set<i64>(seen.begin(), seen.end()).size() == 6);
  CHECK(sizes_of(rows.batch(100)) == Longs{8});
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { rows.batch(100, {.drop_remainder = true}); }),
             ContainsSubstring("drop_remainder leaves no batch: there are 8 elements, and batch_size is 100"));
}

TEST_CASE("Dataset: orders are a function of seed and epoch") {
  const auto rows = data::from_tensor_slices(range(1000, {.dtype = int64}));
  const auto a = rows.shuffle({.seed = 7}).batch(64), same = rows.shuffle({.seed = 7}).batch(10);
  CHECK(rows_in(a, 3) == rows_in(same, 3));
  CHECK(rows_in(a, 3) != rows_in(a, 4));
  CHECK(rows_in(a, 3) != rows_in(rows.shuffle({.seed = 8}).batch(64), 3));
  CHECK(sorted(rows_in(a, 4)) == numbers(1000));
  CHECK(rows_in(rows.batch(32), 5) == numbers(1000));
  const auto fixed = rows.shuffle({.reshuffle_each_iteration = false}).batch(10);
  CHECK(rows_in(fixed, 0) == rows_in(fixed, 9));
}

TEST_CASE("Dataset: a loop over the data set itself is the next epoch, as in TensorFlow") {
  const auto ds = data::range(50).shuffle();
  std::vector<Longs> seen(3);
  for (Longs& epoch : seen)
    for (const i64 i : ds) epoch.push_back(i);
  for (i64 e = 0; e < 3; ++e) {
    Longs expected;
    for (const i64 i : ds.epoch(e)) expected.push_back(i);
    CHECK(seen[std::size_t(e)] == expected);
  }
  CHECK(seen[0] != seen[1]);
  CHECK(ds.to_vector() == seen[0]);
}

TEST_CASE("Dataset: training goes on in the middle of an epoch, and by steps") {
  const auto batches = data::from_tensor_slices(range(100, {.dtype = int64})).shuffle().batch(8);
  const Longs all = rows_in(batches, 2), rest = rows_in(batches, 2, 5);
  CHECK(rest == Longs(all.begin() + 40, all.end()));
  CHECK(rows_in(batches, 2, 13).empty());
  i64 step = 0;
  for (i64 epoch = 0; epoch < 3; ++epoch)
    for (const Tensor& batch : batches.epoch(epoch))
      CHECK(batches.at_step(step++).to_vector<i64>() == batch.to_vector<i64>());
  auto it = batches.iterator({1, 4});
  CHECK(it.position() == data::Position{1, 4});
  const auto element = it.next();
  REQUIRE(element);
  CHECK(element->to_vector<i64>() == batches.at(1, 4).to_vector<i64>());
  CHECK(it.position() == data::Position{1, 5});
  while (it.next()) {
  }
  CHECK(it.position() == data::Position{1, 13});
  CHECK(!it.next());
  CHECK(batches.position(27) == data::Position{2, 1});
}

TEST_CASE("Dataset: rows of several tensors stay together, of any dtype and shape") {
  const Tensor x = reshape(range(0, 60, 1, {.dtype = float32}), {10, 2, 3}), y = range(10, {.dtype = int64});
  const Tensor words = testing::numbered({10}, string, 0);
  const auto rows = data::from_tensor_slices({x, y, words}).shuffle();
  i64 seen = 0;
  for (auto& [a, b, c] : rows.batch(4).epoch(1)) {
    CHECK(a.shape() == Shape{b.shape()[0], 2, 3});
    for (i64 i = 0; i < b.size(); ++i, ++seen) {
      const i64 row = b.at<i64>({i});
      CHECK(a.at<float>({i, 1, 2}) == static_cast<float>(6 * row + 5));
      CHECK(testing::element(c, i) == "element " + std::to_string(row));
    }
  }
  CHECK(seen == 10);
  // Element by element the same rows, stacked by a stream's batch.
  const auto stream = rows.filter([](auto&...) { return true; }).batch(4);
  const auto indexed = rows.batch(4);
  i64 i = 0;
  for (auto& [a, b, c] : stream.epoch(1)) {
    const auto [ra, rb, rc] = indexed.at(1, i++);
    CHECK(a.to_vector<float>() == ra.to_vector<float>());
    CHECK(b.to_vector<i64>() == rb.to_vector<i64>());
    CHECK(c.to_vector<std::string>() == rc.to_vector<std::string>());
  }
  CHECK(i == 3);
}

TEST_CASE("Dataset: rows in order are views, batches are on the device of the tensors") {
  const Tensor x = range(10, {.dtype = int64});
  CHECK(data::from_tensor_slices(x).batch(4).at(0, 1).raw() == static_cast<const char*>(x.raw()) + 4 * sizeof(i64));
  const sim::Installed installed;
  const auto away = data::from_tensor_slices(x.to(sim::device)).shuffle().batch(4);
  const auto home = data::from_tensor_slices(x).shuffle().batch(4);
  CHECK(away.at_step(0).device() == sim::device);
  CHECK(away.at_step(1).cpu().to_vector<i64>() == home.at_step(1).to_vector<i64>());
  const auto stream = data::from_tensor_slices(x.to(sim::device)).filter([](const Tensor&) { return true; }).batch(4);
  CHECK(stream.to_vector()[2].cpu().to_vector<i64>() == Longs{8, 9});
}

Tensor y_of(i64 i) { return fill({2}, static_cast<float>(i)); }

struct Example {
  Tensor image, label;
};
struct Pair {
  Example first;
  Tensor weight;
};

TEST_CASE("Dataset: elements are structs, tuples, maps, numbers, texts") {
  const Tensor x = reshape(range(0, 12, 1, {.dtype = float32}), {6, 2}), y = range(6, {.dtype = int64});
  for (const Example& e : data::from_tensor_slices(Example{x, y}).batch(4).epoch(0)) {
    CHECK(e.image.shape() == Shape{e.label.shape()[0], 2});
  }
  const auto nested = data::from_tensor_slices(Pair{{x, y}, y * 2}).shuffle().batch(6).at(0, 0);
  CHECK((nested.first.label * 2).to_vector<i64>() == nested.weight.to_vector<i64>());
  const std::map<std::string, Tensor> named{{"x", x}, {"y", y}};
  const auto maps = data::from_tensor_slices(named).map([](std::map<std::string, Tensor> m) { return m; }).batch(6);
  CHECK(maps.at(0, 0).at("x").to_vector<float>() == x.to_vector<float>());
  const auto mixed = data::range(4).map([](i64 i) {
    return std::tuple(static_cast<float>(i) / 2, "word " + std::to_string(i), i % 2 == 0, std::pair(y_of(i), i));
  });
  const auto [half, word, even, pair] = mixed.batch(4).at(0, 0);
  CHECK(half.to_vector<float>() == std::vector<float>{0, .5f, 1, 1.5f});
  CHECK(word.to_vector<std::string>() == std::vector<std::string>{"word 0", "word 1", "word 2", "word 3"});
  CHECK(even.dtype() == bool_);
  CHECK(pair.first.shape() == Shape{4, 2});
  CHECK(pair.second.to_vector<i64>() == numbers(4));
  const auto own = data::from_items(std::vector<std::vector<int>>{{1}, {2, 3}});  // any type, without batch
  CHECK(own.to_vector()[1] == std::vector<int>{2, 3});
}

TEST_CASE("Dataset: order and choice by number") {
  const auto ds = data::range(10);
  CHECK(ds.take(3).to_vector() == Longs{0, 1, 2});
  CHECK(ds.take(99).size() == 10);
  CHECK(ds.skip(8).to_vector() == Longs{8, 9});
  CHECK(ds.skip(11).size() == 0);
  CHECK(ds.skip(11).to_vector().empty());
  CHECK(ds.shard(3, 1).to_vector() == Longs{1, 4, 7});
  CHECK(ds.shard(3, 0).size() == 4);
  CHECK(ds.skip(2).take(5).shard(2, 1).to_vector() == Longs{3, 5});
  CHECK(ds.take(2).repeat(3).to_vector() == Longs{0, 1, 0, 1, 0, 1});
  CHECK(ds.take(2).repeat(0).to_vector().empty());
  CHECK(ds.repeat().cardinality() == data::infinite_cardinality);
  CHECK(ds.repeat().skip(25).take(3).to_vector() == Longs{5, 6, 7});
  CHECK(data::Dataset<i64>().repeat().to_vector().empty());
  CHECK(ds.take(2).concatenate(ds.skip(8)).to_vector() == Longs{0, 1, 8, 9});
  CHECK(data::zip(ds, ds.skip(7)).size() == 3);
  CHECK(ds.skip(8).enumerate(5).to_vector() == std::vector<std::tuple<i64, i64>>{{5, 8}, {6, 9}});
  CHECK(data::range(5, -6, -3).to_vector() == Longs{5, 2, -1, -4});
  CHECK(data::range(3, 3).size() == 0);
  const i64 large = std::numeric_limits<i64>::max();
  CHECK(data::range(-large, large, large).size() == 2);
  CHECK_THROWS_AS(data::range(-large, large), errors::InvalidArgumentError);
  CHECK(data::from_function(3, [](i64 i) { return i * i; }).to_vector() == Longs{0, 1, 4});
  CHECK(data::from_tensors(Longs{1, 2}).size() == 1);
}

TEST_CASE("Dataset: repetitions of a shuffled data set have orders of their own, those of the epochs") {
  const auto ds = data::range(20).shuffle();
  const Longs twice = ds.repeat(2).to_vector();
  const Longs first(twice.begin(), twice.begin() + 20), second(twice.begin() + 20, twice.end());
  CHECK(sorted(first) == numbers(20));
  CHECK(sorted(second) == numbers(20));
  CHECK(first != second);
  Longs third;
  for (const i64 i : ds.repeat(2).epoch(1)) third.push_back(i);
  CHECK(Longs(third.begin(), third.begin() + 20) != first);
  // Batches that straddle repetitions.
  CHECK(rows_in(ds.repeat(2).batch(7), 0) == twice);
}

TEST_CASE("Dataset: shuffle with a buffer moves elements by about its size; a large one is a permutation") {
  const auto stream = data::range(1000).filter([](i64) { return true; });
  const Longs near = stream.shuffle(10).to_vector();
  CHECK(sorted(near) == numbers(1000));
  CHECK(near != numbers(1000));
  for (std::size_t i = 0; i < 1000; ++i) CHECK(near[i] < static_cast<i64>(i) + 10);  // from the buffer then
  CHECK(stream.shuffle(1).to_vector() == numbers(1000));
  CHECK(data::range(1000).shuffle(1000).is_indexed());
  CHECK(data::range(1000).shuffle(1000).to_vector() == data::range(1000).shuffle().to_vector());
  CHECK(!data::range(1000).shuffle(999).is_indexed());
  CHECK(stream.shuffle(5000, {.seed = 3}).to_vector() != stream.shuffle(5000, {.seed = 4}).to_vector());
  Longs epoch1;
  for (const i64 i : stream.shuffle(10).epoch(1)) epoch1.push_back(i);
  CHECK(epoch1 != near);
  // The first element is any of the buffer with equal probability.
  std::vector<int> first(8);
  for (i64 e = 0; e < 800; ++e)
    for (const i64 i : stream.take(100).shuffle(8).take(1).epoch(e)) ++first[std::size_t(i)];
  for (const int n : first) CHECK(std::abs(n - 100) < 50);
}

TEST_CASE("Dataset: parts of a split have every element once") {
  const auto [train, test, rest] = data::split(data::range(101), {0.7, 0.2, 0.1}, {.seed = 4});
  CHECK(train.size() == 71);
  CHECK(rest.size() == 10);
  Longs all = train.to_vector();
  for (const auto& part : {test, rest})
    for (const i64 i : part.to_vector()) all.push_back(i);
  CHECK(sorted(all) == numbers(101));
  CHECK(train.to_vector() != numbers(71));
  Longs later;
  for (const i64 i : train.epoch(5)) later.push_back(i);
  CHECK(later == train.to_vector());
  CHECK(data::split(data::range(10), {0.5, 0.5}, {.shuffle = false})[1].to_vector() == Longs{5, 6, 7, 8, 9});
  CHECK_THROWS_AS(data::split(data::range(10), {0.5, 0.6}), errors::InvalidArgumentError);
}

TEST_CASE("Dataset: parts of a split keep their elements, whatever is shuffled before it") {
  const auto in_epoch = [](const data::Dataset<i64>& part, i64 epoch) {
    Longs r;
    for (const i64 i : part.epoch(epoch)) r.push_back(i);
    return r;
  };
  const auto all = data::range(10).shuffle();
  REQUIRE(in_epoch(all, 0) != in_epoch(all, 1));
  for (const bool again : {false, true}) {
    const auto [train, test] = data::split(all, {.5, .5}, {.shuffle = again});
    const Longs held_out = in_epoch(test, 0), rows = in_epoch(train, 0);
    CHECK(sorted([&] {
            Longs both = rows;
            both.insert(both.end(), held_out.begin(), held_out.end());
            return both;
          }()) == numbers(10));
    for (i64 e = 1; e < 6; ++e) {
      CHECK(in_epoch(test, e) == held_out);
      CHECK(in_epoch(train, e) == rows);
      CHECK(sorted(in_epoch(train.shuffle(), e)) == sorted(rows));
      CHECK(train.at(e, 1) == rows[1]);
      CHECK(train.batch(2).at(e, 1).to_vector<i64>() == Longs{rows[2], rows[3]});
    }
    CHECK(in_epoch(train.shuffle(), 0) != in_epoch(train.shuffle(), 1));
    Longs repeated = rows;
    repeated.insert(repeated.end(), rows.begin(), rows.end());
    CHECK(train.repeat(2).to_vector() == repeated);
  }
}

TEST_CASE("Dataset: wrong arguments raise") {
  const Tensor x = zeros({10, 2}), y = zeros({9});
  const auto message = [](auto&& f) { return error_of<errors::InvalidArgumentError>(f); };
  CHECK_THAT(message([&] {
               data::from_tensor_slices({x, y});
             }),
             ContainsSubstring(
                 "from_tensor_slices: the tensors have different numbers of rows: float32[10,2] and float32[9]"));
  CHECK_THAT(message([&] { data::from_tensor_slices(constant(1.f)); }),
             ContainsSubstring("a tensor has no rows: float32[]"));
  const auto rows = data::from_tensor_slices(x);
  CHECK_THAT(message([&] { rows.batch(0); }), ContainsSubstring("batch: batch_size must be at least 1, but is 0"));
  CHECK_THAT(message([&] { rows.take(-1); }), ContainsSubstring("take: n must be at least 0"));
  CHECK_THAT(message([&] { rows.shard(2, 2); }), ContainsSubstring("shard: index must be in [0, 2), but is 2"));
  CHECK_THAT(message([&] { rows.repeat(-2); }), ContainsSubstring("repeat: count"));
  CHECK_THAT(message([&] { rows.prefetch(0); }), ContainsSubstring("data::autotune"));
  CHECK_THAT(message([&] { rows.shuffle(0); }), ContainsSubstring("buffer_size must be at least 1"));
  CHECK_THAT(message([&] { rows.repeat().shuffle(); }), ContainsSubstring("give a buffer_size"));
  CHECK_THAT(message([&] { data::range(0, 3, 0); }), ContainsSubstring("step must not be 0"));
  CHECK_THROWS_AS(data::from_tensor_slices(Tensor()), errors::OpError);
  const auto batches = rows.batch(4);
  CHECK_THAT(error_of<errors::OutOfRangeError>([&] { batches.at(0, 3); }),
             ContainsSubstring("there is no element 3 in an epoch of 3"));
  CHECK_THROWS_AS(batches.at(0, -1), errors::OutOfRangeError);
  CHECK_THROWS_AS(batches.at_step(-1), errors::OutOfRangeError);
  CHECK_THROWS_AS(batches.epoch(-1), errors::OutOfRangeError);
  CHECK_THROWS_AS(batches.epoch(0, 4), errors::OutOfRangeError);
  const auto none = data::from_tensor_slices(zeros({0, 2})).shuffle().batch(3);
  CHECK(none.size() == 0);
  for (const Tensor& batch : none) FAIL(to_string(batch));
  CHECK_THROWS_AS(none.at_step(0), errors::OutOfRangeError);
  const auto stream = data::range(3).filter([](i64) { return true; });
  CHECK(stream.cardinality() == data::unknown_cardinality);
  CHECK_THROWS_AS(stream.size(), errors::FailedPreconditionError);
  CHECK_THROWS_AS(stream.at(0, 0), errors::FailedPreconditionError);
  CHECK_THROWS_AS(rows.repeat().size(), errors::FailedPreconditionError);
}

TEST_CASE("Dataset: inside a traced function they raise, where one element would be kept") {
  const auto batches = data::from_tensor_slices(zeros({10, 2})).batch(2);
  const auto f = function([&] { return reduce_sum(batches.at_step(0)); });
  CHECK_THAT(error_of<errors::TraceError>([&] { f(); }), ContainsSubstring("pass elements as arguments"));
  const auto loop = function([&] {
    Tensor sum = zeros({2});
    for (const Tensor& batch : batches) sum = sum + reduce_sum(batch, 0);
    return sum;
  });
  CHECK_THROWS_AS(loop(), errors::TraceError);
  const auto traced = function([](const Tensor& x) { return data::from_tensor_slices(x).size(), x; });
  CHECK_THROWS_AS(traced(zeros({3})), errors::TraceError);
}

TEST_CASE("Dataset: the gradient reaches the rows") {
  const Tensor x = reshape(range(0, 6, 1, {.dtype = float32}), {6, 1});
  GradientTape tape;
  tape.watch(x);
  const Tensor batch = data::from_tensor_slices(x).shuffle().batch(2).at_step(0);
  const Tensor g = tape.gradient(reduce_sum(batch * 3.f), x);
  std::vector<float> expected(6);
  for (const float row : batch.to_vector<float>()) expected[static_cast<std::size_t>(row)] = 3;
  CHECK(g.to_vector<float>() == expected);
}

}  // namespace data_dataset_test
