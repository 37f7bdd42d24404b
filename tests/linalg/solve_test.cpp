// cholesky, triangular_solve, solve, inv, lu, lstsq: NumPy's and SciPy's numbers, reconstruction for every dtype and
// across block sizes, broadcasting, size 0, gradients to second order, errors that name the matrix.
#include "tandem/linalg/solve.hpp"

#include <cmath>

#include "tandem/cpu/parallel.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/linalg_op_table.hpp"
#include "tests/linalg/matrices.hpp"

using namespace matrices;
using testing::error_of;

namespace {
Tensor rhs() { return doubles({3, 2}, {1, 2, 3, 4, -1, .5}); }
}  // namespace

TEST_CASE("linalg: the examples of the specification") {
  const Tensor a = constant({{4.f, 2.f}, {2.f, 3.f}});
  CHECK(distance(linalg::inv(a), constant({{.375f, -.25f}, {-.25f, .5f}})) < 1e-6);
  CHECK(distance(linalg::solve(a, constant({{2.f}, {1.f}})), constant({{.5f}, {0.f}})) < 1e-6);
  CHECK(distance(linalg::triangular_solve(constant({{2.f, 0.f}, {1.f, 2.f}}), constant({{2.f}, {3.f}})),
                 constant({{1.f}, {1.f}})) < 1e-6);
  CHECK(distance(linalg::cholesky(a), constant({{2.f, 0.f}, {1.f, 1.4142136f}})) < 1e-6);
  const Tensor line = constant({{1.f, 1.f}, {1.f, 2.f}, {1.f, 3.f}}), y = constant({{1.f}, {2.f}, {2.f}});
  CHECK(distance(linalg::lstsq(line, y), constant({{.6666667f}, {.5f}})) < 1e-5);
}

TEST_CASE("linalg: systems as NumPy and SciPy solve them") {
  const Tensor a = general(), b = rhs();
  CHECK(distance(linalg::inv(a), doubles({3, 3}, {0.4291187739463601, 0.13793103448275862, 0.015325670498084289,
                                                  -0.13793103448275862, 0.24137931034482757, 0.13793103448275862,
                                                  0.007662835249042143, -0.06896551724137931, 0.21455938697318008})) <
        1e-14);
  CHECK(distance(linalg::solve(a, b),
                 doubles({3, 2}, {0.8275862068965517, 1.417624521072797, 0.4482758620689655, 0.7586206896551724,
                                  -0.41379310344827586, -0.1532567049808429})) < 1e-14);
  CHECK(distance(linalg::solve(a, b, {.adjoint = true}),
                 doubles({3, 2}, {0.007662835249042155, 0.31034482758620696, 0.9310344827586207, 1.206896551724138,
                                  0.21455938697318003, 0.689655172413793})) < 1e-14);
  CHECK(distance(linalg::triangular_solve(a, b),
                 doubles({3, 2}, {.5, 1, 0.8333333333333333, 1, -0.4895833333333333, -0.1875})) < 1e-14);
  CHECK(distance(linalg::triangular_solve(a, b, {.lower = false, .adjoint = true}),
                 doubles({3, 2}, {.5, 1, 1.1666666666666665, 1.6666666666666665, 0.27083333333333326,
                                  0.8333333333333333})) < 1e-14);
  CHECK(distance(linalg::cholesky(symmetric()), doubles({3, 3}, {2, 0, 0, .5, 1.6583123951777, 0, -1,
                                                                 0.6030226891555273, 1.9069251784911847})) < 1e-14);
  const linalg::Lu f = linalg::lu(a);
  CHECK(distance(linalg::band_part(f.lu, 0, -1), doubles({3, 3}, {2, -1, .5, 0, 3.5, -2.25, 0, 0, 4.660714285714286})) <
        1e-14);
  CHECK(f.p.to_vector<int>() == std::vector<int>{0, 1, 2});
}

