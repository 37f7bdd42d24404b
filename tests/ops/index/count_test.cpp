// bincount, histogram_fixed_width, confusion_matrix: examples, options, gradients of weights, traces, errors.
#include "tandem/ops/index/count.hpp"

#include <limits>

#include "tandem/autodiff/check.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
using Ints = std::vector<int>;
Ints ints(const Tensor& t) { return t.to_vector<int>(); }
}  // namespace

TEST_CASE("bincount: examples and options") {
  const Tensor x = constant({1, 1, 2, 4});
  CHECK(ints(bincount(x)) == Ints{0, 2, 1, 0, 1});
  CHECK(ints(bincount(x, {.minlength = 7})) == Ints{0, 2, 1, 0, 1, 0, 0});
  CHECK(ints(bincount(x, {.maxlength = 3})) == Ints{0, 2, 1});
  CHECK(ints(bincount(x, {.minlength = 3, .maxlength = 3})) == Ints{0, 2, 1});
  CHECK(ints(bincount(x, {.binary_output = true})) == Ints{0, 1, 1, 0, 1});
  CHECK(bincount(x, {.dtype = float64}).to_vector<double>() == std::vector<double>{0, 2, 1, 0, 1});
  CHECK(ints(bincount(cast(x, uint8))) == Ints{0, 2, 1, 0, 1});
  CHECK(ints(bincount(cast(x, uint64))) == Ints{0, 2, 1, 0, 1});
  CHECK(ints(bincount(zeros({0}, int32))) == Ints{});
  CHECK(ints(bincount(zeros({0}, int32), {.minlength = 2})) == Ints{0, 0});
  CHECK(ints(bincount(constant({{0, 1}, {1, 1}}))) == Ints{1, 3});
  CHECK(ints(bincount(constant({INT64_MAX, i64(1)}), {.maxlength = 3})) == Ints{0, 1, 0});
  CHECK(ints(bincount(constant({INT64_MAX}), {.minlength = 3, .maxlength = 2})) == Ints{0, 0});
  const Tensor rows = constant({{1, 1, 0}, {2, 0, 0}});
  CHECK(ints(bincount(rows, {.axis = -1})) == Ints{1, 2, 0, 2, 0, 1});
  CHECK(ints(bincount(rows, {.maxlength = 2, .axis = 1, .binary_output = true})) == Ints{1, 1, 1, 0});
  CHECK(bincount(zeros({0, 3}, int32), {.axis = -1}).shape() == Shape{0, 0});
}

TEST_CASE("bincount: weights, and their gradient") {
  const Tensor x = constant({1, 1, 2, 4}), w = constant({.5, 1., 2., 4.}, {.dtype = float64});
  CHECK(bincount(x, {.weights = w}).to_vector<double>() == std::vector<double>{0, 1.5, 2, 0, 4});
  CHECK(bincount(x, {.weights = w, .maxlength = 3}).to_vector<double>() == std::vector<double>{0, 1.5, 2});
  const Tensor rows = constant({{1, 1}, {3, 0}}), weights = reshape(w, {2, 2});
  CHECK(bincount(rows, {.weights = weights, .maxlength = 3, .axis = -1}).to_vector<double>() ==
        std::vector<double>{0, 1.5, 0, 4, 0, 0});
  const auto error = [](const Tensor& at, const Tensor& v, const BincountOptions& o) {
    return test::compute_gradient_error(
        [&](const Tensor& t) {
          BincountOptions with = o;
          with.weights = t;
          return square(bincount(at, with));
        },
        v, {.delta = 1e-5});
  };
  CHECK(error(x, w, {.maxlength = 3}) < 1e-7);
  CHECK(error(rows, weights, {.axis = -1}) < 1e-7);
  const auto f = function(
      [](const Tensor& i, const Tensor& v) {
        GradientTape tape;
        tape.watch(v);
        const Tensor y = bincount(i, {.weights = v});
        return concat({y, tape.gradient(square(y), v)}, 0);
      },
      {.input_signature = {TensorSpec({none}, int32), TensorSpec({none}, float64)}});
  CHECK(f(x, w).to_vector<double>() == std::vector<double>{0, 1.5, 2, 0, 4, 3, 3, 4, 8});
}

