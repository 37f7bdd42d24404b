// Samples of the ops of tandem::linalg. Matrices are well-conditioned, their eigenvalues and singular values distinct.
#include "tandem/linalg.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

// A matrix of this shape with small elements beside a diagonal of 2, 3.5, 5.
Tensor matrix(Numbers& n, const Shape& shape) {
  const Tensor x = n.reals(shape, -.7, .7), d = cast(constant({2.f, 3.5f, 5.f}), n.real());
  const i64 rows = shape.dim(-2), columns = shape.dim(-1), k = rows < columns ? rows : columns;
  return x + linalg::diag(d(Slice(0, k)), {.num_rows = rows, .num_cols = columns});
}
Tensor positive(Numbers& n, const Shape& shape) {
  const Tensor x = matrix(n, shape);
  return matmul(x, x, {.adjoint_b = true});
}

const Sample linalg_table[] = {
    {"cholesky",
     [](Numbers& n) {
       linalg::cholesky(positive(n, {3, 3}));
       linalg::cholesky(positive(n, {2, 2, 2}));
     }},
    {"triangular_solve",
     [](Numbers& n) {
       linalg::triangular_solve(matrix(n, {3, 3}), n.reals({3, 2}));
       linalg::triangular_solve(matrix(n, {3, 3}), n.reals({3, 2}), {.lower = false});
       linalg::triangular_solve(matrix(n, {2, 2, 2}), n.reals({2, 1}), {.adjoint = true});
       linalg::triangular_solve(matrix(n, {2, 2}), n.reals({3, 2, 1}), {.lower = false, .adjoint = true});
     }},
    {"solve",
     [](Numbers& n) {
       linalg::solve(matrix(n, {3, 3}), n.reals({3, 2}));
       linalg::solve(matrix(n, {3, 3}), n.reals({2, 3, 1}), {.adjoint = true});
     }},
    {"inv",
     [](Numbers& n) {
       linalg::inv(matrix(n, {3, 3}));
       linalg::inv(matrix(n, {2, 2, 2}));
     }},
    {"lu",
     [](Numbers& n) {
       linalg::lu(matrix(n, {3, 3}));
       linalg::lu(matrix(n, {2, 2, 3}), {.output_idx_type = int64});
     }},
    {"qr",
     [](Numbers& n) {
       linalg::qr(matrix(n, {3, 3}));
       linalg::qr(matrix(n, {2, 4, 2}));
     }},
    {"eigh",
     [](Numbers& n) {
       linalg::eigh(matrix(n, {3, 3}));
       linalg::eigh(matrix(n, {2, 2, 2}));
     }},
    {"eigvalsh",
     [](Numbers& n) {
       linalg::eigvalsh(matrix(n, {3, 3}));
     }},
    {"eig",
     [](Numbers& n) {
       linalg::eig(matrix(n, {3, 3}));
     }},
    {"eigvals",
     [](Numbers& n) {
       linalg::eigvals(matrix(n, {2, 3, 3}));
     }},
    {"svd",
     [](Numbers& n) {
       linalg::svd(matrix(n, {3, 3}));
       linalg::svd(matrix(n, {2, 4, 2}));
       linalg::svd(matrix(n, {2, 3}));
       linalg::svd(matrix(n, {2, 2}), {.full_matrices = true});
     }},
    {"svdvals",
     [](Numbers& n) {
       linalg::svd(matrix(n, {3, 2}), {.compute_uv = false});
     }},
    {"pinv",
     [](Numbers& n) {
       linalg::pinv(matrix(n, {3, 2}));
       linalg::pinv(matrix(n, {2, 2, 3}), {.rcond = 1e-3});
     }},
    {"det",
     [](Numbers& n) {
       linalg::det(matrix(n, {3, 3}));
       linalg::det(matrix(n, {2, 2, 2}));
     }},
    {"cofactor",
     [](Numbers& n) {
       back([](const Tensor& x) { return linalg::det(x); }, matrix(n, {3, 3}));
     }},
    {"slogdet",
     [](Numbers& n) {
       linalg::slogdet(matrix(n, {3, 3}));
       linalg::slogdet(-matrix(n, {2, 3, 3}));
     }},
    {"expm",
     [](Numbers& n) {
       linalg::expm(n.reals({3, 3}));
       linalg::expm(n.reals({2, 2, 2}));
     }},
};

}  // namespace

tandem::Span<const Sample> linalg_samples() { return linalg_table; }

}  // namespace samples::detail
