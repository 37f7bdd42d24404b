// The gradient checker itself: right gradients pass, wrong ones are measured; second order through fused ops.
#include "tandem/autodiff/check.hpp"

#include <cmath>
#include <complex>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/determinism.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
using List = std::vector<Tensor>;

Tensor wave(const Shape& s, double phase) {
  return reshape(sin(cast(range(static_cast<double>(s.size())), float64) * 1.7 + phase), s);
}
// The gradient of sum(f^2) with respect to every x, as one vector.
template <class F>
Tensor gradients_of(const F& f, const List& x) {
  GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  List flat;
  for (const Tensor& g : tape.gradient(square(f(x)), x)) flat.push_back(reshape(g, {-1}));
  return concat(flat, 0);
}
template <class F>
void check_second_order(const F& f, const List& x) {
  CHECK(test::compute_gradient_error(f, x, {.delta = 1e-5}) < 1e-7);
  CHECK(test::compute_gradient_error([&](const List& p) { return gradients_of(f, p); }, x, {.delta = 1e-5}) < 1e-6);
}
}  // namespace

TEST_CASE("checker: relu(x * x) in float32") {
  const Tensor x = cast(wave({10}, 0.3), float32);
  CHECK(test::compute_gradient_error([](const Tensor& t) { return nn::relu(t * t); }, x) < 1e-4);
}

TEST_CASE("checker: a gradient that is missing shows as the whole true gradient") {
  const Tensor w = constant(std::vector<double>{.5, .25, 0, -.25, -.5});
  const auto stopped = [](const Tensor& t) {
    return nn::softmax_cross_entropy_with_logits(stop_gradient(nn::softmax(t)), t);
  };
  const auto entropy = [](const Tensor& t) { return nn::softmax_cross_entropy_with_logits(nn::softmax(t), t); };
  CHECK(test::compute_gradient_error(stopped, w, {.delta = 1e-5}) == Approx(0.11727).margin(1e-3));
  CHECK(test::compute_gradient_error(stopped, cast(w, float32)) == Approx(0.11727).margin(1e-3));
  CHECK(test::compute_gradient_error(entropy, w, {.delta = 1e-5}) < 1e-8);
  CHECK(test::compute_gradient_error(entropy, cast(w, float32)) < 1e-4);
}

TEST_CASE("checker: Jacobians, one for each argument") {
  const Tensor m = wave({2, 3}, 0), v = wave({3}, 1);
  const auto j = test::compute_gradient([](const Tensor& a, const Tensor& b) { return linalg::matvec(a, b); },
                                        std::vector<Tensor>{m, v}, {.delta = 1e-5});
  REQUIRE(j.size() == 2);
  CHECK(j[0].theoretical.shape() == Shape{6, 2});
  CHECK(j[1].numerical.shape() == Shape{3, 2});
  CHECK(test::max_error(j[1].theoretical, transpose(m)) == 0);
  CHECK(test::max_error(j[1].numerical, transpose(m)) < 1e-9);
}

TEST_CASE("checker: complex numbers are two rows and columns") {
  const Tensor z = constant(std::vector<std::complex<double>>{{1, 2}, {-.5, .25}});
  const auto square_of = [](const Tensor& t) { return t * t; };
  const auto j = test::compute_gradient(square_of, {z}, {.delta = 1e-5});
  REQUIRE(j.size() == 1);
  CHECK(j[0].theoretical.shape() == Shape{4, 4});
  // (x + i y)^2 = x^2 - y^2 + 2 x y i, at 1 + 2 i.
  const std::vector<double> got = j[0].theoretical.to_vector<double>();
  CHECK(std::vector<double>{got[0], got[1], got[4], got[5]} == std::vector<double>{2, 4, -4, 2});
  CHECK(test::max_error(j[0].theoretical, j[0].numerical) < 1e-8);
  const auto parts = [](const Tensor& t) { return abs(t) + real(exp(t)) * imag(conj(t)); };
  CHECK(test::compute_gradient_error(parts, z, {.delta = 1e-5}) < 1e-8);
  CHECK(test::compute_gradient_error(parts, cast(z, complex64)) < 1e-3);
  // A function that is not the derivative of what it returns is seen.
  CHECK(test::compute_gradient_error([](const Tensor& t) { return stop_gradient(t) * t; }, z, {.delta = 1e-5}) > .1);
  CHECK(test::compute_gradient_error([](const Tensor& a, const Tensor& b) { return matmul(a, b, {.adjoint_a = true}); },
                                     {reshape(z, {2, 1}), reshape(z, {2, 1})}, {.delta = 1e-5}) < 1e-8);
}

TEST_CASE("checker: several outputs, and any number of arguments") {
  const Tensor x = wave({3}, 0);
  const auto pair = [](const Tensor& t) { return std::pair(t * t, reduce_sum(t)); };
  const auto j = test::compute_gradient(pair, {x}, {.delta = 1e-5});
  CHECK(j[0].theoretical.shape() == Shape{3, 4});
  CHECK(test::max_error(j[0].theoretical, j[0].numerical) < 1e-9);
  CHECK(test::compute_gradient_error([](const Tensor& t) { return unstack(t * t); }, x, {.delta = 1e-5}) < 1e-9);
  const auto half_stopped = [](const Tensor& t) { return std::tuple(t * t, stop_gradient(t) * t, complex(t, sin(t))); };
  CHECK(test::compute_gradient_error(half_stopped, x, {.delta = 1e-5}) > .1);
  const auto five = [](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d, const Tensor& e) {
    return a * b + c * d * e;
  };
  CHECK(test::compute_gradient(five, {x, x + 1, x + 2, x + 3, x + 4}, {.delta = 1e-5}).size() == 5);
  CHECK(test::compute_gradient_error(five, {x, x + 1, x + 2, x + 3, x + 4}, {.delta = 1e-5}) < 1e-8);
  CHECK_THROWS_WITH(test::compute_gradient(five, {x, x}), ContainsSubstring("does not take 2 tensors"));
  CHECK_THROWS_WITH(test::compute_gradient_error([](const Tensor& t) { return argmax(t, 0); }, x),
                    ContainsSubstring("results, not int64[]"));
  CHECK_THROWS_WITH(test::compute_gradient_error([](const Tensor& t) { return t; }, constant({1})),
                    ContainsSubstring("inputs, not int32[1]"));
}

