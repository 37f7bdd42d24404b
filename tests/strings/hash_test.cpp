// to_hash_bucket_fast, to_hash_bucket_strong, cross_hashed; layers::Hashing and HashedCrossing with Keras' examples.
// Hashes of texts of all lengths: tests/golden.
#include "tandem/strings/hash.hpp"

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/strings/hash_layers.hpp"
#include "tandem/strings/numbers.hpp"
#include "tests/support/catch.hpp"

namespace strings_hash_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using Longs = std::vector<i64>;
using Words = std::vector<std::string>;

const Tensor letters = constant(Words{"A", "B", "C", "D", "E"});

TEST_CASE("Hashing: Keras' examples, traced, integers, modes") {
  CHECK(layers::Hashing(3)(letters).to_vector<i64>() == Longs{1, 0, 1, 1, 2});
  const Tensor with_mask = constant(Words{"A", "B", "", "C", "D"});
  CHECK(layers::Hashing(3, {.mask_value = ""})(with_mask).to_vector<i64>() == Longs{1, 1, 0, 2, 2});
  const layers::Hashing salted(3, {.salt = strings::HashKey{133, 137}});
  CHECK(salted(letters).to_vector<i64>() == Longs{1, 2, 1, 0, 2});
  const Longs of_one_number{0, 0, 2, 1, 0};  // Keras' salt=133
  CHECK(layers::Hashing(3, {.salt = 133})(letters).to_vector<i64>() == of_one_number);
  CHECK(layers::Hashing(3, {.salt = strings::HashKey{133}})(letters).to_vector<i64>() == of_one_number);
  CHECK(layers::Hashing(3, {.salt = strings::HashKey{133, 133}})(letters).to_vector<i64>() == of_one_number);
  const auto f =
      function([&](const Tensor& x) { return salted(x); }, {.input_signature = {TensorSpec({none}, DType::string)}});
  CHECK(f(letters).to_vector<i64>() == Longs{1, 2, 1, 0, 2});
  const layers::Hashing numbers(1000, {.mask_value = "0"});
  const Tensor ids = constant({{0, 7}, {-3, 0}});
  const Longs want = numbers(constant(Words{"0", "7", "-3", "0"})).to_vector<i64>();
  CHECK(want[0] == 0);
  CHECK(want[1] > 0);
  for (const DType d : {int8, int32, int64}) CHECK(numbers(cast(ids, d)).to_vector<i64>() == want);
  CHECK(layers::Hashing(1, {.mask_value = "A"})(letters).to_vector<i64>() == Longs(5, 0));
  const layers::Hashing counts(3, {.output_mode = layers::OutputMode::count});
  CHECK(counts(letters).to_vector<float>() == std::vector<float>{1, 3, 1});
  CHECK(layers::Hashing(3)(constant(Words{}, {.shape = {0, 2}})).shape() == Shape{0, 2});
  CHECK_THROWS_WITH(layers::Hashing(0), ContainsSubstring("Hashing: num_bins must be positive"));
  CHECK_THROWS_WITH(numbers(constant(1.5f)), ContainsSubstring("Hashing: needs strings or integers"));
}
TEST_CASE("HashedCrossing: Keras' example, shapes, errors") {
  const Tensor a = constant(Words{"A", "B", "A", "B", "A"}), b = constant({101, 101, 101, 102, 102});
  const layers::HashedCrossing crossing(5);
  CHECK(crossing({a, b}).to_vector<i64>() == Longs{1, 4, 1, 1, 3});
  CHECK(crossing({expand_dims(a, 1), expand_dims(b, 1)}).shape() == Shape{5, 1});
  CHECK(crossing({a[1], b[1]}).item<i64>() == 4);
  const layers::HashedCrossing rows(5, {.output_mode = layers::OutputMode::one_hot});
  CHECK(rows({expand_dims(a, 1), expand_dims(b, 1)}).shape() == Shape{5, 5});
  CHECK(rows({a, b})[3].to_vector<float>() == std::vector<float>{0, 1, 0, 0, 0});
  const auto f = function(
      [&](const Tensor& x, const Tensor& y) {
        return crossing({x, y});
      },
      {.input_signature = {TensorSpec({none}, DType::string), TensorSpec({none}, int32)}});
  CHECK(f(a, b).to_vector<i64>() == Longs{1, 4, 1, 1, 3});
  CHECK_THROWS_WITH(crossing({a}), ContainsSubstring("HashedCrossing: needs two inputs or more"));
  CHECK_THROWS_WITH(crossing({a, b(Slice(0, 4))}), ContainsSubstring("inputs must have one shape"));
  CHECK_THROWS_WITH(crossing({a, cast(b, float32)}), ContainsSubstring("must be string or int64"));
  CHECK_THROWS_WITH(crossing({zeros({2, 3}, int32), zeros({2, 3}, int32)}), ContainsSubstring("[batch, 1]"));
  const TensorSpec unknown({none, none}, int32);
  const auto columns = function(
      [&](const Tensor& x, const Tensor& y) {
        return crossing({x, y});
      },
      {.input_signature = {unknown, unknown}});
  CHECK(columns(expand_dims(b, 1), expand_dims(b, 1)).shape() == Shape{5, 1});
  CHECK_THROWS_AS(columns(zeros({2, 3}, int32), zeros({2, 3}, int32)), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(layers::HashedCrossing(5, {.output_mode = layers::OutputMode::count}),
                    ContainsSubstring("output_mode must be integer or one_hot"));
}
TEST_CASE("hash buckets: spread, keys, many strings at once, errors") {
  const Tensor x = strings::as_string(range(4000));
  for (const Tensor& bucket : {strings::to_hash_bucket_fast(x, 8), strings::to_hash_bucket_strong(x, 8, {1, 2}),
                               strings::cross_hashed({x, range(4000)}, 8)}) {
    std::vector<int> count(8);
    for (const i64 b : bucket.to_vector<i64>()) {
      REQUIRE((b >= 0 && b < 8));
      ++count[static_cast<std::size_t>(b)];
    }
    for (const int c : count) CHECK((c > 420 && c < 580));
  }
  const Longs one = strings::cross_hashed({x}, 100).to_vector<i64>();
  CHECK(strings::cross_hashed({x}, 100, {.hash_key = 1}).to_vector<i64>() != one);
  CHECK(strings::to_hash_bucket_strong(x, 100, {1, 2}).to_vector<i64>() !=
        strings::to_hash_bucket_strong(x, 100, {2, 1}).to_vector<i64>());
  CHECK_THROWS_WITH(strings::to_hash_bucket_fast(x, 0), ContainsSubstring("num_buckets must be at least 1, not 0"));
  CHECK_THROWS_WITH(strings::to_hash_bucket_strong(x, -1, {1, 2}), ContainsSubstring("num_buckets"));
  CHECK_THROWS_WITH(strings::cross_hashed({x}, 0), ContainsSubstring("num_buckets"));
  CHECK_THROWS_AS(strings::cross_hashed({}, 5), errors::InvalidArgumentError);
}
}  // namespace strings_hash_test
