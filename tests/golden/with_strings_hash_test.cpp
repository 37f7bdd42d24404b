// layers::Hashing and HashedCrossing against Keras 3, with the options of make_keras.py: texts of all lengths that the
// hashes treat differently, in so many buckets that all bits count.
#include "tandem/ops/all.hpp"
#include "tandem/strings.hpp"
#include "tests/golden/golden.hpp"

namespace keras_hash_golden_test {

using namespace ::golden;
using layers::HashingOptions, layers::OutputMode, strings::HashKey;

namespace {

constexpr i64 all_bits = (i64{1} << 53) - 111;

Tensor texts() {
  std::string whole;
  for (int i = 0; i < 13; ++i) whole += "Farmhash and siphash see ";
  std::vector<std::string> list;
  for (std::size_t n = 0; n < 70; ++n) list.push_back(whole.substr(0, n));
  for (const std::size_t n : {95, 96, 127, 128, 129, 192, 193, 300}) list.push_back(whole.substr(0, n));
  return constant(list);
}
Tensor words() { return constant(std::vector<std::string>{"A", "B", "", "C", "D", "A"}, {.shape = Shape{2, 3}}); }
Tensor ids() { return constant(std::vector<i64>{1, -7, 0, i64{1} << 40, 101, 1}, {.shape = Shape{2, 3}}); }
void check_same(const Tensor& got, const Tensor& want) {
  CHECK(got.shape() == want.shape());
  CHECK(cast(got, float64).to_vector<double>() == want.to_vector<double>());
}

}  // namespace

TEST_CASE("Keras 3: Hashing") {
  const std::vector<std::pair<i64, HashingOptions>> options{{all_bits, {}},
                                                            {all_bits, {.salt = 133}},
                                                            {all_bits, {.salt = HashKey{133, 137}}},
                                                            {3, {}},
                                                            {3, {.mask_value = ""}},
                                                            {4, {.output_mode = OutputMode::one_hot}},
                                                            {4, {.output_mode = OutputMode::multi_hot}},
                                                            {4, {.salt = 7, .output_mode = OutputMode::count}}};
  const auto cases = ::golden::detail::load("keras_strings");
  for (std::size_t i = 0; i < options.size(); ++i) {
    INFO(i);
    const GoldenCase& c = cases.at("layer.Hashing:" + std::to_string(i));
    const auto& [bins, o] = options[i];
    const layers::Hashing layer(bins, o);
    check_same(layer(bins > 100 ? texts() : words()), c.y[0]);
    if (c.y.size() > 1) check_same(layer(ids()), c.y[1]);
  }
}
TEST_CASE("Keras 3: HashedCrossing") {
  const auto cases = ::golden::detail::load("keras_strings");
  const Tensor a = words(), b = ids();
  for (const bool one_hot : {false, true}) {
    const layers::HashedCrossing layer(one_hot ? 5 : all_bits,
                                       {.output_mode = one_hot ? OutputMode::one_hot : OutputMode::integer});
    const GoldenCase& c = cases.at("layer.HashedCrossing:" + std::to_string(int(one_hot)));
    check_same(layer({a[0], b[0]}), c.y[0]);
    check_same(layer({b[1], a[1], b[0]}), c.y[1]);
  }
}

}  // namespace keras_hash_golden_test