TEST_CASE("checker: NaN is never a small error, and shapes must agree") {
  const Tensor nan = constant({std::nan(""), 0.0}, {.dtype = float64}), zero = zeros({2}, {.dtype = float64});
  CHECK(std::isnan(test::max_error(nan, zero)));
  CHECK(std::isnan(test::max_error(zero, nan)));
  CHECK_THROWS_AS(test::max_error(zero, zeros({3}, {.dtype = float64})), errors::InvalidArgumentError);
  CHECK(std::isnan(test::compute_gradient_error([](const Tensor& t) { return log(t); }, zero - 1)));
}

TEST_CASE("second order: fused ops by their reference") {
  const Tensor logits = wave({3, 4}, 0), labels = nn::softmax(wave({3, 4}, 2)), classes = constant({2, 0, 3});
  check_second_order([](const List& x) { return nn::softmax_cross_entropy_with_logits(x[0], x[1]); }, {labels, logits});
  check_second_order([&](const List& x) { return nn::sparse_softmax_cross_entropy_with_logits(classes, x[0]); },
                     {logits});
  check_second_order([](const List& x) { return nn::softmax(x[0]); }, {logits});
  check_second_order([](const List& x) { return nn::log_softmax(x[0], 0); }, {logits});
}

TEST_CASE("second order: recurrent ops by the derivative of their reference") {
  const Tensor x = wave({3, 2, 2}, 0), h = wave({2, 2}, 1), c = wave({2, 2}, 2), lengths = constant({2, 3});
  check_second_order(
      [&](const List& p) {
        const nn::LstmResult r = nn::lstm(p[0], {p[1], p[2]}, p[3], p[4], p[5], {.sequence_length = lengths});
        return concat({reshape(r.output, {-1}), reshape(r.state.h, {-1}), reshape(r.state.c, {-1})}, 0);
      },
      {x, h, c, wave({2, 8}, 3), wave({2, 8}, 4), wave({8}, 5)});
  check_second_order(
      [&](const List& p) {
        const nn::GruResult r = nn::gru(p[0], p[1], p[2], p[3], p[4], {.sequence_length = lengths});
        return concat({reshape(r.output, {-1}), reshape(r.state, {-1})}, 0);
      },
      {x, h, wave({2, 6}, 3), wave({2, 6}, 4), wave({2, 6}, 5)});
}

TEST_CASE("assert_all_close: within tolerances, NaN and infinities; the first difference is named") {
  const Tensor a = constant({1.f, 2.f, NAN, INFINITY});
  CHECK_NOTHROW(test::assert_all_close(a, a));
  CHECK_NOTHROW(test::assert_all_close(a, cast(a, float64) * 1.0000005));
  CHECK_NOTHROW(test::assert_all_close(constant({100.f}), constant({101.f}), {.rtol = 0, .atol = 1}));
  CHECK_NOTHROW(test::assert_all_close(constant({1, 2}), constant({1.f, 2.f})));
  const auto differ = [](const Tensor& x, const Tensor& y) {
    CHECK_THROWS_AS(test::assert_all_close(x, y), errors::InvalidArgumentError);
  };
  differ(a, constant({1.f, 2.f, NAN, -INFINITY}));
  differ(a, constant({1.f, 2.f, 3.f, INFINITY}));
  differ(constant({1e30f}), constant({INFINITY}));
  differ(constant({INFINITY}), constant({1e30f}));
  differ(constant(std::complex<float>(1, 2)), constant(std::complex<float>(1, -2)));
  CHECK_THROWS_WITH(test::assert_all_close(constant({{1, 2}, {3, 4}}), constant({{1, 2}, {5, 9}}), {.message = "sums"}),
                    ContainsSubstring("sums: 2 of 4 elements differ, first at [1,0]: 3 and 5"));
  CHECK_THROWS_WITH(test::assert_all_close(ones({2}), ones({3})),
                    ContainsSubstring("float32[2]") && ContainsSubstring("float32[3]"));
}

TEST_CASE("is_gpu_available says whether tensors can be moved to a GPU") {
  if (test::is_gpu_available()) CHECK_NOTHROW(constant(1.f).gpu(0));
  else CHECK_THROWS_AS(constant(1.f).gpu(0), errors::OpError);
}

TEST_CASE("enable_op_determinism: sums over collisions have the same bits in each call") {
  config::enable_op_determinism();
  const Tensor x = cast(wave({1000}, 0.1), float32), ids = cast(round(cast(wave({1000}, 0.7), float32) * 3 + 3), int32);
  const auto sums = [&] { return unsorted_segment_sum(x, ids, 7).to_vector<float>(); };
  const auto first = sums();
  for (int i = 0; i < 5; ++i) CHECK(sums() == first);
}
