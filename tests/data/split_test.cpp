// split and pad_sequences.
#include "tandem/data/split.hpp"

#include <algorithm>
#include <cmath>

#include "tandem/data/sequences.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_split_test {
using namespace tandem;
using testing::error_of;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<i64>;

Longs sorted(Longs x) {
  std::sort(x.begin(), x.end());
  return x;
}
Longs up_to(i64 n) { return range(n, {.dtype = int64}).to_vector<i64>(); }

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

}  // namespace data_split_test
