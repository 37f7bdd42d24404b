// det, slogdet, logdet, expm: values by NumPy and SciPy, singular matrices, size 0, extremes, gradients.
#include "tandem/linalg/det.hpp"

#include <cmath>

#include "tests/linalg/matrices.hpp"

using namespace matrices;
using testing::error_of;

namespace {
Tensor gradient_of(Tensor (*f)(const Tensor&, OpOptions), const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x, {}), x);
}
}  // namespace

TEST_CASE("linalg::det: values, singular matrices, size 0") {
  const Tensor a = constant({{4.f, 2.f}, {2.f, 3.f}});
  CHECK(linalg::det(a).item<float>() == Approx(8));
  CHECK(linalg::logdet(a).item<float>() == Approx(2.0794415));
  CHECK(linalg::det(general()).item<double>() == Approx(32.625));
  CHECK(linalg::det(zeros({0, 0})).item<float>() == 1);
  CHECK(linalg::det(zeros({2, 0, 0})).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(linalg::det(constant({{1.f, 2.f}, {2.f, 4.f}})).item<float>() == 0);
  const auto [sign, log] = linalg::slogdet(constant({{{1.f, 2.f}, {2.f, 4.f}}, {{0.f, 2.f}, {3.f, 0.f}}}));
  CHECK(sign.to_vector<float>() == std::vector<float>{0, -1});
  CHECK(log.to_vector<float>()[0] == -INFINITY);
  CHECK(log.to_vector<float>()[1] == Approx(std::log(6.)));
  CHECK(linalg::slogdet(zeros({0, 0})).log_abs_determinant.item<float>() == 0);
  const linalg::Slogdet tiny = linalg::slogdet(1e-30f * eye(20));  // det would be 0
  CHECK(tiny.log_abs_determinant.item<float>() == Approx(20 * std::log(1e-30)));
  const Tensor z = complex(constant({{2.f, 1.f}, {0.f, 3.f}}), constant({{1.f, -1.f}, {.5f, -2.f}}));
  CHECK(std::abs(linalg::det(z).item<std::complex<float>>() - std::complex<float>(7.5f, -1.5f)) < 1e-5f);
  const auto [phase, modulus] = linalg::slogdet(z);
  CHECK(std::abs(phase.item<std::complex<float>>() - std::complex<float>(.98058068f, -.19611614f)) < 1e-6f);
  CHECK(modulus.dtype() == float32);
  CHECK(modulus.item<float>() == Approx(2.0345134));
  CHECK_THAT(error_of([] { linalg::det(zeros({2, 3})); }), ContainsSubstring("not square"));
  CHECK_THAT(error_of([] { linalg::logdet(-eye(2)); }), ContainsSubstring("not positive definite"));
  CHECK(std::isnan(linalg::det(fill({3, 3}, float(NAN))).item<float>()));
}

TEST_CASE("linalg::det: the gradient is the matrix of cofactors, also of singular matrices") {
  CHECK(distance(gradient_of(linalg::det, constant({{1.f, 2.f}, {2.f, 4.f}})), constant({{4.f, -2.f}, {-2.f, 1.f}})) <
        1e-6);
  CHECK(distance(gradient_of(linalg::det, zeros({2, 2})), zeros({2, 2})) == 0);
  CHECK(distance(gradient_of(linalg::det, constant({{5.f}})), constant({{1.f}})) == 0);
  const auto det = [](const List& x) { return linalg::det(x[0]); };
  const Tensor rank_2 = doubles({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
               rank_1 = doubles({3, 3}, {1, 2, 3, 2, 4, 6, -1, -2, -3});
  for (const Tensor& a : {general(), rank_2, rank_1, random_matrix({2, 4, 4})}) {
    CHECK(first_order(det, {a}) < 1e-7);
    const auto slope = [&](const Tensor& x) { return gradient_of(linalg::det, x); };
    CHECK(test::compute_gradient_error(slope, a, {.delta = 1e-5}) < 1e-6);
  }
}

TEST_CASE("linalg: gradients of slogdet and logdet") {
  const auto log = [](const List& x) { return linalg::slogdet(x[0]).log_abs_determinant; };
  CHECK(first_order(log, {general()}) < 1e-8);
  CHECK(second_order(log, {general()}) < 1e-6);
  CHECK(distance(gradient_of(linalg::logdet, symmetric()), linalg::inv(symmetric())) < 1e-14);
  GradientTape tape;
  const Tensor a = general();
  tape.watch(a);
  CHECK(distance(tape.gradient(linalg::slogdet(a).sign, a), zeros({3, 3})) == 0);
}

TEST_CASE("linalg::expm: as SciPy") {
  CHECK(distance(linalg::expm(constant({{0.f, -1.f}, {1.f, 0.f}})),
                 constant({{.5403023f, -.8414710f}, {.8414710f, .5403023f}})) < 1e-6);
  CHECK(distance(linalg::expm(general()),
                 doubles({3, 3}, {6.784939474789234, -1.5189876019976185, 24.32271349380266, 1.5189876019976136,
                                  -5.619793650779066, -41.59597106494695, 12.161356746901328, 20.79798553247346,
                                  26.959801728096217})) < 1e-13);
  const double c = std::cos(30.), s = std::sin(30.);
  CHECK(distance(linalg::expm(doubles({2, 2}, {0, 30, -30, 0})), doubles({2, 2}, {c, s, -s, c})) < 1e-12);
  const Tensor z = complex(constant({{2.f, 1.f}, {0.f, 3.f}}), constant({{1.f, -1.f}, {.5f, -2.f}}));
  const auto e = numbers(linalg::expm(z));
  CHECK(std::abs(e[0] - std::complex<double>(6.313195035040686, 8.066410047907157)) < 1e-5);
  CHECK(std::abs(e[3] - std::complex<double>(-4.29596404199711, -19.796426730261103)) < 1e-5);
  CHECK(distance(linalg::expm(zeros({2, 3, 3})), eye(3, {.batch_shape = {2}})) == 0);
  CHECK(linalg::expm(zeros({0, 0})).shape() == Shape{0, 0});
  CHECK(distance(linalg::expm(linalg::diag(constant({1.f, -300.f}))), linalg::diag(constant({2.7182817f, 0.f}))) <
        1e-6);
  CHECK(std::isnan(linalg::expm(constant({{float(NAN)}})).item<float>()));
  const Tensor large = random_matrix({70, 70}), inverse = linalg::expm(-large);
  CHECK(distance(loop_product(linalg::expm(large), inverse), identity_like(large)) < 1e-6);
  const auto f = [](const List& x) { return linalg::expm(x[0]); };
  CHECK(first_order(f, {general()}) < 1e-6);
  CHECK(second_order([](const List& x) { return linalg::expm(.3 * x[0]); }, {random_matrix({2, 2, 2})}) < 1e-5);
}

TEST_CASE("linalg: half precision is computed in float32") {
  const Tensor a = cast(constant({{4.f, 2.f}, {2.f, 3.f}}), float16);
  CHECK(linalg::cholesky(a).dtype() == float16);
  CHECK(cast(linalg::det(a), float32).item<float>() == 8);
}
