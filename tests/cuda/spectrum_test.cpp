// Decompositions of tandem::linalg on the device: qr, eigh, svd and what is made of them. Vectors, whose signs and
// phases are free, are compared by products.
#include "tandem/autodiff/tape.hpp"
#include "tests/cuda/linalg_matrices.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using namespace gpu_test;

namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();

Tensor host_product(const Tensor& a, const Tensor& b, bool adjoint_b = false) {
  return matmul(a.cpu(), b.cpu(), {.adjoint_b = adjoint_b});
}
/// x times real numbers by columns, on the host.
Tensor columns_times(const Tensor& x, const Tensor& s) { return x.cpu() * expand_dims(cast(s.cpu(), x.dtype()), -2); }
bool all_nan(const Tensor& x) {
  const Tensor real_part = is_complex(x.dtype()) ? real(x.cpu()) : x.cpu();
  return reduce_all(is_nan(real_part)).item<bool>();
}

void check_qr(const Tensor& a, bool full) {
  const auto [q, r] = linalg::qr(a.gpu(), {.full_matrices = full});
  const auto [want_q, want_r] = linalg::qr(a, {.full_matrices = full});
  REQUIRE(q.shape() == want_q.shape());
  REQUIRE(r.shape() == want_r.shape());
  check_orthonormal(q);
  const i64 size = std::max<i64>(a.shape().dim(-2), 1);
  if (a.size()) check_close(host_product(q, r), a, size);
  const Tensor host_r = r.cpu();
  check_close(host_r, linalg::band_part(host_r, 0, -1), size);
  check_close(abs(host_r), abs(want_r), size);  // the diagonal's signs are free, and so those of rows
  const Tensor diagonal = linalg::diag_part(host_r);
  if (is_complex(a.dtype())) check_close(diagonal, cast(real(diagonal), a.dtype()), size);
}

void check_svd(const Tensor& a, bool full, bool is_regular = true) {
  const auto [s, u, v] = linalg::svd(a.gpu(), {.full_matrices = full});
  const auto [want_s, want_u, want_v] = linalg::svd(a, {.full_matrices = full});
  REQUIRE(u.shape() == want_u.shape());
  REQUIRE(v.shape() == want_v.shape());
  const i64 m = a.shape().dim(-2), n = a.shape().dim(-1), k = std::min(m, n), size = 4 * std::max(m, n);
  check_close(s, want_s, size);
  check_close(linalg::svd(a.gpu(), {.compute_uv = false}).s, want_s, size);
  check_orthonormal(u);
  check_orthonormal(v);
  const auto first = [&](const Tensor& x) {
    return full ? split(x.cpu(), {k, x.shape().dim(-1) - k}, {.axis = -1})[0] : x;
  };
  check_close(host_product(columns_times(first(u), s), first(v), true), a, size);
  if (is_regular) check_close(linalg::pinv(a.gpu()), linalg::pinv(a), 10 * size);
}

void check_eigh(const Tensor& a) {
  const i64 size = 4 * a.shape().dim(-1);
  const auto [w, v] = linalg::eigh(part_of(a, -1, 0, not_a_number).gpu());
  const Tensor want = linalg::eigvalsh(a);
  check_close(w, want, size);
  check_close(linalg::eigvalsh(a.gpu()), want, size);
  check_orthonormal(v);
  check_close(host_product(columns_times(v, w), v, true), a, size);
}

}  // namespace

TEST_CASE("CUDA linalg: QR factors") {
  TANDEM_NEEDS_GPU;
  for (const DType d : matrix_types)
    for (const Shape& s : {Shape{1, 1}, Shape{5, 5}, Shape{33, 33}, Shape{64, 20}, Shape{7, 12}, Shape{2, 5, 2},
                           Shape{2, 2, 2, 5}, Shape{1, 4}, Shape{4, 1}, Shape{3, 33, 33}, Shape{3, 7, 12},
                           Shape{2, 40, 3}, Shape{3, 1, 4}, Shape{3, 4, 1}, Shape{2, 1, 1}, Shape{2, 4, 257}})
      for (const bool full : {false, true}) {
        CAPTURE(name(d), to_string(s), full);
        check_qr(elements(s, d), full);
      }
  for (const Shape& s : {Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 0}, Shape{0, 2, 3}})
    for (const bool full : {false, true}) {
      const linalg::Qr got = linalg::qr(zeros(s).gpu(), {.full_matrices = full}),
                       want = linalg::qr(zeros(s), {.full_matrices = full});
      check_close(got.q, want.q);
      check_close(got.r, want.r);
    }
}