TEST_CASE("linalg: factors and solutions of every dtype, across the sizes of blocks") {
  for (const DType d : matrix_dtypes)
    for (const i64 n : {1, 5, 17, 33, 70, 130}) {
      CAPTURE(name(d), n);
      const double most = tolerance(d) * static_cast<double>(n);
      const Tensor a = random_matrix({n, n}, d), b = random_matrix({n, 3}, d, 7), p = positive({n, n}, d);
      const Tensor x = linalg::solve(a, b), z = linalg::solve(a, b, {.adjoint = true});
      // Residuals, because the condition numbers differ; relative to the sums that cancel in them.
      const double terms = tolerance(d) / 20 * static_cast<double>(n);
      CHECK(largest(loop_product(a, x) - cast(b, complex128)) < terms * largest(x));
      CHECK(largest(loop_product(a, true, z, false) - cast(b, complex128)) < terms * largest(z));
      CHECK(distance(loop_product(p, linalg::inv(p)), identity_like(p)) < most);
      const Tensor l = linalg::cholesky(p);
      CHECK(l.dtype() == d);
      CHECK(distance(loop_product(l, false, l, true), p) < most);
      CHECK(distance(linalg::band_part(l, -1, 0), l) == 0);
      CHECK(distance(loop_product(p, linalg::cholesky_solve(l, b)), b) < most);
      for (const bool lower : {true, false})
        for (const bool adjoint : {true, false}) {
          const Tensor t = lower ? l : linalg::adjoint(l);
          const Tensor y = linalg::triangular_solve(t, b, {.lower = lower, .adjoint = adjoint});
          CHECK(distance(loop_product(t, adjoint, y, false), b) < most);
        }
    }
}

TEST_CASE("linalg::lu: row p[i] of a is row i of L U, also of singular and oblong matrices") {
  for (const DType d : matrix_dtypes)
    for (const Shape& s : {Shape{4, 4}, Shape{3, 40, 60}, Shape{2, 50, 20}, Shape{70, 70}}) {
      CAPTURE(name(d), to_string(s));
      const Tensor a = random_matrix(s, d);
      const linalg::Lu f = linalg::lu(a, {.output_idx_type = int64});
      const i64 m = s.dim(-2), n = s.dim(-1), k = std::min(m, n), count = s.size() / (m * n);
      const auto lu = numbers(f.lu), from = numbers(a);
      const auto p = f.p.to_vector<i64>();
      double worst = 0;
      for (i64 b = 0; b < count; ++b)
        for (i64 i = 0; i < m; ++i)
          for (i64 j = 0; j < n; ++j) {
            std::complex<double> sum = 0;
            for (i64 q = 0; q <= std::min({i, j, k - 1}); ++q)
              sum += (q == i ? 1. : lu[static_cast<std::size_t>(b * m * n + i * n + q)]) *
                     lu[static_cast<std::size_t>(b * m * n + q * n + j)];
            const i64 row = p[static_cast<std::size_t>(b * m + i)];
            worst = std::fmax(worst, std::abs(sum - from[static_cast<std::size_t>(b * m * n + row * n + j)]));
          }
      CHECK(worst < 10 * tolerance(d));
      double largest = 0;  // partial pivoting: no factor above 1
      for (i64 i = 0; i < m; ++i)
        for (i64 j = 0; j < std::min(i, k); ++j)
          largest = std::fmax(largest, std::abs(lu[static_cast<std::size_t>(i * n + j)]));
      CHECK(largest <= (is_complex(d) ? 1.42 : 1));
    }
  CHECK(linalg::lu(zeros({2, 2})).lu.to_vector<float>() == std::vector<float>(4));
}

