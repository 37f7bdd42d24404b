// qr, svd, eigh, eig, pinv, matrix_rank, matrix_norm: NumPy's numbers, reconstruction for every dtype, size 0, NaN,
// gradients to second order and of complex matrices.
#include <algorithm>
#include <cmath>

#include "tests/linalg/matrices.hpp"

using namespace matrices;
using testing::error_of;

namespace {

// q^H q = 1
double orthonormal(const Tensor& q) {
  const Tensor square = loop_product(q, true, q, false);
  return distance(square, identity_like(square));
}
Tensor times_diagonal(const Tensor& u, const Tensor& s) { return loop_product(u, linalg::diag(cast(s, complex128))); }
std::vector<std::complex<double>> sorted(const Tensor& w) {
  auto v = numbers(w);
  std::sort(v.begin(), v.end(), [](auto a, auto b) {
    return std::abs(a.real() - b.real()) > 1e-9 ? a.real() < b.real() : a.imag() < b.imag();
  });
  return v;
}
Tensor hermitian(const Shape& s, DType d, unsigned seed = 3) {
  const Tensor a = random_matrix(s, d, seed);
  std::vector<std::complex<double>> v = numbers(a), w = numbers(linalg::adjoint(a));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] += w[i];
  return cast(constant(v, {.shape = s}), d);
}
const Shape shapes[] = {{1, 1}, {3, 3}, {2, 5, 3}, {3, 2, 4}, {40, 40}, {50, 36}};

}  // namespace

TEST_CASE("linalg::qr: Q R = A, Q^H Q = 1, R upper") {
  for (const DType d : matrix_dtypes)
    for (const Shape& s : shapes)
      for (const bool full : {false, true}) {
        CAPTURE(name(d), to_string(s), full);
        const Tensor a = random_matrix(s, d);
        const auto [q, r] = linalg::qr(a, {.full_matrices = full});
        const i64 m = s.dim(-2), k = full ? m : std::min(m, s.dim(-1));
        CHECK((q.shape()[-1] == k && r.shape()[-2] == k && q.dtype() == d && r.dtype() == d));
        CHECK(distance(loop_product(q, r), a) < 10 * tolerance(d));
        CHECK(orthonormal(q) < tolerance(d));
        CHECK(distance(linalg::band_part(r, 0, -1), r) == 0);
      }
  CHECK(linalg::qr(zeros({0, 3})).q.shape() == Shape{0, 0});
  const linalg::Qr empty = linalg::qr(zeros({3, 0}), {.full_matrices = true});
  CHECK(distance(empty.q, eye(3)) == 0);
  CHECK(empty.r.shape() == Shape{3, 0});
  CHECK(std::isnan(linalg::qr(fill({2, 2}, float(NAN))).r.to_vector<float>()[0]));
}

TEST_CASE("linalg::svd: u diag(s) v^H = a, and v is not transposed") {
  for (const DType d : matrix_dtypes)
    for (const Shape& s : shapes)
      for (const bool full : {false, true}) {
        CAPTURE(name(d), to_string(s), full);
        const Tensor a = random_matrix(s, d);
        const linalg::Svd x = linalg::svd(a, {.full_matrices = full});
        const i64 m = s.dim(-2), n = s.dim(-1), k = std::min(m, n);
        CHECK((x.u.shape()[-1] == (full ? m : k) && x.v.shape()[-1] == (full ? n : k) && x.v.shape()[-2] == n));
        CHECK(orthonormal(x.u) < tolerance(d));
        CHECK(orthonormal(x.v) < tolerance(d));
        const Tensor u = x.u(Ellipsis, Slice(0, k)), v = x.v(Ellipsis, Slice(0, k));
        CHECK(distance(loop_product(times_diagonal(u, x.s), false, v, true), a) < 10 * tolerance(d));
        CHECK(distance(linalg::svd(a, {.compute_uv = false}).s, x.s) < tolerance(d));
        const Tensor s64 = cast(x.s, float64), head = s64(Ellipsis, Slice(0, k - 1)), tail = s64(Ellipsis, Slice(1, k));
        CHECK((k == 1 || reduce_all(head >= tail).item<bool>()));
      }
  CHECK(!linalg::svd(eye(2), {.compute_uv = false}).u.is_set());
}

