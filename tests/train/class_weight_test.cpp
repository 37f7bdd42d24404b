// FitOptions::class_weight: which labels it takes, and that it equals sample weights.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tandem/train/class_weights.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/train/problem.hpp"

namespace class_weight_test {
using namespace training;
using testing::error_of;

TEST_CASE("class weights are sample weights, of numbers and of one-hot labels") {
  const Points points(40);
  const auto trained = [&](const train::Batches& batches, std::map<i64, double> class_weight, losses::Loss loss) {
    const layers::Sequential net = network(1, 0);
    train::Trainer(net, {.loss = loss, .optimizer = optimizers::SGD(0.1)})
        .fit(batches, {.class_weight = std::move(class_weight)});
    return weights_of(net);
  };
  const Tensor weights = where(equal(points.y, i64{1}), 3.f, ones({40}));
  const auto expected = trained(data::from_tensor_slices({points.x, points.y, weights}).batch(10), {}, loss());
  CHECK(trained(points.batches(10), {{1, 3}}, loss()) == expected);
  CHECK(trained(points.batches(10), {}, loss()) != expected);
  const auto labels = data::from_tensor_slices({points.x, one_hot(points.y, 2)}).batch(10);
  const auto by_labels = trained(labels, {{1, 3}}, losses::CategoricalCrossentropy({.from_logits = true}));
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t j = 0; j < expected[i].size(); ++j) CHECK(by_labels[i][j] == Approx(expected[i][j]).margin(1e-6));
}

TEST_CASE("class weights: labels that are neither numbers of classes nor one-hot raise") {
  const auto raised = [](const Tensor& labels) {
    const layers::Sequential net{layers::Dense(labels.shape()[1])};
    return error_of([&] {
      train::Trainer(net, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::SGD(0.1)})
          .fit(data::from_tensor_slices({ones({8, 2}), labels}).batch(4), {.class_weight = {{1, 3}}});
    });
  };
  CHECK(raised(one_hot(range(8) % 5, 5)) == "no error");
  CHECK(raised(ones({8, 5})).find("these are float32[4,5]. Put sample weights") != std::string::npos);  // of sequences
  CHECK(raised(ones({8, 1})) == "no error");
  CHECK(raised(fill({8, 1}, 0.75f)).find("float32[4,1] with fractions") != std::string::npos);
}

TEST_CASE("class weights: labels of every dtype, classes that are far apart, probabilities") {
  const train::detail::ClassWeights weights({{1, 3}, {2, 0.5}}), apart({{-7, 9}, {1, 3}, {2, 0.5}, {1'000'000'007, 5}});
  const Tensor labels = constant(std::vector<i64>{0, 1, 2, 7, 1});
  const std::vector<float> expected{1, 3, 0.5, 1, 3};
  for (const DType dtype : {DType::uint8, DType::uint64, DType::int16, DType::int32, DType::int64, DType::bfloat16,
                            DType::float32, DType::float64}) {
    const Tensor x = cast(labels, dtype);
    CAPTURE(dtype);
    CHECK(weights.of(x).to_vector<float>() == expected);
    CHECK(apart.of(reshape(x, {5, 1})).to_vector<float>() == expected);
  }
  CHECK(apart.of(constant(std::vector<i64>{-7, 1'000'000'007})).to_vector<float>() == std::vector<float>{9, 5});
  CHECK(apart.of(constant(std::vector<i64>{i64{1} << 62})).to_vector<float>() == std::vector<float>{1});
  constexpr i64 most = std::numeric_limits<i64>::max();
  const Tensor ends = constant(std::vector<i64>{most, -most - 1, most - 1});
  CHECK(train::detail::ClassWeights({{most, 3}, {-most - 1, 2}}).of(ends).to_vector<float>() ==
        std::vector<float>{3, 2, 1});
  CHECK(weights.of(constant({{0.2f, 0.7f, 0.1f}, {0.f, 0.f, 1.f}})).to_vector<float>() == std::vector<float>{3, 0.5});
  CHECK(weights.of(zeros({0, 3})).shape() == Shape{0});
  const auto raises = [&](const Tensor& x) {
    return error_of([&] { weights.of(x); }).find("class_weight needs the number") != std::string::npos;
  };
  CHECK(raises(constant({0.f, std::nanf("")})));
  CHECK(raises(constant({0.f, std::numeric_limits<float>::infinity()})));
  CHECK(raises(constant({{1.2f, -0.2f}})));
  CHECK(raises(constant({{std::nanf(""), 1.f}})));
  CHECK(raises(zeros({2, 2, 2})));
  CHECK(raises(constant(1)));
  CHECK(raises(constant(std::vector<std::string>{"cat", "dog"})));
  CHECK(raises(cast(constant({1.f, 2.f}), DType::complex64)));
  const auto raised = [&](const Tensor& x) { return error_of([&] { weights.of(x); }); };
  CHECK(raised(constant({1e30f})).find("float32[1] with numbers that are not finite, or of 2^63") != std::string::npos);
  CHECK(raised(cast(constant(std::vector<i64>{-1}), DType::uint64)).find("uint64[1] with numbers of 2^63 and more") !=
        std::string::npos);
}

}  // namespace class_weight_test
