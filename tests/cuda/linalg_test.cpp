// Solvers of tandem::linalg on the device: cholesky, triangular_solve, solve, inv, lu, det, slogdet and what is made of
// them, for each dtype, batches and empty matrices, errors, captures. Decompositions: spectrum_test.cpp.
#include "tandem/autodiff/tape.hpp"
#include "tandem/function.hpp"
#include "tests/cuda/linalg_matrices.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using namespace gpu_test;
using testing::error_of;

namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();

// That the next wait raises, in the op's name, and the one behind it does not.
template <class F>
void check_error(const F& f, const std::string& text) {
  const std::string found = error_of<errors::InvalidArgumentError>([&] {
    (void)f();
    cuda::synchronize();
  });
  CHECK_THAT(found, ContainsSubstring(text));
  CHECK_NOTHROW(cuda::synchronize());
}

// That the rows of a that p names are L U, and where the pivots are `clear`, that both are the CPU's.
void check_lu(const Tensor& a, bool clear) {
  const linalg::Lu got = linalg::lu(a.gpu()), want = linalg::lu(a);
  const Tensor factors = got.lu.cpu(), p = got.p.cpu();
  const i64 rows = a.shape().dim(-2), columns = a.shape().dim(-1), k = std::min(rows, columns);
  const Tensor left = split(factors, {k, columns - k}, {.axis = -1})[0];
  const Tensor upper = linalg::band_part(split(factors, {k, rows - k}, {.axis = -2})[0], 0, -1);
  const Tensor lower =
      linalg::band_part(left, -1, 0) - linalg::band_part(left, 0, 0) + cast(eye(rows, {.num_columns = k}), a.dtype());
  const int axis = a.shape().rank() - 2;
  check_close(matmul(lower, upper), gather(a, p, {.axis = axis, .batch_dims = axis}), std::max(rows, columns));
  CHECK(cast(reduce_max(abs(lower)), float64).item<double>() <= 1.5);  // pivots are measured in more ways than one
  if (!clear) return;
  check_close(factors, want.lu, std::max(rows, columns));
  CHECK(table_calls::same_bits(p, want.p));
}

}  // namespace

TEST_CASE("CUDA linalg: Cholesky factors") {
  TANDEM_NEEDS_GPU;
  for (const DType d : matrix_types)
    for (const i64 n : matrix_sizes)
      for (const Shape& s : squares(n)) {
        CAPTURE(name(d), to_string(s));
        const Tensor a = positive(s, d), l = linalg::cholesky(part_of(a, -1, 0, not_a_number).gpu());
        check_close(l, linalg::cholesky(a), n);
        const Tensor b = elements({n, 2}, d, 3);
        if (n < 64) check_close(linalg::cholesky_solve(l, b.gpu()), linalg::cholesky_solve(l.cpu(), b), n);
        if (n < 64) check_close(linalg::logdet(a.gpu()), linalg::logdet(a), n);
      }
}

TEST_CASE("CUDA linalg: triangular systems read one triangle") {
  TANDEM_NEEDS_GPU;
  for (const DType d : matrix_types)
    for (const i64 n : matrix_sizes)
      for (const bool lower : {true, false})
        for (const bool adjoint : {true, false})
          for (const i64 k : {1, 4}) {
            if (n > 5 && k == 1) continue;
            CAPTURE(name(d), n, lower, adjoint, k);
            const auto compare = [&](const Shape& sa, const Shape& sb) {
              const Tensor a = part_of(regular(sa, d), lower ? -1 : 0, lower ? 0 : -1, not_a_number),
                           b = elements(sb, d, 3);
              check_close(linalg::triangular_solve(a.gpu(), b.gpu(), {.lower = lower, .adjoint = adjoint}),
                          linalg::triangular_solve(a, b, {.lower = lower, .adjoint = adjoint}), n);
            };
            compare({n, n}, {n, k});
            compare({3, n, n}, {3, n, k});
            if (n == 5) compare({2, 1, n, n}, {3, n, k}), compare({n, n}, {2, n, k}), compare({2, n, n}, {n, k});
          }
}

TEST_CASE("CUDA linalg: systems, inverses") {
  TANDEM_NEEDS_GPU;
  for (const DType d : matrix_types)
    for (const i64 n : matrix_sizes) {
      for (const bool adjoint : {true, false})
        for (const i64 k : {1, 4}) {
          if (n > 5 && adjoint != (k == 1)) continue;
          CAPTURE(name(d), n, adjoint, k);
          const auto compare = [&](const Shape& sa, const Shape& sb) {
            const Tensor a = mixed(sa, d), b = elements(sb, d, 3);
            check_close(linalg::solve(a.gpu(), b.gpu(), {.adjoint = adjoint}),
                        linalg::solve(a, b, {.adjoint = adjoint}), n);
          };
          compare({n, n}, {n, k});
          compare({3, n, n}, {3, n, k});
          if (n != 5) continue;
          compare({2, 1, n, n}, {3, n, k});
          compare({n, n}, {2, n, k});
          compare({1, n, n}, {2, 2, n, k});
          compare({2, n, n}, {n, k});
          compare({2, n, n}, {3, 1, n, k});
        }
      for (const Shape& s : squares(n)) check_close(linalg::inv(mixed(s, d).gpu()), linalg::inv(mixed(s, d)), n);
    }
}