TEST_CASE("linalg::svd: NumPy's values, the specification's, size 0, NaN") {
  const auto s = [](const Tensor& a) { return linalg::svd(a).s; };
  CHECK(distance(s(doubles({2, 2}, {1, 2, 3, 4})), doubles({2}, {5.4649857, .3659662})) < 1e-7);
  CHECK(distance(s(general()), doubles({3}, {4.570385800339367, 3.2604995543258735, 2.1893415202514817})) < 1e-14);
  CHECK(distance(s(tall()), doubles({2}, {9.905814768261639, 2.0309686794457664})) < 1e-14);
  const linalg::Svd empty = linalg::svd(zeros({2, 0, 3}), {.full_matrices = true});
  CHECK(empty.s.shape() == Shape{2, 0});
  CHECK(distance(empty.v(1), eye(3)) == 0);
  const linalg::Svd none_left = linalg::svd(constant({{1.f, float(NAN)}, {0.f, 1.f}}));
  CHECK(std::isnan(none_left.s.to_vector<float>()[0]));
  CHECK(std::isnan(none_left.v.to_vector<float>()[3]));
  CHECK(std::isnan(s(constant({{float(INFINITY)}})).to_vector<float>()[0]));
}

TEST_CASE("linalg::eigh: v diag(w) v^H = a, ascending, from the lower triangle") {
  CHECK(distance(linalg::eigvalsh(constant({{4.f, 2.f}, {2.f, 3.f}})), constant({1.4384472f, 5.5615528f})) < 1e-6);
  CHECK(distance(linalg::eigvalsh(symmetric()),
                 doubles({3}, {1.584206693092622, 3.8393364524664815, 6.576456854440895})) < 1e-14);
  for (const DType d : matrix_dtypes)
    for (const Shape& s : {Shape{1, 1}, Shape{3, 4, 4}, Shape{40, 40}}) {
      CAPTURE(name(d), to_string(s));
      const Tensor a = hermitian(s, d);
      const auto [w, v] = linalg::eigh(a);
      CHECK(w.dtype() == (d == complex64 ? float32 : d == complex128 ? float64 : d));
      CHECK(orthonormal(v) < tolerance(d));
      CHECK(distance(loop_product(times_diagonal(v, w), false, v, true), a) < 10 * tolerance(d));
      CHECK(distance(linalg::eigvalsh(a), w) < tolerance(d));
      CHECK(distance(sort(w, {.axis = -1}), w) == 0);
    }
  Doubles lower = symmetric().to_vector<double>();
  lower[1] = lower[2] = lower[5] = NAN;  // above the diagonal
  CHECK(distance(linalg::eigvalsh(doubles({3, 3}, lower)), linalg::eigvalsh(symmetric())) == 0);
  // The gradient of the first eigenvalue is v v^T, folded into the triangle that is read.
  const Tensor a = symmetric();
  GradientTape tape;
  tape.watch(a);
  const Tensor g = tape.gradient(linalg::eigvalsh(a)[0], a), v = linalg::eigh(a).v(Slice(), Slice(0, 1));
  const Tensor whole = matmul(v, v, {.transpose_b = true});
  CHECK(distance(g, linalg::band_part(2 * whole, -1, 0) - linalg::band_part(whole, 0, 0)) < 1e-13);
  lower[3] = NAN;
  CHECK(std::isnan(linalg::eigh(doubles({3, 3}, lower)).v.to_vector<double>()[0]));
  CHECK(linalg::eigh(zeros({2, 0, 0})).w.shape() == Shape{2, 0});
}

TEST_CASE("linalg::eig: a v = v diag(w)") {
  const auto a = sorted(linalg::eigvals(general()));
  CHECK(std::abs(a[0] - std::complex<double>(3, -1.3693063937629164)) < 1e-13);
  CHECK(std::abs(a[1] - 3.) < 1e-13);
  CHECK(std::abs(a[2] - std::complex<double>(3, 1.3693063937629164)) < 1e-13);
  for (const DType d : matrix_dtypes)
    for (const Shape& s : {Shape{1, 1}, Shape{2, 5, 5}, Shape{30, 30}}) {
      CAPTURE(name(d), to_string(s));
      const Tensor x = random_matrix(s, d);
      const auto [w, v] = linalg::eig(x);
      CHECK(w.dtype() == (d == float32 || d == complex64 ? complex64 : complex128));
      CHECK(distance(loop_product(x, v), times_diagonal(v, w)) < 10 * tolerance(d));
      const auto p = sorted(linalg::eigvals(x)), q = sorted(w);
      if (s.rank() == 2)
        for (std::size_t i = 0; i < p.size(); ++i) CHECK(std::abs(p[i] - q[i]) < 10 * tolerance(d));
      for (const auto& z : numbers(reduce_sum(cast(abs(v), float64) * cast(abs(v), float64), -2)))
        CHECK(std::abs(z - 1.) < tolerance(d));
    }
  CHECK(std::isnan(numbers(linalg::eigvals(fill({2, 2}, float(NAN))))[0].real()));
}