TEST_CASE("linalg: leading axes broadcast, and results do not depend on the number of threads") {
  const Tensor a = random_matrix({4, 1, 3, 3}), b = random_matrix({2, 3, 2}, float64, 5);
  const Tensor x = linalg::solve(a, b), t = linalg::triangular_solve(a, b);
  CHECK(x.shape() == Shape{4, 2, 3, 2});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) {
      CHECK(distance(x(i, j), linalg::solve(a(i, 0), b(j))) == 0);
      CHECK(distance(t(i, j), linalg::triangular_solve(a(i, 0), b(j))) == 0);
    }
  const Tensor many = random_matrix({64, 40, 40}, float32), large = random_matrix({300, 300}, float32);
  const auto all = [&] {
    return List{linalg::inv(many), linalg::solve(large, large), linalg::det(many), linalg::lu(large).lu};
  };
  config::set_intra_op_parallelism_threads(1);
  const List one = all();
  config::set_intra_op_parallelism_threads(4);
  const List four = all();
  config::set_intra_op_parallelism_threads(0);
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i].to_vector<float>() == four[i].to_vector<float>());
}

TEST_CASE("linalg::lstsq: over- and underdetermined, regularized, of deficient rank") {
  const Tensor a = tall(), b = doubles({4, 1}, {1, 2, -1, 3});
  const Tensor want = doubles({2, 1}, {-1.2081531809759116, 0.9549104385423102});
  CHECK(distance(linalg::lstsq(a, b), want) < 1e-12);
  CHECK(distance(linalg::lstsq(a, b, {.fast = false}), want) < 1e-12);
  const Tensor wide = linalg::matrix_transpose(a), c = doubles({2, 1}, {1, 2});
  const Tensor shortest =
      doubles({4, 1}, {0.07967881408276703, 0.10315009264978386, 0.16059295861643003, 0.1920938851142682});
  CHECK(distance(linalg::lstsq(wide, c), shortest) < 1e-12);
  CHECK(distance(linalg::lstsq(wide, c, {.fast = false}), shortest) < 1e-12);
  // With a regularizer: (A^T A + l 1) x = A^T b, whichever way.
  const Tensor gram = matmul(a, a, {.transpose_a = true}) + 2.5 * eye(2, {.dtype = float64});
  CHECK(distance(linalg::lstsq(a, b, {.l2_regularizer = 2.5}), linalg::solve(gram, matmul(wide, b))) < 1e-12);
  const Tensor outer = matmul(wide, a) + 2.5 * eye(2, {.dtype = float64});
  CHECK(distance(linalg::lstsq(wide, c, {.l2_regularizer = 2.5}), matmul(a, linalg::solve(outer, c))) < 1e-12);
  const Tensor ones_matrix = ones({3, 2}, float64);
  CHECK(distance(linalg::lstsq(ones_matrix, ones({3, 1}, float64), {.fast = false}), doubles({2, 1}, {.5, .5})) <
        1e-12);
  CHECK_THAT(error_of([&] {
               linalg::lstsq(ones_matrix, ones({3, 1}, float64));
             }),
             ContainsSubstring("lstsq: a does not have full rank") && ContainsSubstring("float64[3,2]"));
  CHECK_THAT(error_of([&] { linalg::lstsq(a, c); }), ContainsSubstring("different numbers of rows"));
  CHECK_THAT(error_of([&] { linalg::lstsq(a, b, {.l2_regularizer = -1}); }), ContainsSubstring("negative"));
}

TEST_CASE("linalg::lstsq: the normal equations of 50 measurements give back their coefficients") {
  const Tensor x = random_matrix({50, 4}), coefficients = doubles({4, 1}, {1.5, -2, .25, 3});
  const Tensor y = matmul(x, coefficients), xt = linalg::matrix_transpose(x);
  const Tensor by_hand = matmul(linalg::inv(matmul(xt, x)), matmul(xt, y));
  CHECK(distance(by_hand, coefficients) < 1e-8);
  CHECK(distance(linalg::lstsq(x, y), by_hand) < 1e-8);
}