TEST_CASE("CUDA linalg: LU factors and determinants, where pivots are clear with those of the CPU") {
  TANDEM_NEEDS_GPU;
  for (const DType d : matrix_types)
    for (const i64 n : matrix_sizes)
      for (const Shape& s : squares(n)) {
        CAPTURE(name(d), to_string(s));
        const Tensor a = mixed(s, d);
        check_lu(a, !is_complex(d));
        check_close(linalg::det(a.gpu()), linalg::det(a), n);
        const linalg::Slogdet x = linalg::slogdet(a.gpu()), y = linalg::slogdet(a);
        check_close(x.sign, y.sign, n);
        check_close(x.log_abs_determinant, y.log_abs_determinant, n);
      }
  for (const Shape& s : {Shape{5, 3}, Shape{3, 5}, Shape{2, 4, 7}, Shape{2, 40, 3}}) {
    CAPTURE(to_string(s));
    const Tensor a = elements(s, float64);
    check_lu(a, false);
    const linalg::Lu got = linalg::lu(a.gpu(), {.output_idx_type = int64});
    CHECK(got.p.dtype() == int64);
    CHECK(table_calls::same_bits(cast(got.p.cpu(), int32), linalg::lu(a.gpu()).p));
  }
}

TEST_CASE("CUDA linalg: singular matrices have determinants, whatever is behind a zero pivot") {
  TANDEM_NEEDS_GPU;
  const Tensor a = constant({{{1., 2.}, {2., 4.}}, {{0., 0.}, {0., 0.}}, {{0., 1.}, {1., 0.}}}, {.dtype = float64});
  const Tensor large = zeros({2, 300, 300}), imaginary = cast(a, complex64);
  for (const Tensor& x : {a, a[0], a[1], a[2], large, imaginary, imaginary[1]}) {
    CAPTURE(to_string(x.shape()));
    check_close(linalg::det(x.gpu()), linalg::det(x));
    const linalg::Slogdet s = linalg::slogdet(x.gpu()), t = linalg::slogdet(x);
    check_close(s.sign, t.sign);
    CHECK(table_calls::same_bits(s.log_abs_determinant, t.log_abs_determinant));
  }
  for (const i64 i : {0, 2}) check_lu(a[i], true);  // without anything behind the zero
  const Tensor nan = a[2] * not_a_number;
  CHECK(std::isnan(linalg::det(stack({nan, a[1]}).gpu()).cpu()[0].item<double>()));
  CHECK(std::isnan(linalg::slogdet(nan.gpu()).log_abs_determinant.cpu().item<double>()));
}

TEST_CASE("CUDA linalg: batches larger than the libraries take at once") {
  TANDEM_NEEDS_GPU;
  const i64 count = (1 << 14) + 3, n = emulator::barrier ? 1 : 2;
  const Tensor p = positive({count, n, n}, float32), a = mixed({count, n, n}, float32),
               b = elements({count, n, 1}, float32, 3);
  check_close(linalg::cholesky(p.gpu()), linalg::cholesky(p), 2);
  check_close(linalg::triangular_solve(p.gpu(), b.gpu()), linalg::triangular_solve(p, b), 10);
  check_close(linalg::solve(a.gpu(), b.gpu()), linalg::solve(a, b), 10);
  check_close(linalg::det(a.gpu()), linalg::det(a), 2);
  check_close(linalg::eigvalsh(p.gpu()), linalg::eigvalsh(p), 4);
  check_close(linalg::svd(a.gpu(), {.compute_uv = false}).s, linalg::svd(a, {.compute_uv = false}).s, 4);
}

TEST_CASE("CUDA linalg: large matrices, one after the other") {
  TANDEM_NEEDS_GPU;
  const i64 n = emulator::barrier ? 260 : 600;
  for (const DType d : {float32, complex128}) {
    CAPTURE(name(d));
    const Tensor a = mixed({2, n, n}, d), p = positive({2, n, n}, d), b = elements({2, n, 3}, d, 3);
    check_close(linalg::solve(a.gpu(), b.gpu()), linalg::solve(a, b), n);
    check_close(linalg::solve(a[0].gpu(), b.gpu(), {.adjoint = true}), linalg::solve(a[0], b, {.adjoint = true}), n);
    const Tensor l = linalg::cholesky(p);
    check_close(linalg::cholesky(p.gpu()), l, n);
    check_close(linalg::triangular_solve(l.gpu(), b.gpu()), linalg::triangular_solve(l, b), n);
    check_close(linalg::slogdet(a.gpu()).log_abs_determinant, linalg::slogdet(a).log_abs_determinant, n);
  }
}