TEST_CASE("linalg::pinv, matrix_rank, matrix_norm") {
  CHECK(distance(linalg::pinv(tall()), doubles({2, 4}, {-0.056207535515750515, 0.05126621371216805, 0.10376775787523161,
                                                        -0.38357010500308847, 0.06794317479925882, 0.025941939468807844,
                                                        0.02841260037059913, 0.28783199505867824})) < 1e-14);
  for (const DType d : matrix_dtypes) {
    const Tensor a = random_matrix({2, 4, 3}, d), y = linalg::pinv(a);
    CHECK(distance(loop_product(loop_product(a, y), a), a) < 10 * tolerance(d));
  }
  const Tensor one = ones({3, 2});  // rank 1: its pseudo-inverse is its transpose / 6
  CHECK(distance(linalg::pinv(one), fill({2, 3}, 1.f / 6)) < 1e-6);
  CHECK(linalg::matrix_rank(stack({ones({2, 2}), eye(2), zeros({2, 2})})).to_vector<int>() ==
        std::vector<int>{1, 2, 0});
  CHECK(linalg::matrix_rank(constant({{1.f, 0.f}, {0.f, 1e-3f}}), {.tol = 1e-2}).item<int>() == 1);
  CHECK(linalg::matrix_rank(zeros({0, 2})).item<int>() == 0);
  const auto value = [](const NormOrder& ord) { return linalg::matrix_norm(general(), {.ord = ord}).item<double>(); };
  CHECK(value(2) == Approx(4.570385800339367));
  CHECK(value("nuc") == Approx(10.020226874916723));
  CHECK(value("fro") == Approx(norm(general()).item<double>()));
  CHECK(value(1) == 6.5);
  CHECK(value(INFINITY) == 6);
  const Tensor batch = random_matrix({3, 2, 4});
  const Tensor kept = linalg::matrix_norm(batch, {.ord = 2, .axis = {0, 2}, .keepdims = true});
  CHECK(kept.shape() == Shape{1, 2, 1});
  CHECK(distance(kept(0, 1, 0), linalg::svd(batch(Ellipsis, 1, Slice())).s(0)) < 1e-14);
  CHECK(linalg::matrix_norm(zeros({0, 3}), {.ord = 2}).item<float>() == 0);
  CHECK_THAT(error_of([] { linalg::matrix_norm(eye(2), {.ord = 3}); }), ContainsSubstring("not defined"));
}

TEST_CASE("linalg: gradients of decompositions, to second order") {
  const Tensor a = general(), s = symmetric(), t = tall(), wide = linalg::matrix_transpose(t);
  const auto q = [](const List& x) { return linalg::qr(x[0]).q; };
  const auto r = [](const List& x) { return linalg::qr(x[0]).r; };
  for (const Tensor& x : {a, t}) {
    CHECK(first_order(q, {x}) < 1e-7);
    CHECK(first_order(r, {x}) < 1e-7);
    CHECK(second_order(q, {x}) < 1e-5);
    CHECK(second_order(r, {x}) < 1e-4);
  }
  const auto values = [](const List& x) { return linalg::svd(x[0], {.compute_uv = false}).s; };
  const auto u = [](const List& x) { return linalg::svd(x[0]).u; };
  const auto v = [](const List& x) { return linalg::svd(x[0]).v; };
  for (const Tensor& x : {a, t, wide}) {
    CHECK(first_order(values, {x}) < 1e-7);
    CHECK(first_order(u, {x}) < 1e-7);
    CHECK(first_order(v, {x}) < 1e-7);
    CHECK(second_order(values, {x}) < 1e-4);
    CHECK(second_order(u, {x}) < 1e-4);
  }
  const auto w = [](const List& x) { return linalg::eigvalsh(x[0]); };
  const auto vectors = [](const List& x) { return linalg::eigh(x[0]).v; };
  CHECK(first_order(w, {s}) < 1e-7);
  CHECK(second_order(w, {s}) < 1e-4);
  CHECK(first_order(vectors, {s}) < 1e-7);
  CHECK(second_order(vectors, {s}) < 1e-5);
  CHECK(second_order([](const List& x) { return linalg::pinv(x[0]); }, {t}) < 1e-5);
  CHECK(first_order([](const List& x) { return linalg::matrix_norm(x[0], {.ord = 2}); }, {a}) < 1e-7);
  CHECK(first_order([](const List& x) { return linalg::matrix_norm(x[0], {.ord = "nuc"}); }, {t}) < 1e-7);
}