// Products of a column and a row: all pivots but the first are rounding errors.
TEST_CASE("linalg::lstsq: a matrix without full rank raises, whatever the rounding errors are") {
  for (const DType d : {float32, float64, complex64})
    for (unsigned seed = 1; seed <= 100; ++seed) {
      CAPTURE(name(d), seed);
      const Tensor column = random_matrix({5, 1}, d, seed), row = random_matrix({1, 3}, d, 1000 + seed),
                   b = random_matrix({5, 1}, d, 2000 + seed), wide = random_matrix({1, 6}, d, 3000 + seed);
      CHECK_THROWS_AS(linalg::lstsq(matmul(column, row), b), errors::InvalidArgumentError);
      CHECK_THROWS_AS(linalg::lstsq(matmul(column, wide), b), errors::InvalidArgumentError);
      CHECK_NOTHROW(linalg::lstsq(matmul(column, row), b, {.fast = false}));
    }
  // Many measurements, and columns of very different sizes, are not a lower rank.
  const Tensor x = random_matrix({1000, 4}, float32), w = ones({4, 1}), scaled = x * constant({.1f, 1.f, 10.f, 100.f});
  // The normal equations square the condition of about 1000: 1e6 times float32's 6e-8.
  CHECK(distance(linalg::lstsq(scaled, matmul(scaled, w)), w) < 1e-2);
  CHECK_NOTHROW(linalg::lstsq(x * constant({1e-6f, 1.f, 1e3f, 1e6f}), matmul(x, w)));
  CHECK_NOTHROW(linalg::lstsq(ones({3, 2}), ones({3, 1}), {.l2_regularizer = 1e-3}));
}

TEST_CASE("linalg::inv and solve: numerically singular matrices raise, ill-conditioned ones are solved") {
  for (const DType d : {float32, float64, complex64})
    for (unsigned seed = 1; seed <= 100; ++seed) {
      CAPTURE(name(d), seed);
      const Tensor a = matmul(random_matrix({4, 1}, d, seed), random_matrix({1, 4}, d, 1000 + seed));
      CHECK_THROWS_AS(linalg::inv(a), errors::InvalidArgumentError);
      CHECK_THROWS_AS(linalg::solve(a, a), errors::InvalidArgumentError);
      CHECK_NOTHROW(linalg::inv(random_matrix({4, 4}, d, seed)));
    }
  const Tensor nine = reshape(cast(range(1, 10), float32), {3, 3});
  CHECK_THROWS_AS(linalg::inv(nine), errors::InvalidArgumentError);
  CHECK_THROWS_AS(linalg::inv(cast(nine, float64)), errors::InvalidArgumentError);
  const Tensor i = cast(range(8), float64), hilbert = 1 / (expand_dims(i, 0) + expand_dims(i, 1) + 1);
  const Tensor want = ones({8, 1}, float64);
  CHECK(distance(linalg::solve(hilbert, matmul(hilbert, want)), want) < 1e-4);  // its condition number is 1.5e10
  // Scaled rows and columns.
  const Tensor scaled = constant({{1.f, 1e20f}, {0.f, 1.f}}), tiny = constant({{1.f, 1.f}, {0.f, 1e-20f}});
  CHECK(linalg::inv(scaled).to_vector<float>() == std::vector<float>{1, -1e20f, 0, 1});
  CHECK_NOTHROW(linalg::inv(tiny));
  CHECK(linalg::det(nine).shape() == Shape{});
}

TEST_CASE("linalg: size 0") {
  CHECK(linalg::inv(zeros({0, 0})).shape() == Shape{0, 0});
  CHECK(linalg::inv(zeros({0, 3, 3})).shape() == Shape{0, 3, 3});
  CHECK(linalg::cholesky(zeros({2, 0, 0})).shape() == Shape{2, 0, 0});
  CHECK(linalg::solve(zeros({0, 0}), zeros({0, 2})).shape() == Shape{0, 2});
  CHECK(linalg::solve(eye(2), zeros({2, 0})).shape() == Shape{2, 0});
  CHECK(linalg::triangular_solve(zeros({0, 0}), zeros({3, 0, 2})).shape() == Shape{3, 0, 2});
  CHECK(linalg::lu(zeros({0, 3})).p.shape() == Shape{0});
}