TEST_CASE("CUDA linalg: eigenvalues and eigenvectors of the lower triangle") {
  TANDEM_NEEDS_GPU;
  for (const DType d : matrix_types)
    for (const i64 n : matrix_sizes)
      for (const Shape& s : squares(n)) {
        CAPTURE(name(d), to_string(s));
        check_eigh(self_adjoint(s, d));
      }
  check_eigh(self_adjoint({emulator::barrier ? 150 : 300, emulator::barrier ? 150 : 300}, float64));
  check_eigh(self_adjoint({2, emulator::barrier ? 3 : 300, emulator::barrier ? 3 : 300}, float32));
  CHECK(linalg::eigh(zeros({2, 0, 0}).gpu()).w.shape() == Shape{2, 0});
}

TEST_CASE("CUDA linalg: singular values and vectors, pseudo-inverses") {
  TANDEM_NEEDS_GPU;
  for (const DType d : matrix_types)
    for (const Shape& s : {Shape{1, 1}, Shape{2, 2}, Shape{5, 5}, Shape{33, 33}, Shape{64, 20}, Shape{20, 64},
                           Shape{7, 3}, Shape{3, 7}, Shape{3, 5, 5}, Shape{2, 32, 6}, Shape{2, 6, 32},
                           Shape{2, 2, 35, 4}, Shape{2, 4, 35}, Shape{1, 4}, Shape{4, 1}})
      for (const bool full : {false, true}) {
        if (full && (d == float64 || d == complex64)) continue;  // takes long on the emulator
        CAPTURE(name(d), to_string(s), full);
        check_svd(s.dim(-1) == s.dim(-2) ? mixed(s, d) : elements(s, d), full);
      }
  if (!emulator::barrier) check_svd(elements({300, 200}, float32), false, false);
  for (const Shape& s : {Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 0}, Shape{0, 2, 3}})
    for (const bool full : {false, true}) {
      const linalg::Svd got = linalg::svd(zeros(s).gpu(), {.full_matrices = full}),
                        want = linalg::svd(zeros(s), {.full_matrices = full});
      check_close(got.s, want.s);
      check_close(got.u, want.u);
      check_close(got.v, want.v);
      check_close(linalg::pinv(zeros(s).gpu()), linalg::pinv(zeros(s)));
    }
}

TEST_CASE("CUDA linalg: matrices of deficient rank") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, complex128})
    for (const i64 n : {4, 40}) {
      const Tensor a = matmul(elements({2, n, 3}, d), elements({2, 3, n}, d, 3));
      check_svd(a, true);
      check_svd(a[0], false);
      if (n == 40)  // of few rows, what rounding leaves of a singular value is not far from the tolerance
        CHECK(table_calls::same_bits(linalg::matrix_rank(a.gpu()), linalg::matrix_rank(a)));
      check_close(linalg::lstsq(a.gpu(), elements({n, 2}, d, 5).gpu(), {.fast = false}),
                  linalg::lstsq(a, elements({n, 2}, d, 5), {.fast = false}), 40 * n);
    }
  check_svd(zeros({2, 3, 3}), true, false);
  check_eigh(zeros({2, 3, 3}));
  const Tensor a = elements({2, 6, 4}, float64);
  for (const NormOrder& order : {NormOrder("nuc"), NormOrder(2)})
    check_close(linalg::matrix_norm(a.gpu(), {.ord = order}), linalg::matrix_norm(a, {.ord = order}));
}

