// Batches, split and pad_sequences.
#include "tandem/data/batches.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "tandem/autodiff/tape.hpp"
#include "tandem/data/sequences.hpp"
#include "tandem/data/split.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sim.hpp"
#include "tests/support/values.hpp"

namespace data_batches_test {
using namespace tandem;
using testing::error_of;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<i64>;

// All rows of the batches of an epoch, from batch `first` on.
Longs rows_in(const data::Batches<1>& batches, i64 epoch, i64 first = 0) {
  Longs r;
  for (const Tensor& x : batches.epoch(epoch, first))
    for (const i64 i : x.to_vector<i64>()) r.push_back(i);
  return r;
}
Longs sorted(Longs x) {
  std::sort(x.begin(), x.end());
  return x;
}
Longs up_to(i64 n) { return range(n, {.dtype = int64}).to_vector<i64>(); }
Longs sizes_of(const data::Batches<1>& batches) {
  Longs r;
  for (const Tensor& x : batches.epoch(0)) r.push_back(x.shape()[0]);
  return r;
}

TEST_CASE("Batches: every row once an epoch, in batches of 3, 3 and 2") {
  const Tensor x = range(8, {.dtype = int64});
  const data::Batches batches(x, {.batch_size = 3});
  CHECK(batches.size() == 3);
  CHECK(batches.rows() == 8);
  CHECK(sizes_of(batches) == Longs{3, 3, 2});
  CHECK(sorted(rows_in(batches, 0)) == up_to(8));
  const data::Batches dropping(x, {.batch_size = 3, .drop_remainder = true});
  CHECK(sizes_of(dropping) == Longs{3, 3});
  const Longs rows = rows_in(dropping, 0);
  CHECK(std::set<i64>(rows.begin(), rows.end()).size() == 6);
  CHECK(sizes_of(data::Batches(x, {.batch_size = 100})) == Longs{8});
}

TEST_CASE("Batches: orders are a function of seed and epoch") {
  const Tensor x = range(1000, {.dtype = int64});
  const data::Batches batches(x, {.batch_size = 64, .seed = 7}), same(x, {.batch_size = 10, .seed = 7}),
      other(x, {.seed = 8});
  CHECK(rows_in(batches, 3) == rows_in(same, 3));
  CHECK(rows_in(batches, 3) != rows_in(batches, 4));
  CHECK(rows_in(batches, 3) != rows_in(other, 3));
  CHECK(sorted(rows_in(batches, 4)) == up_to(1000));
  CHECK(rows_in(data::Batches(x, {.shuffle = false}), 5) == up_to(1000));
}

TEST_CASE("Batches: training goes on in the middle of an epoch, and by steps") {
  const Tensor x = range(100, {.dtype = int64});
  const data::Batches batches(x, {.batch_size = 8});
  const Longs all = rows_in(batches, 2), rest = rows_in(batches, 2, 5);
  CHECK(rest == Longs(all.begin() + 40, all.end()));
  CHECK(rows_in(batches, 2, 13).empty());
  i64 step = 0;
  for (i64 epoch = 0; epoch < 3; ++epoch)
    for (const Tensor& batch : batches.epoch(epoch))
      CHECK(batches.batch(step++).to_vector<i64>() == batch.to_vector<i64>());
  const auto epoch = batches.epoch(0, 4);
  CHECK(epoch.begin().index() == 4);
}

TEST_CASE("Batches: rows of several tensors stay together, of any dtype and shape") {
  const Tensor x = reshape(range(0, 60, 1, {.dtype = float32}), {10, 2, 3}), y = range(10, {.dtype = int64});
  Tensor words = testing::numbered({10}, string, 0);
  const data::Batches batches({x, y, words}, {.batch_size = 4});
  i64 rows = 0;
  for (auto [a, b, c] : batches.epoch(1)) {
    CHECK(a.shape() == Shape{b.shape()[0], 2, 3});
    for (i64 i = 0; i < b.size(); ++i, ++rows) {
      const i64 row = b.at<i64>({i});
      CHECK(a.at<float>({i, 1, 2}) == static_cast<float>(6 * row + 5));
      CHECK(testing::element(c, i) == "element " + std::to_string(row));
    }
  }
  CHECK(rows == 10);
  const auto [first_x, first_y, first_word] = batches.batch(0);
  CHECK(first_x.dtype() == float32);
  CHECK(first_word.size() == first_y.size());
}

TEST_CASE("Batches: rows in order are views, batches are on the device of the tensors") {
  const Tensor x = range(10, {.dtype = int64});
  const data::Batches batches(x, {.batch_size = 4, .shuffle = false});
  CHECK(batches.batch(0, 1).raw() == static_cast<const char*>(x.raw()) + 4 * sizeof(i64));
  const sim::Installed installed;
  const data::Batches away(x.to(sim::device), {.batch_size = 4});
  const data::Batches home(x, {.batch_size = 4});
  CHECK(away.batch(0).device() == sim::device);
  CHECK(away.batch(1).cpu().to_vector<i64>() == home.batch(1).to_vector<i64>());
}

TEST_CASE("Batches: wrong arguments raise") {
  const Tensor x = zeros({10, 2}), y = zeros({9});
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               data::Batches({x, y});
             }),
             ContainsSubstring("Batches: the tensors have different numbers of rows: float32[10,2] and float32[9]"));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { data::Batches b(constant(1.f)); }),
             ContainsSubstring("a tensor has no rows: float32[]"));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { data::Batches b(x, {.batch_size = 0}); }),
             ContainsSubstring("batch_size must be at least 1, but is 0"));
  CHECK_THAT(
      error_of<errors::InvalidArgumentError>([&] { data::Batches b(x, {.batch_size = 11, .drop_remainder = true}); }),
      ContainsSubstring("drop_remainder leaves no batch: there are 10 rows, and batch_size is 11"));
  CHECK_THROWS_AS(data::Batches(Tensor()), errors::OpError);
  const data::Batches batches(x, {.batch_size = 4});
  CHECK_THAT(error_of<errors::OutOfRangeError>([&] { batches.batch(0, 3); }),
             ContainsSubstring("there is no batch 3 in an epoch of 3"));
  CHECK_THROWS_AS(batches.batch(0, -1), errors::OutOfRangeError);
  CHECK_THROWS_AS(batches.batch(-1), errors::OutOfRangeError);
  CHECK_THROWS_AS(batches.epoch(-1), errors::OutOfRangeError);
  CHECK_THROWS_AS(batches.epoch(0, 4), errors::OutOfRangeError);
  const data::Batches none(zeros({0, 2}));
  CHECK(none.size() == 0);
  for (const Tensor& batch : none.epoch(0)) FAIL(to_string(batch));
  CHECK_THROWS_AS(none.batch(0), errors::OutOfRangeError);
}

