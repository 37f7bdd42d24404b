// Jacobians, Jacobian-vector and Hessian-vector products.
#include "tandem/autodiff/products.hpp"

#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
using Floats = std::vector<float>;
using Doubles = std::vector<double>;

Tensor f64(const Doubles& x) { return constant(x); }
}  // namespace

TEST_CASE("jacobian: of a vector by a scalar, a vector, a matrix") {
  const Tensor s = constant(2.f), v = constant({1.f, 2.f}), m = ones({2, 2});
  GradientTape tape({.persistent = true});
  tape.watch(s), tape.watch(v), tape.watch(m);
  const Tensor ramp = s * constant({1.f, 2.f, 3.f});
  CHECK(tape.jacobian(ramp, s).to_vector<float>() == Floats{1, 2, 3});
  const Tensor square_of = tape.jacobian(v * v, v);
  CHECK(square_of.shape() == Shape{2, 2});
  CHECK(square_of.to_vector<float>() == Floats{2, 0, 0, 4});
  const Tensor product = tape.jacobian(linalg::matvec(m, v), m);
  CHECK(product.shape() == Shape{2, 2, 2});
  CHECK(product.to_vector<float>() == Floats{1, 2, 0, 0, 0, 0, 1, 2});
  CHECK(tape.jacobian(ramp, v).to_vector<float>() == Floats(6));
}

TEST_CASE("jacobian: of a variable, of nothing, and its errors") {
  const Variable w(constant({1.f, 2.f}));
  GradientTape tape({.persistent = true});
  const Tensor y = w * w;
  CHECK(tape.jacobian(y, w).to_vector<float>() == Floats{2, 0, 0, 4});
  const Tensor nothing = tape.jacobian(y(Slice(0, 0)), w);
  CHECK(nothing.shape() == Shape{0, 2});
  CHECK_THROWS_AS(tape.jacobian(constant(1), w), errors::InvalidArgumentError);
  GradientTape once;
  const Tensor z = w * 2;
  CHECK_THROWS_AS(once.jacobian(z, w), errors::FailedPreconditionError);
  CHECK_THROWS_WITH(once.jacobian(z, w), ContainsSubstring(".persistent"));
}

TEST_CASE("batch_jacobian: one matrix a sample") {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor j = tape.batch_jacobian(square(x), x);
  CHECK(j.shape() == Shape{2, 2, 2});
  CHECK(j.to_vector<float>() == Floats{2, 0, 0, 4, 6, 0, 0, 8});
  const Tensor columns = constant({{1.f, 0.f, 1.f}, {0.f, 1.f, 1.f}});
  const Tensor wide = tape.batch_jacobian(matmul(x, columns), x);
  CHECK(wide.shape() == Shape{2, 3, 2});
  CHECK(wide.to_vector<float>() == Floats{1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1});
  CHECK_THROWS_AS(tape.batch_jacobian(x(Slice(0, 1)), x), errors::InvalidArgumentError);
}

TEST_CASE("jvp: the change along a direction") {
  const Tensor x = f64({0.5, -1, 2}), v = f64({1, 2, 3});
  const Tensor along = jvp([](const Tensor& t) { return sin(t) * t; }, x, v);
  const Doubles at = x.to_vector<double>(), dir = v.to_vector<double>(), got = along.to_vector<double>();
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(got[i] == Approx((std::cos(at[i]) * at[i] + std::sin(at[i])) * dir[i]).epsilon(1e-12));
  const Tensor m = f64({1, 2, 3, 4, 5, 6});
  const auto linear = [&](const Tensor& t) { return linalg::matvec(reshape(m, {2, 3}), t); };
  CHECK(jvp(linear, x, v).to_vector<double>() == Doubles{14, 32});
  CHECK(jvp([](const Tensor&) { return f64({1, 2}); }, x, v).to_vector<double>() == Doubles{0, 0});
}

TEST_CASE("hessian_vector_product: of a cubic, of a quadratic form") {
  const Tensor x = f64({1, 2, 3}), v = f64({1, 0, -1});
  const auto cubic = [](const Tensor& t) { return reduce_sum(t * t * t); };
  CHECK(hessian_vector_product(cubic, x, v).to_vector<double>() == Doubles{6, 0, -18});
  const auto mixed = [](const Tensor& t) { return reduce_prod(t); };  // H_ij = the product of the others
  CHECK(hessian_vector_product(mixed, x, v).to_vector<double>() == Doubles{-2, 3 - 1, 2});
  CHECK(hessian_vector_product([](const Tensor& t) { return reduce_sum(t); }, x, v).to_vector<double>() ==
        Doubles{0, 0, 0});
}

TEST_CASE("hessian_vector_product: symmetric through an LSTM and a cross entropy") {
  const auto wave = [](const Shape& s, double phase) {
    return sin(cast(range(static_cast<double>(s.size())), float64) * 1.7 + phase) * 0.5;
  };
  const Tensor h = zeros({2, 3}, {.dtype = float64}), kernel = reshape(wave({2, 12}, 1), {2, 12}),
               recurrent = reshape(wave({3, 12}, 2), {3, 12}), bias = wave({12}, 3);
  const auto loss = [&](const Tensor& flat) {
    const Tensor y = nn::lstm(reshape(flat, {4, 2, 2}), {h, h}, kernel, recurrent, bias).output;
    return reduce_sum(nn::sparse_softmax_cross_entropy_with_logits(zeros({4, 2}, {.dtype = int32}), y));
  };
  const Tensor x = wave({16}, 0), a = wave({16}, 4), b = wave({16}, 5);
  const double ab = reduce_sum(a * hessian_vector_product(loss, x, b)).item<double>(),
               ba = reduce_sum(b * hessian_vector_product(loss, x, a)).item<double>();
  CHECK(ab != 0);
  CHECK(ab == Approx(ba).epsilon(1e-9));
}
