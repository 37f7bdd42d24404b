// Ragged and Dataset::ragged_batch. Values that TensorFlow 2.21's RaggedTensor gives, unless something else is said.
#include "tandem/data/ragged.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/values.hpp"

namespace data_ragged_test {
using namespace tandem;
using data::Ragged;
using testing::error_of;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<i64>;
using Words = std::vector<std::string>;

const Tensor digits = constant({3, 1, 4, 1, 5, 9, 2, 6});
Longs longs(const Tensor& t) { return t.to_vector<i64>(); }
Ints ints(const Tensor& t) { return t.to_vector<std::int32_t>(); }

TEST_CASE("Ragged: from splits, lengths, and a padded batch; what it is asked") {
  // tf.RaggedTensor.from_row_splits([3, 1, 4, 1, 5, 9, 2, 6], [0, 4, 4, 7, 8, 8]) of TensorFlow's documentation.
  const Ragged r = Ragged::from_row_splits(digits, constant({0, 4, 4, 7, 8, 8}));
  CHECK(r.row_splits.dtype() == int64);
  CHECK(r.nrows() == 5);
  CHECK(longs(r.row_lengths()) == Longs{4, 0, 3, 1, 0});
  CHECK(longs(r.value_rowids()) == Longs{0, 0, 0, 0, 2, 2, 2, 3});
  CHECK(ints(r[0]) == Ints{3, 1, 4, 1});
  CHECK(ints(r[2]) == Ints{5, 9, 2});
  CHECK(r[-1].shape() == Shape{0});
  CHECK(ints(r.to_tensor()) == Ints{3, 1, 4, 1, 0, 0, 0, 0, 5, 9, 2, 0, 6, 0, 0, 0, 0, 0, 0, 0});
  CHECK(r.to_tensor().shape() == Shape{5, 4});
  CHECK(ints(r.to_tensor({.default_value = constant(-1), .maxlen = 2})) == Ints{3, 1, -1, -1, 5, 9, 6, -1, -1, -1});
  CHECK(ints(r.to_tensor({.maxlen = 6})(2)) == Ints{5, 9, 2, 0, 0, 0});
  const Ragged same = Ragged::from_row_lengths(digits, constant(Longs{4, 0, 3, 1, 0}));
  CHECK(longs(same.row_splits) == longs(r.row_splits));
  const Ragged back = Ragged::from_tensor(r.to_tensor(), r.row_lengths());
  CHECK(ints(back.values) == ints(r.values));
  CHECK(longs(back.row_splits) == longs(r.row_splits));
}
TEST_CASE("Ragged: inner axes, every dtype, no rows and no values") {
  for (const DType dtype : testing::moved_dtypes) {
    const Tensor values = testing::numbered({5, 2}, dtype);
    const Ragged r = Ragged::from_row_splits(values, constant({0, 2, 2, 5}));
    const Tensor padded = r.to_tensor();
    REQUIRE(padded.spec() == Spec{{3, 3, 2}, dtype, {}});
    for (i64 k = 0; k < 4; ++k) CHECK(testing::element(padded, k) == testing::element(values, k));
    for (i64 k = 0; k < 6; ++k) CHECK(testing::element(padded, 12 + k) == testing::element(values, 4 + k));
    const Ragged back = Ragged::from_tensor(padded, constant({2, 0, 3}));
    REQUIRE(back.values.spec() == values.spec());
    for (i64 k = 0; k < 10; ++k) CHECK(testing::element(back.values, k) == testing::element(values, k));
  }
  const Ragged words = Ragged::from_row_lengths(constant(Words{"a", "b", "c"}), constant({1, 2}));
  CHECK(words.to_tensor().to_vector<std::string>() == Words{"a", "", "b", "c"});
  CHECK(words.to_tensor({.default_value = constant("-")}).to_vector<std::string>() == Words{"a", "-", "b", "c"});
  const Ragged none = Ragged::from_row_lengths(zeros({0, 3}), zeros({0}, int64));
  CHECK(none.nrows() == 0);
  CHECK(none.to_tensor().shape() == Shape{0, 0, 3});
  CHECK(Ragged::from_row_lengths(zeros({0, 3}), constant({0, 0})).to_tensor().shape() == Shape{2, 0, 3});
  CHECK(Ragged::from_row_lengths(zeros({0}), constant({0, 0})).to_tensor({.maxlen = 2}).shape() == Shape{2, 2});
}
TEST_CASE("Ragged: gradients, and in a traced function with rows of any length") {
  const Tensor x = constant({1.f, 2.f, 3.f}), c = constant({{1.f, 10.f, 100.f}, {2.f, 20.f, 200.f}});
  GradientTape tape;
  tape.watch(x);
  const Ragged r = Ragged::from_row_lengths(x, constant({1, 2}));
  const Tensor loss = reduce_sum(r.to_tensor({.maxlen = 3}) * c);
  CHECK(tape.gradient(loss, x).to_vector<float>() == std::vector<float>{1, 2, 20});

  int traces = 0;
  const auto f = function(
      [&](const Ragged& in) {
        ++traces;
        const Tensor padded = in.to_tensor();
        const Ragged again = Ragged::from_tensor(padded, in.row_lengths());
        return std::pair(padded, Ragged{2.f * again.values, again.row_splits});
      },
      {.input_signature = {{{none}, float32, {}}, {{none}, int64, {}}}});
  for (const Longs& lengths : {Longs{1, 2}, Longs{0, 3, 1, 0}, Longs{5}}) {
    i64 n = 0;
    for (const i64 l : lengths) n += l;
    const Ragged in = Ragged::from_row_lengths(range(static_cast<float>(n)), constant(lengths));
    const auto [padded, doubled] = f(in);
    CHECK(padded.to_vector<float>() == in.to_tensor().to_vector<float>());
    CHECK(doubled.values.to_vector<float>() == (2.f * in.values).to_vector<float>());
    CHECK(longs(doubled.row_splits) == longs(in.row_splits));
  }
  CHECK(traces == 1);
}
TEST_CASE("Ragged: what does not fit raises") {
  const auto splits = [](const Tensor& values, const Tensor& s) {
    return error_of<errors::InvalidArgumentError>([&] { Ragged::from_row_splits(values, s); });
  };
  CHECK_THAT(splits(digits, constant({1, 8})), ContainsSubstring("begin with 0"));
  CHECK_THAT(splits(digits, zeros({0}, int64)), ContainsSubstring("begin with 0"));
  CHECK_THAT(splits(digits, constant({0, 5, 3, 8})), ContainsSubstring("descend from 5 to 3 at 2"));
  CHECK_THAT(splits(digits, constant({0, 7})), ContainsSubstring("end at 7, the values are int32[8]"));
  CHECK_THAT(splits(digits, constant({0.f, 8.f})), ContainsSubstring("int32 or int64"));
  CHECK_THAT(splits(constant(3), constant({0})), ContainsSubstring("must have rows"));
  const Ragged r = Ragged::from_row_lengths(digits, constant({8}));
  CHECK_THROWS_WITH(r[1], ContainsSubstring("row 1 is out of range for 1 rows"));
  CHECK_THROWS_WITH(Ragged::from_row_lengths(digits, constant({9, -1})), ContainsSubstring("descend"));
  CHECK_THROWS_WITH(Ragged::from_tensor(zeros({2, 3}), constant({1, 4})), ContainsSubstring("length 4 of row 1"));
  CHECK_THROWS_WITH(Ragged::from_tensor(zeros({2, 3}), constant({1})), ContainsSubstring("not those of the rows"));
  CHECK_THROWS_WITH(Ragged::from_tensor(zeros({2}), constant({1, 1})), ContainsSubstring("not those of the rows"));
}

TEST_CASE("ragged_batch: tensors, pairs, numbers and texts; indexed and as a stream") {
  const auto lengths = data::range(7).map([](i64 i) { return fill({i % 4}, static_cast<std::int32_t>(i)); });
  for (const auto& ds : {lengths, lengths.filter([](const Tensor&) { return true; })}) {
    const std::vector<Ragged> batches = ds.ragged_batch(3).to_vector();
    REQUIRE(batches.size() == 3);
    CHECK(ints(batches[0].values) == Ints{1, 2, 2});
    CHECK(longs(batches[0].row_splits) == Longs{0, 0, 1, 3});
    CHECK(ints(batches[1].values) == Ints{3, 3, 3, 5});
    CHECK(longs(batches[1].row_splits) == Longs{0, 3, 3, 4});
    CHECK(longs(batches[2].row_splits) == Longs{0, 2});
    CHECK(ds.ragged_batch(3, {.drop_remainder = true}).to_vector().size() == 2);
  }
  CHECK(lengths.ragged_batch(3).is_indexed());
  CHECK(ints(lengths.ragged_batch(3).at(0, 1).values) == Ints{3, 3, 3, 5});
  const auto examples = data::range(4).map([](i64 i) {
    return std::tuple(fill({i, 2}, 1.f), constant(i), i, std::array{std::string(static_cast<std::size_t>(i), 'x')});
  });
  const auto [x, label, number, text] = examples.ragged_batch(4).at(0, 0);
  CHECK(x.values.shape() == Shape{6, 2});
  CHECK(longs(x.row_lengths()) == Longs{0, 1, 2, 3});
  CHECK(longs(label.values) == Longs{0, 1, 2, 3});
  CHECK(longs(label.row_splits) == Longs{0, 1, 2, 3, 4});
  CHECK(longs(number) == Longs{0, 1, 2, 3});
  CHECK(text[0].to_vector<std::string>() == Words{"", "x", "xx", "xxx"});
  const auto words = data::from_items(std::vector<Tensor>{constant(Words{"a", "b"}), constant(Words{"c"})});
  CHECK(words.ragged_batch(2).at(0, 0).values.to_vector<std::string>() == Words{"a", "b", "c"});
  // The same as a padded batch, without its padding.
  const auto padded = lengths.padded_batch(7).at(0, 0);
  CHECK(ints(lengths.ragged_batch(7).at(0, 0).to_tensor()) == ints(padded));
}
TEST_CASE("ragged_batch: what does not fit raises") {
  const auto batch = [](const Tensor& a, const Tensor& b) {
    return error_of<errors::InvalidArgumentError>([&] {
      data::from_items(std::vector<Tensor>{a, b}).ragged_batch(2).at(0, 0);
    });
  };
  CHECK_THAT(batch(zeros({2, 3}), zeros({1, 4})),
             ContainsSubstring("ragged_batch: elements 0 and 1 of a batch differ: float32[2,3] and float32[1,4]"));
  CHECK_THAT(batch(zeros({2}), zeros({2}, int32)), ContainsSubstring("differ"));
  CHECK_THAT(batch(zeros({2}), constant(1.f)), ContainsSubstring("differ"));
  CHECK_THROWS_AS(data::range(3).ragged_batch(0), errors::InvalidArgumentError);
}

}  // namespace data_ragged_test
