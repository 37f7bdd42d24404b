// norm and normalize: values by NumPy, orders, axes, gradients with the spec's kinks, extremes, errors.
#include "tandem/ops/linalg/norm.hpp"

#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/recorder.hpp"

using namespace tandem;
using testing::error_of;

namespace {
const double inf = INFINITY;
Tensor matrix() { return constant({{1., -2., 3.}, {-4., 5., .5}}); }
double value(const Tensor& t) { return cast(t, float64).item<double>(); }
Tensor gradient_of(const Tensor& x, const NormOptions& o) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(norm(x, o), x);
}
}  // namespace

TEST_CASE("norm: vectors, matrices and all elements, as NumPy") {
  CHECK(norm(constant({3.f, 4.f})).item<float>() == 5);
  const Tensor x = cast(matrix(), float64);
  CHECK(value(norm(x)) == Approx(7.433034373659253));
  CHECK(value(norm(x, {.ord = 1})) == Approx(15.5));
  CHECK(value(norm(x, {.ord = inf})) == 5);
  CHECK(value(norm(x, {.ord = "inf"})) == 5);
  CHECK(value(norm(x, {.ord = 3})) == Approx(6.083328124270).epsilon(1e-9));
  CHECK(norm(x, {.ord = 1, .axis = 1}).to_vector<double>() == std::vector<double>{6, 9.5});
  CHECK(norm(x, {.ord = inf, .axis = 0}).to_vector<double>() == std::vector<double>{4, 5, 3});
  CHECK(norm(x, {.ord = 2, .axis = 1}).to_vector<double>()[0] == Approx(3.7416573867739413));
  CHECK(value(norm(x, {.axis = {0, 1}})) == Approx(7.433034373659253));
  CHECK(value(norm(x, {.ord = "fro", .axis = {-2, -1}})) == Approx(7.433034373659253));
  CHECK(value(norm(x, {.ord = 1, .axis = {0, 1}})) == 7);      // the largest column: 2 + 5
  CHECK(value(norm(x, {.ord = inf, .axis = {0, 1}})) == 9.5);  // the largest row
  CHECK(value(norm(x, {.ord = 1, .axis = {1, 0}})) == 9.5);
  CHECK(norm(x, {.ord = 1, .axis = {0, 1}, .keepdims = true}).shape() == Shape{1, 1});
  CHECK(norm(x, {.keepdims = true}).shape() == Shape{1, 1});
  CHECK(norm(zeros({2, 3, 4}), {.axis = 1}).shape() == Shape{2, 4});
  CHECK(value(norm(constant(-2.5f))) == 2.5);
}

TEST_CASE("norm: of complex numbers, of nothing, without overflow") {
  const Tensor z = complex(constant({3.f, 0.f}), constant({4.f, 12.f}));
  CHECK(norm(z).dtype() == float32);
  CHECK(value(norm(z)) == 13);
  CHECK(value(norm(z, {.ord = 1})) == 17);
  CHECK(value(norm(z, {.ord = inf})) == 12);
  for (const double ord : {0.5, 1., 2., 3., inf}) {
    CAPTURE(ord);
    CHECK(value(norm(zeros({0}), {.ord = ord})) == 0);
    CHECK(value(norm(zeros({3}), {.ord = ord})) == 0);
    const double ones = ord == inf ? 1 : std::pow(2., 1 / ord);
    CHECK(value(norm(constant({1e30f, -1e30f}), {.ord = ord})) == Approx(1e30 * ones));
    CHECK(value(norm(constant({1e-30f, 1e-30f}), {.ord = ord})) == Approx(1e-30 * ones));
    CHECK(std::isnan(value(norm(constant({1.f, float(NAN)}), {.ord = ord}))));
    CHECK(value(norm(constant({1.f, -float(inf)}), {.ord = ord})) == inf);
  }
}

