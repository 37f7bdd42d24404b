// Decompositions and solvers against PyTorch and SciPy.
#include "tandem/linalg.hpp"
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

namespace {
// The QR decomposition whose R has a positive diagonal.
GoldenList positive_qr(const Tensor& a) {
  const linalg::Qr d = linalg::qr(a);
  const Tensor s = sign(linalg::diag_part(d.r));
  return {d.q * expand_dims(s, -2), d.r * expand_dims(s, -1)};
}
// Errors grow with the condition of the matrices, up to some tens.
constexpr GoldenBounds of_matrices{.output = Of::largest,
                                   .gradient = Of::largest,
                                   .float64 = 2e-13,
                                   .float32 = 5e-5,
                                   .gradient64 = 2e-12,
                                   .gradient32 = 1e-3};
}  // namespace

#define GOLDEN_MATRIX(name, ...) GOLDEN_WITHIN(of_matrices, name, __VA_ARGS__)

TEST_CASE("golden values: decompositions and solvers") {
  using namespace tandem::linalg;
  check("with_linalg", {GOLDEN_MATRIX("inv", inv(x[0])),
                        GOLDEN_MATRIX("solve", solve(x[0], x[1])),
                        GOLDEN_MATRIX("det", det(x[0])),
                        GOLDEN_MATRIX("slogdet", slogdet(x[0]).log_abs_determinant),
                        GOLDEN_MATRIX("logdet", logdet(x[0])),
                        GOLDEN_MATRIX("cholesky", cholesky(0.5 * (x[0] + matrix_transpose(x[0])))),
                        GOLDEN_MATRIX("triangular_solve", triangular_solve(x[0], x[1])),
                        {"qr", {[](const GoldenCase&, const GoldenList& x) { return positive_qr(x[0]); }, of_matrices}},
                        GOLDEN_MATRIX("svd", svd(x[0], {.compute_uv = false}).s),
                        GOLDEN_MATRIX("eigvalsh", eigvalsh(0.5 * (x[0] + matrix_transpose(x[0])))),
                        GOLDEN_MATRIX("pinv", pinv(x[0])),
                        GOLDEN_MATRIX("lstsq", lstsq(x[0], x[1])),
                        GOLDEN_MATRIX("expm", expm(x[0])),
                        GOLDEN_MATRIX("cholesky_solve", cholesky_solve(x[0], x[1]))});
}

#undef GOLDEN_MATRIX

}  // namespace golden_test