TEST_CASE("bincount: errors") {
  CHECK_THROWS_WITH(bincount(constant({1, -2})),
                    ContainsSubstring("bincount: the value -2 at position [1] is negative"));
  CHECK_THROWS_WITH(bincount(constant({1.f})), ContainsSubstring("must be integers"));
  CHECK_THROWS_WITH(bincount(constant({1}), {.weights = zeros({2})}), ContainsSubstring("shape of x"));
  CHECK_THROWS_WITH(bincount(constant({{1}}), {.axis = 0}), ContainsSubstring(".axis must be the last axis"));
  CHECK_THROWS_WITH(bincount(constant({1}), {.minlength = -1}), ContainsSubstring("negative"));
  CHECK_THROWS_AS(bincount(constant({1}), {.dtype = uint8}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(bincount(constant({INT64_MAX})), ContainsSubstring("bincount: the value 9223372036854775807"));
  CHECK_THROWS_WITH(bincount(constant({1}), {.weights = constant({true})}), ContainsSubstring("bincount: no kernel"));
  CHECK_THROWS_WITH(bincount(constant({-1}), {.weights = zeros({1})}), ContainsSubstring("is negative"));
}

TEST_CASE("histogram_fixed_width") {
  const Tensor x = constant({-1.f, 0.f, 1.5f, 2.f, 5.f, 15.f});
  CHECK(ints(histogram_fixed_width(x, {0, 5}, {.nbins = 5})) == Ints{2, 1, 1, 0, 2});
  CHECK(ints(histogram_fixed_width(x, constant({0.f, 5.f}), {.nbins = 5})) == Ints{2, 1, 1, 0, 2});
  CHECK(histogram_fixed_width(x, {0, 5}).shape() == Shape{100});
  CHECK(histogram_fixed_width(x, {0, 5}, {.nbins = 1, .dtype = int64}).to_vector<i64>() == std::vector<i64>{6});
  CHECK(ints(histogram_fixed_width(constant({0, 9, 5, -3}), constant({0, 10}), {.nbins = 2})) == Ints{2, 2});
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(ints(histogram_fixed_width(constant({-inf, inf}), {0, 1}, {.nbins = 2})) == Ints{1, 1});
  CHECK(ints(histogram_fixed_width(zeros({0}), {0, 1}, {.nbins = 2})) == Ints{0, 0});
  CHECK_THROWS_WITH(histogram_fixed_width(x, {5, 5}), ContainsSubstring("is empty"));
  CHECK_THROWS_WITH(histogram_fixed_width(x, {0, 5}, {.nbins = 0}), ContainsSubstring("nbins = 0"));
  CHECK_THROWS_WITH(histogram_fixed_width(x, constant({0.f})), ContainsSubstring("[2]"));
}

TEST_CASE("confusion_matrix") {
  const Tensor labels = constant({1, 2, 4}), found = constant({2, 2, 4});
  Ints want(25);
  want[1 * 5 + 2] = want[2 * 5 + 2] = want[4 * 5 + 4] = 1;
  CHECK(ints(confusion_matrix(labels, found)) == want);
  CHECK(confusion_matrix(labels, found, {.num_classes = 6}).shape() == Shape{6, 6});
  CHECK(confusion_matrix(constant({0, 0, 1}), constant({0, 0, 0}),
                         {.weights = constant({.5f, 2.f, 1.f}), .dtype = float32})
            .to_vector<float>() == std::vector<float>{2.5f, 0, 1, 0});
  for (const DType d : {float16, bfloat16, float32, float64, complex64, int8}) {
    const Tensor w = cast(constant({.5f, 2.f}), d);
    const Tensor m = confusion_matrix(constant({0, 1}), constant({0, 0}), {.weights = w});
    CHECK(m.dtype() == d);
    CHECK(cast(m, float32).to_vector<float>() == std::vector<float>{d == int8 ? 0.f : .5f, 0, 2, 0});
  }
  CHECK(ints(confusion_matrix(constant({0, 1}), constant({0, 0}), {.weights = constant({true, false})})) ==
        Ints{1, 0, 0, 0});
  CHECK(confusion_matrix(zeros({0}, int32), zeros({0}, int64), {.num_classes = 2}).to_vector<int>() == Ints(4));
  const auto f = function([](const Tensor& a, const Tensor& b) { return confusion_matrix(a, b); },
                          {.input_signature = {TensorSpec({none}, int32), TensorSpec({none}, int32)}});
  CHECK(ints(f(labels, found)) == want);
  CHECK_THROWS_WITH(confusion_matrix(labels, found, {.num_classes = 4}),
                    ContainsSubstring("confusion_matrix: index 4 at position [2]"));
  CHECK_THROWS_WITH(confusion_matrix(constant({-1}), constant({0})), ContainsSubstring("index -1"));
  CHECK_THROWS_WITH(confusion_matrix(constant({i64(0)}), constant({INT64_MAX})),
                    ContainsSubstring("9223372036854775807 is too large"));
  CHECK_THROWS_WITH(confusion_matrix(labels, constant({1})), ContainsSubstring("one shape [n]"));
  CHECK_THROWS_WITH(confusion_matrix(constant({1.f}), constant({1})), ContainsSubstring("must be integers"));
}
