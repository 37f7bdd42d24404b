// The CUDA kernels of cholesky and triangular_solve. The view of a matrix is its transpose (library.hpp).
#include "cuda/linalg/library.hpp"
#include "cuda/linalg/parts.hpp"
#include "tandem/attrs/linalg.hpp"
#include "tandem/ops/cuda_linalg_kernels.hpp"

namespace TANDEM_NS::cuda {
namespace {

// Of a self-adjoint matrix, the view is the conjugate, and the lower triangle that we read is the view's upper one. Its
// factors are U^H U, and U is the view of L: A = (U^H U)^T = U^T conj(U) = L L^H. What lies above L is not defined.
template <class S>
void factor_in_place(const Linalg& lib, DType d, void* a, i64 count, i64 n, int* info) {
  using N = typename Numbers<S>::type;
  const KernelCall& c = lib.call();
  N* const first = static_cast<N*>(a);
  if (are_batch(count, n)) {
    const Scratch room(c, static_cast<std::size_t>(count) * sizeof(N*));
    N** const each = room.as<N*>();
    const Shape s{count, n, n};
    matrix::pointers(c, room.as<void*>(), a, n * n * static_cast<i64>(size_of(d)), s, s);
    return in_parts(count, n * n, [&](i64 at, i64 size) {
      lib.check(lib.solver().each.of<N>().potrf_batched(lib.solver_handle(), CUBLAS_FILL_MODE_UPPER, lib.narrow(n),
                                                        each + at, lib.narrow(n), info + at, lib.narrow(size)),
                "potrfBatched");
    });
  }
  constexpr cudaDataType_t type = Numbers<S>::data;
  std::size_t bytes = 0, host_bytes = 0;
  lib.check(lib.solver().potrf_room(lib.solver_handle(), lib.params(), CUBLAS_FILL_MODE_UPPER, n, type, first, n, type,
                                    &bytes, &host_bytes),
            "potrf");
  const Scratch room(c, bytes);
  void* const host = lib.host_room(host_bytes);
  for (i64 m = 0; m < count; ++m)
    lib.check(lib.solver().potrf(lib.solver_handle(), lib.params(), CUBLAS_FILL_MODE_UPPER, n, type, first + m * n * n,
                                 n, type, room.as<void>(), bytes, host, host_bytes, info + m),
              "potrf");
}

// op(A) X = B of rows is X^T op(A)^T = B^T to cuBLAS, whose B^T has k rows and n columns. A^T is the view itself, with
// the other triangle; conj(A) = op(A)^T of an adjoint is the view's adjoint.
template <class S>
void solve_in_place(const Linalg& lib, const Operand& a, const Operand& x, bool lower, bool adjoint) {
  using N = typename Numbers<S>::type;
  const KernelCall& c = lib.call();
  const Shape &sa = a.shape(), &s = x.shape();
  const i64 n = s.dim(-2), k = s.dim(-1), count = matrices_of(s);
  const cublasFillMode_t triangle = lower ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const DType d = x.spec->dtype;
  const cublasOperation_t op = adjoint ? adjoint_of(d) : CUBLAS_OP_N;
  N one{};
  if constexpr (std::is_arithmetic_v<N>) one = 1;
  else one.x = 1;
  const CublasOf<N>& blas = lib.blas().each.of<N>();
  if (are_batch(count, n)) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(void*);
    const Scratch room_a(c, bytes), room_x(c, bytes);
    const i64 width = static_cast<i64>(size_of(d));
    matrix::pointers(c, room_a.as<void*>(), a.data, n * n * width, sa, s);
    matrix::pointers(c, room_x.as<void*>(), x.data, n * k * width, s, s);
    return in_parts(count, n * std::max(n, k), [&](i64 at, i64 size) {
      lib.check(blas.trsm_batched(lib.blas_handle(), CUBLAS_SIDE_RIGHT, triangle, op, CUBLAS_DIAG_NON_UNIT, k, n, &one,
                                  room_a.as<const N*>() + at, n, room_x.as<N*>() + at, k, size),
                "trsmBatched");
    });
  }
  for (i64 m = 0; m < count; ++m)
    lib.check(blas.trsm(lib.blas_handle(), CUBLAS_SIDE_RIGHT, triangle, op, CUBLAS_DIAG_NON_UNIT, k, n, &one,
                        a.as<const N>() + matrix_at(sa, s, m) * n * n, n, x.as<N>() + m * n * k, k),
              "trsm");
}

}  // namespace

void cholesky(const KernelCall& c) {
  const double tolerance = c.attrs.get<rules::CholeskyAttrs>().tolerance;
  const Operand &a = c.in[0], &l = c.out[0];
  const i64 n = l.shape().dim(-1), count = matrices_of(l.shape());
  if (n == 0 || count == 0) return;
  const DType d = l.spec->dtype;
  const Linalg lib(c);
  const Scratch info(c, static_cast<std::size_t>(count) * sizeof(int));
  const matrix::Failures failures(c);
  fill_zero(c, info.as<void>(), static_cast<std::size_t>(count) * sizeof(int));
  copy_matrices(c, d, count, n, n, false, l.data, a.data);
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() { factor_in_place<S>(lib, d, l.data, count, n, info.as<int>()); });
  matrix::note_no_factor(c, d, l.data, a.data, info.as<int>(), count, n, tolerance, failures.found());
  matrix::clear_above(c, d, l.data, count, n);
  // Only lstsq has a tolerance, of a^H a; on the CPU it replaces the text.
  failures.report(tolerance > 0
                      ? "is not positive definite beyond rounding errors (of lstsq: a does not have full rank, "
                        "or its condition number is too high; set .fast = false or a .l2_regularizer)"
                      : "is not positive definite");
}

void triangular_solve(const KernelCall& c) {
  const auto& t = c.attrs.get<rules::TriangularSolveAttrs>();
  const Operand &a = c.in[0], &b = c.in[1], &x = c.out[0];
  const Shape& s = x.shape();
  const i64 n = s.dim(-2), k = s.dim(-1);
  if (n == 0 || matrices_of(s) == 0) return;
  const DType d = x.spec->dtype;
  const Linalg lib(c);
  const matrix::Failures failures(c);
  matrix::note_zero_diagonal(c, d, a.data, matrices_of(a.shape()), n, failures.found());
  failures.report("is singular: it has a zero on the diagonal");
  if (k == 0) return;
  copy_matrices(c, d, b.shape(), s, n, k, false, x.data, b.data);
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() { solve_in_place<S>(lib, a, x, t.lower, t.adjoint); });
}

}  // namespace TANDEM_NS::cuda
