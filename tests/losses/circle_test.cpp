// Circle: the formula by loops, references, examples without a pair, the mean, weights, half precision, gradients,
// traced calls, errors.
#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace circle_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<double>;

Tensor unit(const Shape& shape, float phase) {
  const Tensor x = testing::wave(shape, phase, float64);
  return x / reduce_euclidean_norm(x, {.axis = 1, .keepdims = true});
}

struct Pairs {
  std::vector<int> labels, of_others;
  Tensor vectors, others;
  bool skips_equal_index;
};
Numbers by_loops(const Pairs& c, double gamma, double margin) {
  const Numbers cosine = matmul(c.vectors, c.others, {.transpose_b = true}).to_vector<double>();
  const std::size_t m = c.of_others.size();
  Numbers r;
  for (std::size_t i = 0; i < c.labels.size(); ++i) {
    double positive = 0, negative = 0;
    for (std::size_t j = 0; j < m; ++j) {
      const double d = std::max(1 - cosine[i * m + j], 0.);
      if (c.labels[i] != c.of_others[j]) negative += std::exp(gamma * std::max(1 + margin - d, 0.) * (1 - margin - d));
      else if (!c.skips_equal_index || i != j) positive += std::exp(-gamma * (margin + d) * (margin - d));
    }
    r.push_back(std::log1p(positive * negative));
  }
  return r;
}
void check_near(const Tensor& got, const Numbers& want) {
  const Numbers values = got.to_vector<double>();
  REQUIRE(values.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(values[i] == Approx(want[i]).epsilon(1e-10));
}

const std::vector<int> classes{0, 1, 0, 2, 1, 0};

TEST_CASE("Circle: the formula by loops, options, references") {
  const Tensor x = unit({6, 4}, .7f), y = unit({3, 4}, 2);
  const Tensor labels = constant(classes);
  const losses::CircleOptions defaults;
  check_near(losses::circle(labels, x), by_loops({classes, classes, x, x, true}, defaults.gamma, defaults.margin));
  check_near(losses::circle(expand_dims(labels, 1), x, {.remove_diagonal = false, .gamma = 3, .margin = .25}),
             by_loops({classes, classes, x, x, false}, 3, .25));
  const Tensor of_others = constant({1, 2, 0});
  check_near(losses::circle(labels, x, {.ref_labels = of_others, .ref_embeddings = y, .gamma = 5}),
             by_loops({classes, {1, 2, 0}, x, y, true}, 5, .4));
  check_near(
      losses::circle(labels, x, {.ref_labels = of_others, .ref_embeddings = y, .remove_diagonal = false, .gamma = 5}),
      by_loops({classes, {1, 2, 0}, x, y, false}, 5, .4));
  CHECK(losses::circle(labels, cast(x, bfloat16)).dtype() == bfloat16);
  CHECK(losses::circle(zeros({0}, int32), zeros({0, 4})).shape() == Shape{0});
}
TEST_CASE("Circle: losses of 0 do not count in the mean, weights count their own example") {
  const Tensor x = unit({6, 4}, .7f), labels = constant(classes);  // label 2 has no other example
  const Numbers each = losses::circle(labels, x).to_vector<double>();
  CHECK(each[3] == 0);
  double sum = 0;
  for (const double loss : each) sum += loss;
  CHECK(losses::Circle()(labels, x).item<double>() == Approx(sum / 5));
  CHECK(losses::Circle({.reduction = losses::Reduction::sum})(labels, x).item<double>() == Approx(sum));
  const Tensor weights = constant({2., 0., 0., 1., 0., 0.});
  CHECK(losses::Circle()(labels, x, weights).item<double>() == Approx(2 * each[0] / 5));
  CHECK(losses::Circle({.reduction = losses::Reduction::none})(labels, x, weights).to_vector<double>() ==
        Numbers{2 * each[0], 0, 0, 0, 0, 0});
  CHECK(losses::Circle()(constant({0, 0}), x(Slice(0, 2))).item<double>() == 0);  // no pair of different labels
  CHECK(losses::Circle()(constant({0, 1}), x(Slice(0, 2))).item<double>() == 0);
  CHECK(std::isnan(losses::Circle()(constant({0, 0, 1}), full_like(x(Slice(0, 3)), NAN)).item<double>()));
  CHECK(losses::Circle().name() == "circle");
}
TEST_CASE("Circle: gradients, traces of unknown size") {
  const Tensor x = unit({6, 4}, .7f), y = unit({3, 4}, 2), labels = constant(classes);
  const losses::Circle loss({.gamma = 3});
  CHECK(test::compute_gradient_error([&](const Tensor& p) { return loss(labels, p); }, {x}, {.delta = 1e-6}) < 1e-6);
  const auto referenced = [&](const Tensor& r) {
    return reduce_sum(losses::circle(labels, x, {.ref_labels = constant({1, 2, 0}), .ref_embeddings = r, .gamma = 3}));
  };
  CHECK(test::compute_gradient_error(referenced, {y}, {.delta = 1e-6}) < 1e-6);
  const auto f = function([&](const Tensor& t, const Tensor& p) { return loss(t, p); },
                          {.input_signature = {TensorSpec({none}, int32), TensorSpec({none, 4}, float64)}});
  CHECK(f(labels, x).item<double>() == Approx(loss(labels, x).item<double>()));
  CHECK(f(labels(Slice(0, 3)), x(Slice(0, 3))).item<double>() ==
        Approx(loss(labels(Slice(0, 3)), x(Slice(0, 3))).item<double>()));
  GradientTape tape;
  tape.watch(x);
  const Tensor only = loss(constant({0, 1, 2, 3, 4, 5}), x);
  CHECK(tape.gradient(only, x).to_vector<double>() == Numbers(24, 0));  // finite where nothing is positive
}
TEST_CASE("Circle: errors") {
  const Tensor x = unit({6, 4}, .7f), labels = constant(classes);
  CHECK_THROWS_WITH(losses::Circle({.gamma = 0}), ContainsSubstring("gamma must be positive"));
  CHECK_THROWS_WITH(losses::Circle({.margin = 1.5}), ContainsSubstring("margin must be in [0, 1]"));
  CHECK_THROWS_WITH(losses::Circle()(labels, x(Slice(0, 5))), ContainsSubstring("in losses::Circle"));
  CHECK_THROWS_WITH(losses::Circle()(x, x), ContainsSubstring("integers"));
  CHECK_THROWS_WITH(losses::Circle()(labels, labels), ContainsSubstring("floating vectors [examples, features]"));
  CHECK_THROWS_WITH(losses::circle(labels, x, {.ref_labels = labels}), ContainsSubstring("must be set together"));
  CHECK_THROWS_WITH(losses::circle(labels, x, {.ref_labels = labels, .ref_embeddings = unit({6, 3}, 1)}),
                    ContainsSubstring("features and dtype of y_pred"));
  const Tensor single = cast(x, float32);
  CHECK_THROWS_WITH(losses::circle(labels, single, {.ref_labels = labels, .ref_embeddings = cast(x, bfloat16)}),
                    ContainsSubstring("ref_embeddings bfloat16[6,4]") && ContainsSubstring("y_pred, float32[6,4]"));
  CHECK_THROWS_WITH(losses::circle(labels, cast(x, bfloat16), {.ref_labels = labels, .ref_embeddings = single}),
                    ContainsSubstring("y_pred, bfloat16[6,4]"));
}
}  // namespace circle_test