TEST_CASE("linalg: gradients at equal values are finite, and what has none says so") {
  const Tensor one = eye(3, {.dtype = float64});
  GradientTape tape({.persistent = true});
  tape.watch(one);
  const auto [w, v] = linalg::eigh(one);
  const linalg::Svd x = linalg::svd(one);
  CHECK(distance(tape.gradient(w, one), one) < 1e-14);
  CHECK(reduce_all(is_finite(tape.gradient(v, one))).item<bool>());
  CHECK(reduce_all(is_finite(tape.gradient(x.u, one))).item<bool>());
  const Tensor wide = random_matrix({2, 3});
  tape.watch(wide);
  const linalg::Qr f = linalg::qr(wide);
  CHECK_THROWS_AS(tape.gradient(f.r, wide), errors::UnimplementedError);
  const linalg::Svd full = linalg::svd(wide, {.full_matrices = true});
  CHECK_THROWS_AS(tape.gradient(full.v, wide), errors::UnimplementedError);
  CHECK(!tape.gradient(linalg::eig(wide(Ellipsis, Slice(0, 2))).w, wide).is_set());
}

namespace {
// The real and imaginary parts of a complex matrix as one real tensor, so that differences apply: f gives real numbers
// that do not depend on the phases of vectors.
template <class F>
double complex_error(const F& f, const Shape& shape) {
  const Tensor re = random_matrix(shape, float32, 11), im = random_matrix(shape, float32, 12);
  return test::compute_gradient_error([&](const Tensor& x, const Tensor& y) { return f(complex(x, y)); }, {re, im},
                                      {.delta = 1. / 64});
}
}  // namespace

TEST_CASE("linalg::norm: with two axes that of matrices, singular values included") {
  const Tensor x = constant({{1., 2.}, {3., 4.}}, {.dtype = float64});
  CHECK(linalg::norm(x, {.ord = 2, .axis = {0, 1}}).item<double>() == Approx(5.464985704219043));
  CHECK(linalg::norm(x, {.ord = "nuc", .axis = {-2, -1}}).item<double>() == Approx(5.8309518948453));
  CHECK(linalg::norm(x, {.ord = 2, .axis = {0, 1}, .keepdims = true}).shape() == Shape{1, 1});
  CHECK(linalg::norm(x, {.ord = 2, .axis = 1}).shape() == Shape{2});
  CHECK(linalg::norm(x, {.ord = 1, .axis = {0, 1}}).item<double>() == 6);
  CHECK(linalg::norm(x).item<double>() == tandem::norm(x).item<double>());
  CHECK_THAT(error_of([&] {
               norm(x, {.ord = 2, .axis = {0, 1}});
             }),
             ContainsSubstring("norm: order 2 of a matrix needs singular values: linalg::norm"));
  CHECK_THAT(error_of([&] {
               linalg::norm(x, {.ord = 3, .axis = {0, 1}});
             }),
             ContainsSubstring("norm: order 3 of a matrix is not defined"));
}

TEST_CASE("linalg: gradients of complex decompositions, of functions without phases") {
  const Tensor m = random_matrix({3, 3}, complex64, 13), weights = random_matrix({3, 3}, float32, 14);
  const auto projector = [&](const Tensor& v, const Tensor& w) {  // v diag(w) v^H, weighted
    const Tensor p = matmul(v * expand_dims(cast(w, complex64), -2), v, {.adjoint_b = true});
    return real(p) * weights + imag(p) * linalg::matrix_transpose(weights);
  };
  const Tensor k = constant({1.f, -2.f, .5f});
  // Finite differences in float32: the rounding of a decomposition, divided by the step and by the gaps of eigenvalues.
  CHECK(complex_error([&](const Tensor& a) { return projector(linalg::eigh(a).v, k); }, {3, 3}) < 2e-2);
  CHECK(complex_error([&](const Tensor& a) { return projector(linalg::svd(a).u, k); }, {3, 3}) < 2e-2);
  const auto mixed = [&](const Tensor& a) {  // u diag(k) v^H
    const linalg::Svd x = linalg::svd(a);
    const Tensor p = matmul(x.u * expand_dims(cast(k, complex64), -2), x.v, {.adjoint_b = true});
    return real(p * m) + imag(p);
  };
  CHECK(complex_error(mixed, {3, 3}) < 2e-2);
  CHECK(complex_error([](const Tensor& a) { return linalg::svd(a).s; }, {4, 3}) < 1e-3);
}