TEST_CASE("CUDA linalg: matrices and batches of size 0") {
  TANDEM_NEEDS_GPU;
  for (const Shape& s : {Shape{0, 0}, Shape{2, 0, 0}, Shape{0, 3, 3}}) {
    CAPTURE(to_string(s));
    const Tensor a = zeros(s, {.dtype = float64}), g = a.gpu();
    CHECK(linalg::cholesky(g).shape() == s);
    CHECK(linalg::inv(g).shape() == s);
    CHECK(linalg::solve(g, g).shape() == s);
    CHECK(linalg::triangular_solve(g, g).shape() == s);
    CHECK(linalg::lu(g).p.shape() == linalg::lu(a).p.shape());
    check_close(linalg::det(g), linalg::det(a));
    check_close(linalg::slogdet(g).sign, linalg::slogdet(a).sign);
  }
  const Tensor a = mixed({2, 3, 3}, float32).gpu(), none_of = zeros({3, 0}).gpu();
  CHECK(linalg::solve(a, none_of).shape() == Shape{2, 3, 0});
  CHECK(linalg::triangular_solve(a, none_of).shape() == Shape{2, 3, 0});
  CHECK(linalg::lu(zeros({4, 0}).gpu()).p.cpu().to_vector<int>() == std::vector<int>{0, 1, 2, 3});
  cuda::synchronize();
}

TEST_CASE("CUDA linalg: what the CPU raises, the next wait raises, for the first matrix of a batch") {
  TANDEM_NEEDS_GPU;
  const Tensor one = constant({{2., 1.}, {1., 2.}}, {.dtype = float64}),
               bad = constant({{1., 2.}, {2., 1.}}, {.dtype = float64}),  // not positive definite
      same = constant({{1., 2.}, {2., 4.}}, {.dtype = float64}), none_of = zeros({2, 2}, {.dtype = float64});
  const Tensor b = ones({2, 1}, {.dtype = float64}).gpu();
  const auto with = [&](const Tensor& x) { return stack({one, x, one, x}).gpu(); };
  const std::uint64_t before = cuda::hidden_synchronizations();
  check_error([&] { return linalg::cholesky(bad.gpu()); },
              "cholesky: matrix 0 is not positive definite (found on GPU:0");
  check_error([&] { return linalg::cholesky(with(bad)); }, "cholesky: matrix 1 is not positive definite");
  check_error([&] { return linalg::cholesky(with(one * not_a_number)); },
              "cholesky: matrix 1 is not positive definite");
  check_error([&] { return linalg::cholesky(with(one * INFINITY)); }, "cholesky: matrix 1 is not positive definite");
  check_error([&] { return linalg::solve(same.gpu(), b); }, "solve: matrix 0 is singular");
  check_error([&] { return linalg::solve(with(same), b); }, "solve: matrix 1 is singular");
  check_error([&] { return linalg::solve(with(none_of), b); }, "solve: matrix 1 is singular");
  check_error(
      [&] {
        return linalg::solve(zeros({300, 300}).gpu(), ones({300, 1}).gpu());
      },
      "solve: matrix 0 is singular");
  check_error([&] { return linalg::inv(with(none_of)); }, "inv: matrix 1 is singular");
  check_error([&] { return linalg::inv(with(same)); }, "inv: matrix 1 is singular (linalg::pinv is defined");
  check_error([&] { return linalg::triangular_solve(with(none_of), b); },
              "triangular_solve: matrix 1 is singular: it has a zero on the diagonal");
  check_error(
      [&] {
        return linalg::lstsq(ones({3, 2}).gpu(), ones({3, 1}).gpu());
      },
      "is not positive definite beyond rounding errors");
  CHECK(cuda::hidden_synchronizations() == before);
  CHECK_THROWS_AS(linalg::cholesky(ones({2, 3}).gpu()), errors::InvalidArgumentError);
  CHECK_NOTHROW(linalg::solve((one * not_a_number).gpu(), b));  // NaN is no pivot that is lost
  CHECK_NOTHROW(linalg::inv(with(one * not_a_number)));
  cuda::synchronize();
}