TEST_CASE("Batches: inside a traced function they raise, where one batch would be kept") {
  const data::Batches batches(zeros({10, 2}));
  const auto f = function([&] { return reduce_sum(batches.batch(0)); });
  CHECK_THAT(error_of<errors::TraceError>([&] { f(); }), ContainsSubstring("pass them as arguments"));
  const auto traced = function([](const Tensor& x) { return data::Batches(x).size(), x; });
  CHECK_THROWS_AS(traced(zeros({3})), errors::TraceError);
}

TEST_CASE("Batches: their gradient reaches the rows") {
  const Tensor x = reshape(range(0, 6, 1, {.dtype = float32}), {6, 1});
  GradientTape tape;
  tape.watch(x);
  const data::Batches batches(x, {.batch_size = 2});
  const Tensor batch = batches.batch(0);
  const Tensor g = tape.gradient(reduce_sum(batch * 3.f), x);
  std::vector<float> expected(6);
  for (const float row : batch.to_vector<float>()) expected[static_cast<std::size_t>(row)] = 3;
  CHECK(g.to_vector<float>() == expected);
}

TEST_CASE("split: parts do not overlap and leave no row out") {
  const auto [a, b, c] = data::split(101, {0.7, 0.2, 0.1}, {.seed = 4});
  CHECK(a.spec() == Spec{{71}, int64, {}});
  CHECK(b.shape() == Shape{20});
  CHECK(c.shape() == Shape{10});
  CHECK(sorted(concat({a, b, c}, 0).to_vector<i64>()) == up_to(101));
  CHECK(a.to_vector<i64>() != up_to(71));
  CHECK(std::get<0>(data::split(101, {0.7, 0.2, 0.1}, {.seed = 4})).to_vector<i64>() == a.to_vector<i64>());
  CHECK(std::get<0>(data::split(101, {0.7, 0.3}, {.seed = 5})).to_vector<i64>() != a.to_vector<i64>());
  const auto [in_order, rest] = data::split(10, {0.5, 0.25}, {.shuffle = false});
  CHECK(in_order.to_vector<i64>() == up_to(5));
  CHECK(rest.to_vector<i64>() == Longs{5, 6, 7});
  CHECK(data::split(7, {.1, .2, .3, .4})[3].size() + data::split(7, {.6})[0].size() == 7);
  CHECK(data::split(0, {0.5, 0.5})[1].size() == 0);
}

