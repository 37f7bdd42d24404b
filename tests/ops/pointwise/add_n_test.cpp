// add_n and bitcast: values, every dtype, gradients, errors.
#include "tandem/ops/pointwise/add_n.hpp"

#include <cstring>

#include "tandem/autodiff/check.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;

TEST_CASE("add_n") {
  const Tensor a = constant({1, 2}), b = constant({10, 20}), c = constant({100, 200});
  CHECK(add_n({a, b, c}).to_vector<int>() == std::vector<int>{111, 222});
  CHECK(accumulate_n(std::vector<Tensor>{a}).to_vector<int>() == std::vector<int>{1, 2});
  CHECK(add_n({zeros({0, 2}), zeros({0, 2})}).shape() == Shape{0, 2});
  std::vector<Tensor> five;
  for (int i = 0; i < 5; ++i) five.push_back(nn::relu(constant({-1.f, 2.f})));
  CHECK(add_n(five).to_vector<float>() == std::vector<float>{0, 10});
  CHECK(add_n({constant(std::vector<std::uint8_t>{200}), constant(std::vector<std::uint8_t>{100})})
            .to_vector<std::uint8_t>() == std::vector<std::uint8_t>{44});
  const Tensor large = ones({300, 70});
  CHECK(reduce_all(add_n({large, large, large}) == 3).item<bool>());
  const Tensor z = tandem::complex(constant({1.f}), constant({2.f}));
  CHECK(real(add_n({z, z})).to_vector<float>() == std::vector<float>{2});
  testing::Shapes random(81);
  const Tensor x = random.reals({3}), y = random.reals({3});
  CHECK(test::compute_gradient_error(
            [](const Tensor& s, const Tensor& t) {
              return square(add_n({s, t, s}));
            },
            {x, y}, {.delta = 1e-5}) < 1e-7);
  CHECK_THROWS_WITH(add_n({}), ContainsSubstring("add_n: the list is empty"));
  CHECK_THROWS_WITH(add_n({a, constant({1})}), ContainsSubstring("shapes differ"));
  CHECK_THROWS_WITH(add_n({a, constant({1.f, 2.f})}), ContainsSubstring("dtypes differ"));
}

TEST_CASE("add_n of row-sparse gradients") {
  const Tensor like = zeros({3, 2});
  const IndexedSlices rows{ones({2, 2}), constant({0, 2}), like};
  CHECK(add_n(std::vector<IndexedSlices>{rows, rows}).to_vector<float>() == std::vector<float>{2, 2, 0, 0, 2, 2});
  CHECK(add_n(std::vector<Gradient>{Gradient(rows), Gradient(ones({3, 2}))}).to_vector<float>() ==
        std::vector<float>{2, 2, 1, 1, 2, 2});
}

TEST_CASE("bitcast") {
  CHECK(bitcast(constant({1.f}), int32).to_vector<int>() == std::vector<int>{0x3f800000});
  const Tensor bytes = bitcast(constant({0x01020304, 5}), uint8);
  CHECK(bytes.shape() == Shape{2, 4});
  CHECK(bytes.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{4, 3, 2, 1, 5, 0, 0, 0});
  CHECK(bitcast(bytes, int32).to_vector<int>() == std::vector<int>{0x01020304, 5});
  CHECK(bitcast(constant(1.f), float16).shape() == Shape{2});
  CHECK(bitcast(bitcast(constant({1.5f, 2.f}), float16), float32).to_vector<float>() == std::vector<float>{1.5f, 2});
  CHECK(bitcast(zeros({0}, float64), complex64).shape() == Shape{0});
  CHECK(bitcast(constant(std::vector<std::uint8_t>{9, 1, 0, 0, 0})(Slice(1, 5)), int32).item<int>() == 1);
  const auto f = function([](const Tensor& x) { return bitcast(x, int32); },
                          {.input_signature = {TensorSpec({none, none}, uint8)}});
  CHECK(f(bytes).to_vector<int>() == std::vector<int>{0x01020304, 5});
  CHECK_THROWS_AS(f(zeros({2, 3}, uint8)), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(bitcast(constant({"a"}), int32), ContainsSubstring("strings"));
  CHECK_THROWS_WITH(bitcast(constant({std::uint8_t{2}}), bool_), ContainsSubstring("cannot reinterpret uint8 as bool"));
  CHECK_THROWS_WITH(bitcast(constant({true}), uint8), ContainsSubstring("cannot reinterpret bool as uint8"));
  CHECK_THROWS_WITH(bitcast(zeros({2, 3}, uint8), int32), ContainsSubstring("the last axis must have size 4"));
  CHECK_THROWS_AS(bitcast(constant(1.f), float64), errors::InvalidArgumentError);
}
