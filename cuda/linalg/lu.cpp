// The CUDA kernels of solve, inv, lu, det and slogdet. Pivots are chosen among the rows of a matrix, so it is copied by
// columns first: the view (library.hpp) would have them chosen among its columns.
#include "cuda/linalg/lu.hpp"

#include "tandem/attrs/linalg.hpp"
#include "tandem/ops/cuda_linalg_kernels.hpp"

namespace TANDEM_NS::cuda {

LuFactors::LuFactors(const Linalg& lib, DType d, const void* a, i64 count, i64 rows, i64 columns)
    : lib_(lib),
      dtype_(d),
      count_(count),
      rows_(rows),
      columns_(columns),
      wide_(rows != columns || !are_batch(count, rows)),
      data_(lib.call(), static_cast<std::size_t>(count * rows * columns) * size_of(d)),
      pivots_(lib.call(),
              static_cast<std::size_t>(count * std::min(rows, columns)) * (wide_ ? sizeof(i64) : sizeof(int))),
      info_(lib.call(), static_cast<std::size_t>(count) * sizeof(int)) {
  if (count == 0) return;
  const KernelCall& c = lib.call();
  const std::size_t ints = static_cast<std::size_t>(count) * sizeof(int);
  fill_zero(c, info_.as<void>(), ints);
  if (rows == 0 || columns == 0) return;
  const Scratch flags(c, ints);
  fill_zero(c, flags.as<void>(), ints);
  matrix::find_nonfinite(c, d, a, count, rows, columns, false, flags.as<int>());
  copy_matrices(c, d, count, rows, columns, true, data(), a);
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() { factor<S>(); });
  matrix::clamp_pivots(c, pivots_.as<void>(), wide_, count, rows, std::min(rows, columns));
  matrix::clear_flagged(c, info_.as<int>(), count, flags.as<int>());
}
template <class S>
void LuFactors::factor() {
  using N = typename Numbers<S>::type;
  const KernelCall& c = lib_.call();
  N* const first = data_.as<N>();
  int* const info = info_.as<int>();
  if (!wide_) {
    const Scratch room(c, static_cast<std::size_t>(count_) * sizeof(N*));
    const Shape s{count_, rows_, rows_};
    matrix::pointers(c, room.as<void*>(), first, rows_ * rows_ * static_cast<i64>(sizeof(N)), s, s);
    return in_parts(count_, rows_ * rows_, [&](i64 at, i64 size) {
      lib_.check(lib_.blas().each.of<N>().getrf_batched(lib_.blas_handle(), lib_.narrow(rows_), room.as<N*>() + at,
                                                        lib_.narrow(rows_), pivots_.as<int>() + at * rows_, info + at,
                                                        lib_.narrow(size)),
                 "getrfBatched");
    });
  }
  constexpr cudaDataType_t type = Numbers<S>::data;
  const i64 pivots = std::min(rows_, columns_);
  std::size_t bytes = 0, host_bytes = 0;
  lib_.check(lib_.solver().getrf_room(lib_.solver_handle(), lib_.params(), rows_, columns_, type, first, rows_, type,
                                      &bytes, &host_bytes),
             "getrf");
  const Scratch room(c, bytes);
  void* const host = lib_.host_room(host_bytes);
  for (i64 m = 0; m < count_; ++m)
    lib_.check(lib_.solver().getrf(lib_.solver_handle(), lib_.params(), rows_, columns_, type,
                                   first + m * rows_ * columns_, rows_, pivots_.as<std::int64_t>() + m * pivots, type,
                                   room.as<void>(), bytes, host, host_bytes, info + m),
               "getrf");
}

