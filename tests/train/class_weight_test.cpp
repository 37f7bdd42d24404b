// FitOptions::class_weight: which labels it takes, and that it equals sample weights.
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

}  // namespace class_weight_test