TEST_CASE("CUDA linalg: gradients of solvers are the CPU's") {
  TANDEM_NEEDS_GPU;
  const auto compare = [](const auto& f, const std::vector<Tensor>& x) {
    const auto slopes = [&](const std::vector<Tensor>& at) {
      GradientTape tape;
      for (const Tensor& t : at) tape.watch(t);
      return tape.gradient(reduce_sum(f(at) * f(at)), at);
    };
    std::vector<Tensor> on_gpu;
    for (const Tensor& t : x) on_gpu.push_back(t.gpu());
    const std::vector<Tensor> got = slopes(on_gpu), want = slopes(x);
    for (std::size_t i = 0; i < x.size(); ++i) check_close(got[i], want[i], 10);
  };
  using List = const std::vector<Tensor>&;
  for (const DType d : {float64, complex128}) {
    const Tensor a = mixed({2, 4, 4}, d), b = elements({3, 1, 4, 2}, d, 3);
    compare([](List x) { return linalg::solve(x[0], x[1]); }, {a, b});
    compare([](List x) { return linalg::solve(x[0], x[1], {.adjoint = true}); }, {a, b});
    compare([](List x) { return linalg::triangular_solve(x[0], x[1], {.lower = false}); }, {regular({4, 4}, d), b});
    compare([](List x) { return linalg::inv(x[0]); }, {a});
    compare([](List x) { return linalg::cholesky(x[0]); }, {positive({2, 4, 4}, d)});
    compare([](List x) { return linalg::det(x[0]); }, {a});
    compare([](List x) { return linalg::slogdet(x[0]).log_abs_determinant; }, {a});
    compare([](List x) { return linalg::lstsq(x[0], x[1]); }, {elements({6, 3}, d), elements({6, 2}, d, 3)});
  }
  const Tensor flat = constant({{1., 2., 3.}, {2., 4., 6.}, {1., 1., 1.}}, {.dtype = float64});  // singular
  compare([](List x) { return linalg::det(x[0]) + 1; }, {flat});
}

TEST_CASE("CUDA linalg: traced functions launch solvers between captures") {
  TANDEM_NEEDS_GPU;
  const Tensor a = positive({8, 8}, float32), b = elements({8, 3}, float32, 3);
  const auto chain = [](const Tensor& x, const Tensor& y) {
    const Tensor scaled = nn::softmax(x) * 0.01f + x;
    const Tensor l = linalg::cholesky(scaled + linalg::matrix_transpose(scaled));
    return cumsum(linalg::cholesky_solve(l, y), 0) + reduce_max(linalg::solve(x, y));
  };
  const auto f = function([chain](const Tensor& x, const Tensor& y) { return chain(x, y); });
  const Tensor want = chain(a, b), ga = a.gpu(), gb = b.gpu();
  for (int i = 0; i < 5; ++i) check_close(f(ga, gb), want, 8);
}

TEST_CASE("CUDA linalg: results repeat bit for bit, and half precision is computed in float32") {
  TANDEM_NEEDS_GPU;
  const Tensor a = mixed({3, 64, 64}, float32).gpu(), b = elements({3, 64, 5}, float32, 3).gpu();
  CHECK(table_calls::same_bits(linalg::solve(a, b), linalg::solve(a, b).cpu()));
  CHECK(table_calls::same_bits(linalg::inv(a), linalg::inv(a).cpu()));
  const Tensor p = positive({65, 65}, complex64).gpu();
  CHECK(table_calls::same_bits(linalg::cholesky(p), linalg::cholesky(p).cpu()));
  const Tensor half = cast(mixed({5, 5}, float32), float16);
  check_near(linalg::inv(half.gpu()), linalg::inv(half));
}

TEST_CASE("CUDA linalg: the failure of a kernel that ran before is reported as one") {
  if (!emulator::barrier) TANDEM_SKIP("needs the emulated device");
  const Tensor one = positive({3, 3}, float32).gpu(), two = positive({2, 3, 3}, float32).gpu();
  const auto check_crash = [](const auto& f) {
    (void)f();  // takes the memory that it needs
    cuda::synchronize();
    emulator::fail();
    CHECK_THROWS_WITH(f(), ContainsSubstring("an op launched before failed: an emulated error"));
    CHECK_NOTHROW(f());
    cuda::synchronize();
  };
  check_crash([&] { return linalg::cholesky(one); });  // by cuSOLVER
  check_crash([&] { return linalg::det(two); });       // by cuBLAS
}

TEST_CASE("CUDA linalg: without cuSOLVER its ops say so") {
  if (!emulator::barrier) TANDEM_SKIP("needs the emulated device");
  const Tensor a = positive({3, 3}, float32).gpu();
  emulator::lose_solvers(true);
  CHECK_THROWS_AS(linalg::cholesky(a), errors::UnavailableError);
  CHECK_THROWS_WITH(linalg::svd(a),
                    ContainsSubstring("svd: on a GPU it needs cuSOLVER: libcusolver.so cannot be opened"));
  emulator::lose_solvers(false);
  CHECK_NOTHROW(linalg::cholesky(a));
}