TEST_CASE("split: rows of tensors stay together") {
  const Tensor y = range(10, {.dtype = int64}), x = reshape(cast(y, float32) * 2.f, {10, 1});
  const auto [train, test] = data::split({x, y}, {0.8, 0.2});
  const auto [train_x, train_y] = train;
  CHECK(train_x.shape() == Shape{8, 1});
  for (i64 i = 0; i < 8; ++i) CHECK(train_x.at<float>({i, 0}) == 2.f * static_cast<float>(train_y.at<i64>({i})));
  CHECK(sorted(concat({train_y, test[1]}, 0).to_vector<i64>()) == up_to(10));
  const auto [one, two] = data::split(y, {0.5, 0.5});
  CHECK(sorted(concat({one, two}, 0).to_vector<i64>()) == up_to(10));
  CHECK(data::Batches(train, {.batch_size = 3}).rows() == 8);
}

TEST_CASE("split: wrong fractions and tensors raise") {
  CHECK_THAT(error_of<errors::InvalidArgumentError>([] {
               data::split(10, {0.8, 0.3});
             }),
             ContainsSubstring("split: fractions must be above 0 and have a sum of at most 1"));
  CHECK_THROWS_AS(data::split(10, {0.5, 0.}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::split(10, {-0.5, 1.}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::split(10, {std::nan(""), .5}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::split(-1, {.5, .5}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::split({zeros({3}), zeros({4})}, {.5, .5}), errors::InvalidArgumentError);
}

TEST_CASE("pad_sequences: values of Keras") {
  const std::vector<Ints> lists{{1}, {2, 3}, {4, 5, 6}};
  const auto [padded, lengths] = data::pad_sequences(lists);
  CHECK(padded.spec() == Spec{{3, 3}, int32, {}});
  CHECK(padded.to_vector<std::int32_t>() == Ints{0, 0, 1, 0, 2, 3, 4, 5, 6});
  CHECK(lengths.to_vector<std::int32_t>() == Ints{1, 2, 3});
  const auto numbers = [&](data::PadSequencesOptions o) {
    return data::pad_sequences(lists, o).sequences.to_vector<std::int32_t>();
  };
  CHECK(numbers({.value = -1}) == Ints{-1, -1, 1, -1, 2, 3, 4, 5, 6});
  CHECK(numbers({.padding = data::Side::post}) == Ints{1, 0, 0, 2, 3, 0, 4, 5, 6});
  CHECK(numbers({.maxlen = 2}) == Ints{0, 1, 2, 3, 5, 6});
  CHECK(numbers({.maxlen = 2, .truncating = data::Side::post}) == Ints{0, 1, 2, 3, 4, 5});
  CHECK(data::pad_sequences(lists, {.maxlen = 2}).lengths.to_vector<std::int32_t>() == Ints{1, 2, 2});
  CHECK(data::pad_sequences({}).sequences.shape() == Shape{0, 0});
  CHECK(data::pad_sequences({{}, {}}, {.maxlen = 2, .value = 9}).sequences.to_vector<std::int32_t>() ==
        Ints{9, 9, 9, 9});
  CHECK(data::pad_sequences(lists, {.maxlen = 0}).sequences.shape() == Shape{3, 0});
  CHECK_THROWS_AS(data::pad_sequences(lists, {.maxlen = -1}), errors::InvalidArgumentError);
}

}  // namespace data_batches_test