TEST_CASE("linalg: gradients of solvers") {
  const Tensor a = general(), b = rhs(), batch = random_matrix({2, 3, 1}, float64, 9);
  const auto solve = [](const List& x) { return linalg::solve(x[0], x[1]); };
  CHECK(first_order(solve, {a, b}) < 1e-8);
  CHECK(second_order(solve, {a, b}) < 1e-6);
  CHECK(first_order(solve, {a, batch}) < 1e-8);
  const auto adjoint = [](const List& x) { return linalg::solve(x[0], x[1], {.adjoint = true}); };
  CHECK(first_order(adjoint, {a, b}) < 1e-8);
  CHECK(second_order([](const List& x) { return linalg::inv(x[0]); }, {a}) < 1e-6);
  const auto cholesky = [](const List& x) {
    return linalg::cholesky(matmul(x[0], x[0], {.transpose_b = true}) + eye(3, {.dtype = float64}));
  };
  CHECK(first_order(cholesky, {a}) < 1e-8);
  CHECK(second_order(cholesky, {a}) < 1e-5);
  const auto least = [](const List& x) { return linalg::lstsq(x[0], x[1], {.l2_regularizer = .5}); };
  CHECK(first_order(least, {tall(), random_matrix({4, 2})}) < 1e-8);
  CHECK(second_order(least, {tall(), random_matrix({4, 2})}) < 1e-5);
  const auto by_pinv = [](const List& x) { return linalg::lstsq(x[0], x[1], {.fast = false}); };
  CHECK(first_order(by_pinv, {tall(), random_matrix({4, 2})}) < 1e-7);
  // The gradient of cholesky is symmetric, as TensorFlow's.
  GradientTape tape;
  const Tensor s = symmetric();
  tape.watch(s);
  const Tensor g = tape.gradient(linalg::cholesky(s), s);
  CHECK(distance(g, linalg::matrix_transpose(g)) == 0);
}

TEST_CASE("linalg: gradients of complex128 with leading axes that broadcast") {
  const Tensor a = random_matrix({3, 3}, complex128), b = random_matrix({2, 3, 2}, complex128, 5);
  const auto loss = [](const Tensor& y) { return reduce_sum(real(y * conj(y))); };
  const auto gradients = [&](const auto& f, const List& x) {
    GradientTape tape;
    for (const Tensor& t : x) tape.watch(t);
    return tape.gradient(loss(f(x[0], x[1])), x);
  };
  const auto check = [&](const auto& f) {
    const List wide = gradients(f, {a, b}), narrow = gradients(f, {cast(a, complex64), cast(b, complex64)});
    for (std::size_t i = 0; i < 2; ++i) CHECK(distance(narrow[i], wide[i]) < 1e-4);  // complex64 has 24 bits
  };
  check([](const Tensor& x, const Tensor& y) { return linalg::solve(x, y); });
  check([](const Tensor& x, const Tensor& y) { return linalg::triangular_solve(x, y); });
  check([](const Tensor& x, const Tensor& y) { return matmul(x, y); });
}

TEST_CASE("linalg: a saved graph is loaded with linalg::all_ops()") {
  auto f = function([](const Tensor& x) { return linalg::solve(x, x + 1); });
  const Tensor x = random_matrix({3, 3}, float32);
  const std::string bytes = serialize(f.get_concrete_function(TensorSpec({3, 3}))->graph());
  CHECK_THAT(error_of<errors::NotFoundError>([&] { parse_graph(bytes, {.ops = all_ops()}); }),
             ContainsSubstring("each component has its own"));
  ConcreteFunction loaded(parse_graph(bytes, {.ops = {linalg::all_ops(), all_ops()}}));
  CHECK(distance(loaded(List{x})[0], f(x)) == 0);
}