TEST_CASE("norm: gradients") {
  const Tensor x = matrix();
  CHECK(gradient_of(constant({3., 4.}), {}).to_vector<float>() == std::vector<float>{.6f, .8f});
  CHECK(gradient_of(x, {.ord = 1}).to_vector<float>() == std::vector<float>{1, -1, 1, -1, 1, 1});
  for (const double ord : {1., 2., 3., 2.5}) CHECK(value(reduce_sum(abs(gradient_of(zeros({3}), {.ord = ord})))) == 0);
  CHECK(value(reduce_sum(gradient_of(zeros({2, 2}), {.axis = {0, 1}}))) == 0);
  // Ties are shared.
  CHECK(gradient_of(constant({-2.f, 1.f, 2.f}), {.ord = inf}).to_vector<float>() == std::vector<float>{-.5f, 0, .5f});
  const Tensor some = constant({0., 4., 0., 1.}, {.dtype = float64});  // zeros have no slope, whatever the order
  for (const double ord : {.5, 3.}) {
    GradientTape outer;
    outer.watch(some);
    const Tensor g = gradient_of(some, {.ord = ord});
    CHECK(g.to_vector<double>()[0] == 0);
    if (ord < 1) CHECK(test::max_error(g, constant({0., 1.5, 0., 3.}, {.dtype = float64})) < 1e-14);
    for (const double v : outer.gradient(g, some).to_vector<double>()) CHECK(std::isfinite(v));
  }
  const Tensor d = cast(x, float64);
  for (const double ord : {.5, 1., 2., 3., 2.5, inf}) {
    CAPTURE(ord);
    const auto f = [&](const Tensor& t) { return norm(t, {.ord = ord, .axis = 1}); };
    CHECK(test::compute_gradient_error(f, d, {.delta = 1e-5}) < 1e-8);
    const auto slope = [&](const Tensor& t) {
      GradientTape tape;
      tape.watch(t);
      return tape.gradient(square(f(t)), t);
    };
    CHECK(test::compute_gradient_error(slope, d, {.delta = 1e-5}) < 1e-7);
  }
  for (const double ord : {1., inf}) {
    const auto f = [&](const Tensor& t) { return norm(t, {.ord = ord, .axis = {0, 1}}); };
    CHECK(test::compute_gradient_error(f, d, {.delta = 1e-5}) < 1e-8);
  }
}

TEST_CASE("norm: sizes that a trace does not know") {
  testing::Recorder recorder;
  recorder.trace({Spec{{none, none}, float32, {}}}, [](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{norm(x[0]), norm(x[0], {.ord = 3, .axis = 1}), norm(x[0], {.ord = 1, .axis = {0, 1}})};
  });
  const Tensor x = cast(matrix(), float32);
  const std::vector<Tensor> y = recorder.replay({x});
  CHECK(test::max_error(y[0], norm(x)) == 0);
  CHECK(test::max_error(y[1], norm(x, {.ord = 3, .axis = 1})) == 0);
  CHECK(test::max_error(y[2], norm(x, {.ord = 1, .axis = {0, 1}})) == 0);
}

TEST_CASE("normalize: zeros stay zeros") {
  const Tensor x = constant({{3., 4.}, {0., 0.}}, {.dtype = float64});
  const auto [unit, length] = linalg::normalize(x, {.axis = 1});
  CHECK(test::max_error(unit, constant({{.6, .8}, {0., 0.}}, {.dtype = float64})) < 1e-15);
  CHECK(length.shape() == Shape{2, 1});
  CHECK(length.to_vector<double>() == std::vector<double>{5, 0});
  CHECK(value(reduce_sum(linalg::normalize(constant({1.f, 3.f}), {.ord = 1}).normalized)) == 1);
  const auto f = [](const Tensor& t) { return linalg::normalize(t, {.axis = 1}).normalized; };
  CHECK(test::compute_gradient_error(f, constant({{3., 4.}, {1., -2.}}, {.dtype = float64}), {.delta = 1e-5}) < 1e-9);
}

TEST_CASE("norm: errors") {
  const Tensor x = matrix();
  const auto error = [&](const NormOptions& o) { return error_of<errors::InvalidArgumentError>([&] { norm(x, o); }); };
  CHECK_THAT(error({.ord = 2, .axis = {0, 1}}), ContainsSubstring("linalg::norm of tandem/linalg.hpp"));
  CHECK_THAT(error({.ord = "nuc", .axis = {0, 1}}), ContainsSubstring("order nuc of a matrix needs singular values"));
  CHECK_THAT(error({.ord = 3, .axis = {0, 1}}), ContainsSubstring("order 3 of a matrix is not defined"));
  CHECK_THAT(error({.ord = "nuc"}), ContainsSubstring("give two axes"));
  CHECK_THAT(error({.ord = 0}), ContainsSubstring("order 0 is not positive"));
  CHECK_THAT(error({.ord = -1}), ContainsSubstring("order -1 is not positive"));
  CHECK_THAT(error({.axis = {0, 2}}), ContainsSubstring("axis 2 is out of range"));
  CHECK_THAT(error({.axis = {0, 0}}), ContainsSubstring("axis 0 is given twice"));
  CHECK_THAT(error_of([&] { norm(x, {.ord = "two"}); }), ContainsSubstring("unknown order \"two\""));
  CHECK_THAT(error({.ord = "fro", .axis = 1}), ContainsSubstring("order fro is a norm of matrices; give two axes"));
  for (const double ord : {1., 2., inf})
    CHECK_THROWS_AS(norm(constant({1, 2}), {.ord = ord}), errors::UnimplementedError);
}