void LuFactors::solve(cublasOperation_t op, void* x, const Shape& a, const Shape& out) const {
  with_dtype<matrix_dtypes>(lib_.call(), dtype_, [&]<class S>() {
    if (wide_) solve_each<S>(op, x, a, out);
    else solve_batch<S>(op, x, a, out);
  });
}
template <class S>
void LuFactors::solve_each(cublasOperation_t op, void* x, const Shape& a, const Shape& out) const {
  using N = typename Numbers<S>::type;
  constexpr cudaDataType_t type = Numbers<S>::data;
  const i64 n = rows_, k = out.dim(-1), each = matrices_of(out);
  const i64 calls = count_ == 1 ? 1 : each, columns = count_ == 1 ? each * k : k;  // of one matrix all at once
  const Scratch info(lib_.call(), sizeof(int));
  for (i64 m = 0; m < calls; ++m) {
    const i64 at = count_ == 1 ? 0 : matrix_at(a, out, m);
    lib_.check(lib_.solver().getrs(lib_.solver_handle(), lib_.params(), op, n, columns, type,
                                   data_.as<const N>() + at * n * n, n, pivots_.as<const std::int64_t>() + at * n, type,
                                   static_cast<N*>(x) + m * n * k, n, info.as<int>()),
               "getrs");
  }
}
// The pivots of a batch lie one behind the other, so they are repeated where the factors are.
template <class S>
void LuFactors::solve_batch(cublasOperation_t op, void* x, const Shape& a, const Shape& out) const {
  using N = typename Numbers<S>::type;
  const KernelCall& c = lib_.call();
  const i64 n = rows_, k = out.dim(-1), count = matrices_of(out), width = static_cast<i64>(sizeof(N));
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(N*);
  (void)lib_.narrow(n, k);
  const Scratch factors(c, bytes), sides(c, bytes);
  const Scratch repeated(c, count == count_ ? 0 : static_cast<std::size_t>(count * n) * sizeof(int));
  const int* pivots = pivots_.as<const int>();
  if (count != count_) {
    Shape of = a, to = out;
    for (Shape* s : {&of, &to}) s->set(s->rank() - 2, 1), s->set(s->rank() - 1, n);
    copy_matrices(c, DType::int32, of, to, 1, n, false, repeated.as<void>(), pivots);
    pivots = repeated.as<const int>();
  }
  matrix::pointers(c, factors.as<void*>(), data(), n * n * width, a, out);
  matrix::pointers(c, sides.as<void*>(), x, n * k * width, out, out);
  in_parts(count, n * std::max(n, k), [&](i64 at, i64 size) {
    int info = 0;  // of the arguments
    lib_.check(lib_.blas().each.of<N>().getrs_batched(lib_.blas_handle(), op, lib_.narrow(n), lib_.narrow(k),
                                                      factors.as<const N*>() + at, lib_.narrow(n), pivots + at * n,
                                                      sides.as<N*>() + at, lib_.narrow(n), &info, lib_.narrow(size)),
               "getrsBatched");
  });
}

// By columns the right sides are copied, and the solutions back; a single column lies in the same way.
void solve(const KernelCall& c) {
  const bool adjoint = c.attrs.get<rules::SolveAttrs>().adjoint;
  const Operand &a = c.in[0], &b = c.in[1], &x = c.out[0];
  const Shape &sa = a.shape(), &s = x.shape();
  const i64 n = s.dim(-2), k = s.dim(-1), count = matrices_of(s), factored = matrices_of(sa);
  if (n == 0 || count == 0) return;
  const DType d = x.spec->dtype;
  const Linalg lib(c);
  const LuFactors lu(lib, d, a.data, factored, n, n);
  const matrix::Failures failures(c);
  matrix::note_lost_pivots(c, d, lu.data(), lu.singular(), factored, n, failures.found());
  failures.report("is singular");
  if (k == 0) return;
  const cublasOperation_t op = adjoint ? adjoint_of(d) : CUBLAS_OP_N;
  if (k == 1) {
    copy_matrices(c, d, b.shape(), s, n, k, false, x.data, b.data);
    return lu.solve(op, x.data, sa, s);
  }
  const Scratch columns(c, x.spec->bytes());
  copy_matrices(c, d, b.shape(), s, n, k, true, columns.as<void>(), b.data);
  lu.solve(op, columns.as<void>(), sa, s);
  copy_matrices(c, d, count, k, n, true, x.data, columns.as<void>());
}

// A^T Y = 1 has a solution by columns, Y = A^-T, that is A^-1 by rows.
void inv(const KernelCall& c) {
  const Operand &a = c.in[0], &y = c.out[0];
  const Shape& s = y.shape();
  const i64 n = s.dim(-1), count = matrices_of(s);
  if (n == 0 || count == 0) return;
  const DType d = y.spec->dtype;
  const Linalg lib(c);
  const LuFactors lu(lib, d, a.data, count, n, n);
  const matrix::Failures failures(c);
  matrix::note_lost_pivots(c, d, lu.data(), lu.singular(), count, n, failures.found());
  failures.report("is singular (linalg::pinv is defined for all matrices)");
  matrix::identities(c, d, y.data, count, n, n);
  lu.solve(CUBLAS_OP_T, y.data, s, s);
}

void lu(const KernelCall& c) {
  const Operand &a = c.in[0], &y = c.out[0], &p = c.out[1];
  const i64 rows = y.shape().dim(-2), columns = y.shape().dim(-1), count = matrices_of(y.shape());
  if (count == 0 || rows == 0) return;
  const Linalg lib(c);
  const DType d = y.spec->dtype;
  const LuFactors factors(lib, d, a.data, count, rows, columns);
  copy_matrices(c, d, count, columns, rows, true, y.data, factors.data());
  matrix::permutations(c, factors.pivots(), count, rows, std::min(rows, columns), p.data, p.spec->dtype);
}

namespace {
void determinants_of(const KernelCall& c, void* log) {
  const Operand& a = c.in[0];
  const i64 n = a.shape().dim(-1), count = matrices_of(a.shape());
  if (count == 0) return;
  const Linalg lib(c);
  const LuFactors lu(lib, a.spec->dtype, a.data, count, n, n);
  matrix::determinants(c, a.spec->dtype, lu.data(), lu.pivots(), lu.singular(), count, n, c.out[0].data, log);
}
}  // namespace
void det(const KernelCall& c) { determinants_of(c, nullptr); }
void slogdet(const KernelCall& c) { determinants_of(c, c.out[1].data); }

}  // namespace TANDEM_NS::cuda