TEST_CASE("CUDA linalg: a matrix with NaN or infinity gives NaN, the others of its batch what they are") {
  TANDEM_NEEDS_GPU;
  for (const double bad : {not_a_number, static_cast<double>(INFINITY)})
    for (const DType d : matrix_types)
      for (const i64 n : {3, 40}) {
        CAPTURE(name(d), n, bad);
        const Tensor a = self_adjoint({n, n}, d), mark = one_hot(constant(1), static_cast<int>(n), {.dtype = float64});
        const Tensor spoiled = where(equal(expand_dims(mark, 1) * expand_dims(mark, 0), 1), cast(constant(bad), d), a);
        const Tensor both = stack({a, spoiled, a}).gpu();
        const auto [w, v] = linalg::eigh(both);
        const auto [s, left, right] = linalg::svd(both);
        for (const Tensor& t : {w, v, s, left, right, linalg::pinv(both)}) CHECK(all_nan(t.cpu()[1]));
        for (const i64 i : {0, 2}) {
          check_close(w.cpu()[i], linalg::eigvalsh(a), 4 * n);
          check_close(s.cpu()[i], linalg::svd(a, {.compute_uv = false}).s, 4 * n);
        }
      }
}

TEST_CASE("CUDA linalg: what does not converge raises at the next wait") {
  if (!emulator::barrier) TANDEM_SKIP("needs the emulated device");
  const auto check_stop = [](const auto& f, int matrix, const std::string& text) {
    emulator::stop_iteration(matrix);
    const std::string found = testing::error_of<errors::InvalidArgumentError>([&] {
      (void)f();
      cuda::synchronize();
    });
    CHECK_THAT(found, ContainsSubstring(text));
    CHECK_NOTHROW(f());
    cuda::synchronize();
  };
  for (const i64 n : {3, 40}) {  // in a batch, and of svd one after the other
    const Tensor a = self_adjoint({3, n, n}, float32).gpu();
    check_stop([&] { return linalg::eigh(a); }, 1, "eigh: matrix 1 has eigenvalues that the iteration did not find");
    check_stop([&] { return linalg::svd(a); }, 2, "svd: matrix 2 has singular values that the iteration did not find");
    check_stop([&] { return linalg::pinv(a); }, 0, "pinv: matrix 0 has singular values that");
  }
  const Tensor a = self_adjoint({4, 4}, float64).gpu();
  check_stop([&] { return linalg::eigvalsh(a); }, 0, "eigvalsh: matrix 0 has eigenvalues that");
  check_stop([&] { return linalg::svd(a, {.compute_uv = false}); }, 0, "matrix 0 has singular values that");
}

TEST_CASE("CUDA linalg: gradients of decompositions, of functions without signs") {
  TANDEM_NEEDS_GPU;
  const auto compare = [](const auto& f, const Tensor& x) {
    const auto slope = [&](const Tensor& at) {
      GradientTape tape;
      tape.watch(at);
      return tape.gradient(f(at), at);
    };
    check_close(slope(x.gpu()), slope(x), 100);
  };
  const auto weighed = [](const Tensor& x) {  // of each element another multiple
    return reduce_sum(
        x * reshape(cast(range(1., 1. + static_cast<double>(x.size())), x.dtype()).to(x.device()), x.shape()));
  };
  for (const DType d : {float64, complex128}) {
    const Tensor a = elements({2, 4, 3}, d), h = self_adjoint({2, 4, 4}, d);
    compare([&](const Tensor& x) { return weighed(square(abs(linalg::qr(x).r))); }, a);
    compare([&](const Tensor& x) { return weighed(square(abs(linalg::qr(x).q))); }, a);
    compare([&](const Tensor& x) { return weighed(linalg::svd(x).s); }, a);
    compare([&](const Tensor& x) { return weighed(square(abs(linalg::svd(x).u))); }, a);
    compare([&](const Tensor& x) { return weighed(linalg::svd(x, {.compute_uv = false}).s); }, a);
    compare([&](const Tensor& x) { return weighed(square(abs(linalg::pinv(x)))); }, a);
    compare([&](const Tensor& x) { return weighed(linalg::eigvalsh(x)); }, h);
    compare([&](const Tensor& x) { return weighed(square(abs(linalg::eigh(x).v))); }, h);
  }
}