TEST_CASE("linalg: errors name the op, what is wrong and the matrix of the batch") {
  const Tensor singular = constant({{1.f, 2.f}, {2.f, 4.f}}), good = eye(2);
  const auto error = [](const auto& f) { return error_of<errors::InvalidArgumentError>(f); };
  CHECK_THAT(error([&] { linalg::inv(singular); }), ContainsSubstring("inv: the matrix float32[2,2] is singular"));
  const Tensor batch = reshape(stack({good, good, good, good, singular, singular}), {2, 3, 2, 2});
  CHECK_THAT(error([&] { linalg::inv(batch); }), ContainsSubstring("matrix [1,1] of float32[2,3,2,2] is singular"));
  CHECK_THAT(error([&] { linalg::solve(batch, good); }),
             ContainsSubstring("solve: matrix [1,1] of float32[2,3,2,2] is singular"));
  CHECK_THAT(error([&] {
               linalg::cholesky(stack({good, -good}));
             }),
             ContainsSubstring("matrix [1] of float32[2,2,2] is not positive definite"));
  CHECK_THAT(error([&] { linalg::cholesky(fill({2, 2}, float(NAN))); }), ContainsSubstring("not positive definite"));
  CHECK_THAT(error([&] { linalg::triangular_solve(zeros({2, 2}), good); }), ContainsSubstring("zero on the diagonal"));
  CHECK_THAT(error([&] { linalg::inv(zeros({2, 3})); }), ContainsSubstring("not square: float32[2,3]"));
  CHECK_THAT(error([&] { linalg::inv(zeros({3})); }), ContainsSubstring("rank 2 or more"));
  CHECK_THAT(error([&] { linalg::solve(good, zeros({2})); }), ContainsSubstring("expand_dims(b, -1)"));
  CHECK_THAT(error([&] {
               linalg::solve(good, zeros({3, 1}));
             }),
             ContainsSubstring("a and b have different numbers of rows: float32[2,2] x float32[3,1]"));
  CHECK_THAT(error([&] { linalg::solve(good, zeros({2, 1}, float64)); }), ContainsSubstring("dtypes differ"));
  CHECK_THROWS_AS(linalg::inv(constant({{1}})), errors::UnimplementedError);
  CHECK(std::isnan(linalg::solve(fill({2, 2}, float(NAN)), good).to_vector<float>()[0]));
}

TEST_CASE("linalg: errors of composed functions have their names") {
  const auto op_of = [](const auto& f) {
    try {
      f();
    } catch (const errors::OpError& e) {
      return e.op();
    }
    return std::string();
  };
  CHECK(op_of([] { linalg::logdet(constant({{-1.f}})); }) == "logdet");
  CHECK(op_of([] { linalg::matrix_rank(constant({{1}})); }) == "matrix_rank");
  CHECK(op_of([] { linalg::cholesky_solve(constant({{1}}), constant({{1}})); }) == "cholesky_solve");
  CHECK(op_of([] { linalg::lstsq(constant({{1}}), constant({{1}})); }) == "lstsq");
}

TEST_CASE("linalg: in traces with unknown sizes") {
  testing::Recorder recorder;
  const auto f = [](const List& x) {
    GradientTape tape;
    tape.watch(x[0]);
    const Tensor y = linalg::lstsq(x[1], linalg::solve(x[0], x[1]));
    return List{y,
                tape.gradient(y, x[0]),
                linalg::inv(x[0]),
                linalg::det(x[0]),
                linalg::svd(x[1]).s,
                linalg::expm(x[0]),
                linalg::matrix_norm(x[0], {.ord = 2}),
                linalg::cholesky(x[0]),
                linalg::pinv(x[1]),
                linalg::qr(x[1]).r,
                linalg::matrix_rank(x[1]),
                linalg::eigvalsh(x[0])};
  };
  const Spec any{{none, none}, float64, {}};
  recorder.trace({any, any}, f);
  const List x{symmetric(), rhs()}, got = recorder.replay(x), want = f(x);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(distance(got[i], want[i]) < 1e-12);
  }
}
