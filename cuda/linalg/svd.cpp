// The CUDA kernels of svd, svdvals, pinv and cofactor, by Jacobi's method. The view of a wide matrix (library.hpp) is
// tall: A^T = conj(V) S conj(U)^H. A tall one is copied by columns, so the library sees tall matrices alone.
#include <cmath>
#include <limits>

#include "cuda/gemm/gemm.hpp"
#include "cuda/linalg/lu.hpp"
#include "tandem/attrs/linalg.hpp"
#include "tandem/ops/cuda_linalg_kernels.hpp"

namespace TANDEM_NS::cuda {
namespace {

// Matrices [m, n] and where their decompositions go, by rows: s [k], u [m, full ? m : k], v [n, full ? n : k]. Without
// `vectors` only s is written.
struct Problem {
  DType dtype;
  i64 count, m, n;
  bool vectors, full;
  const void* a;
  void *s, *u, *v;

  i64 k() const { return std::min(m, n); }
  i64 u_columns() const { return full ? m : k(); }
  i64 v_columns() const { return full ? n : k(); }
  bool tall() const { return m >= n; }
  DType modulus() const {
    return dtype == DType::complex64 ? DType::float32 : dtype == DType::complex128 ? DType::float64 : dtype;
  }
  std::size_t bytes(i64 numbers) const { return static_cast<std::size_t>(numbers) * size_of(dtype); }
};

// Of `count` matrices with `rows` >= `columns`, by columns. The left vectors have `left` columns: `rows` or `columns`.
template <class S>
class Decomposition {
  using N = typename Numbers<S>::type;
  using R = typename Numbers<S>::modulus;
  static constexpr i64 most_in_batch = 32;  // rows that gesvdjBatched takes

 public:
  Decomposition(const Linalg& lib, const Problem& p)
      : lib_(lib),
        count_(p.count),
        rows_(std::max(p.m, p.n)),
        columns_(p.k()),
        mode_(p.vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR),
        batch_(p.count > 1 && rows_ <= most_in_batch),
        left_(batch_ || p.full ? rows_ : columns_),
        jacobi_(lib.jacobi(tolerance())) {
    for (const i64 columns : {columns_, left_}) (void)lib.narrow(rows_, columns);
  }
  bool in_batch() const { return batch_; }
  i64 left() const { return left_; }

  /// Writes 0 to info[m] if the sweeps were enough for matrix m.
  void run(void* a, void* s, void* u, void* v, int* info) const {
    N *const na = static_cast<N*>(a), *const nu = static_cast<N*>(u), *const nv = static_cast<N*>(v);
    if (batch_) return run_batch(na, static_cast<R*>(s), nu, nv, info);
    run_each(na, static_cast<R*>(s), nu, nv, info);
  }

 private:
  const auto& of() const { return lib_.solver().each.of<N>(); }
  // Sums over the rows have rounding errors, too: with epsilon alone some matrices would not converge.
  double tolerance() const {
    return (4 + std::sqrt(static_cast<double>(rows_))) * static_cast<double>(std::numeric_limits<R>::epsilon());
  }
  void run_batch(N* a, R* s, N* u, N* v, int* info) const {
    const int m = lib_.narrow(rows_), n = lib_.narrow(columns_);
    in_parts(count_, rows_ * rows_, [&](i64 at, i64 size) {
      N *const pa = a + at * rows_ * columns_, *const pu = u + at * rows_ * rows_,
               *const pv = v + at * columns_ * columns_;
      R* const ps = s + at * columns_;
      int numbers = 0;
      lib_.check(of().gesvdj_batched_room(lib_.solver_handle(), mode_, m, n, pa, m, ps, pu, m, pv, n, &numbers, jacobi_,
                                          lib_.narrow(size)),
                 "gesvdjBatched");
      const Scratch room(lib_.call(), static_cast<std::size_t>(numbers) * sizeof(N));
      lib_.check(of().gesvdj_batched(lib_.solver_handle(), mode_, m, n, pa, m, ps, pu, m, pv, n, room.as<N>(), numbers,
                                     info + at, jacobi_, lib_.narrow(size)),
                 "gesvdjBatched");
    });
  }
  void run_each(N* a, R* s, N* u, N* v, int* info) const {
    const int m = lib_.narrow(rows_), n = lib_.narrow(columns_), economic = left_ == columns_;
    int numbers = 0;
    lib_.check(of().gesvdj_room(lib_.solver_handle(), mode_, economic, m, n, a, m, s, u, m, v, n, &numbers, jacobi_),
               "gesvdj");
    const Scratch room(lib_.call(), static_cast<std::size_t>(numbers) * sizeof(N));
    const bool vectors = mode_ == CUSOLVER_EIG_MODE_VECTOR;
    const i64 u_step = vectors ? rows_ * left_ : 0, v_step = vectors ? columns_ * columns_ : 0;
    for (i64 i = 0; i < count_; ++i)
      lib_.check(of().gesvdj(lib_.solver_handle(), mode_, economic, m, n, a + i * rows_ * columns_, m, s + i * columns_,
                             u + i * u_step, m, v + i * v_step, n, room.as<N>(), numbers, info + i, jacobi_),
                 "gesvdj");
  }

  const Linalg& lib_;
  i64 count_, rows_, columns_;
  cusolverEigMode_t mode_;
  bool batch_;
  i64 left_;
  gesvdjInfo_t jacobi_;
};

// The first `columns` vectors of each matrix, of `size` elements each, from columns to rows.
void store_vectors(const KernelCall& c, const Problem& p, i64 size, i64 columns, i64 held, void* to, const void* from) {
  cpu::StridedCopy nest;
  nest.add(p.count, size * columns, size * held);
  nest.add(size, columns, 1);
  nest.add(columns, 1, size);
  copy_strided(c, nest, size_of(p.dtype), to, from);
}
void conjugate_all(const KernelCall& c, DType d, void* x, i64 n) {
  const Spec spec{Shape{n}, d, c.out[0].spec->device};
  conjugate(c, {x, &spec});
}

void decompose(const Linalg& lib, const Problem& p) {
  const KernelCall& c = lib.call();
  const i64 rows = std::max(p.m, p.n), columns = p.k();
  const std::size_t ints = static_cast<std::size_t>(p.count) * sizeof(int);
  const Scratch work(c, p.bytes(p.count * rows * columns)), flags(c, ints), info(c, ints);
  const matrix::Failures failures(c);
  fill_zero(c, flags.as<void>(), ints);
  fill_zero(c, info.as<void>(), ints);
  matrix::find_nonfinite(c, p.dtype, p.a, p.count, p.m, p.n, false, flags.as<int>());
  copy_matrices(c, p.dtype, p.count, p.m, p.n, p.tall(), work.as<void>(), p.a);
  matrix::reset_flagged(c, p.dtype, work.as<void>(), p.count, rows, columns, flags.as<int>());
  with_dtype<matrix_dtypes>(c, p.dtype, [&]<class S>() {
    const Decomposition<S> d(lib, p);
    // Without vectors they are given, too: the libraries may use what they do not define.
    const i64 each = p.vectors || d.in_batch() ? p.count : 1;
    const Scratch left(c, p.bytes(each * rows * d.left())), right(c, p.bytes(each * columns * columns));
    d.run(work.as<void>(), p.s, left.as<void>(), right.as<void>(), info.as<int>());
    if (!p.vectors) return;
    const void *const of_u = p.tall() ? left.as<void>() : right.as<void>(), *const of_v = p.tall() ? right.as<void>()
                                                                                                   : left.as<void>();
    store_vectors(c, p, p.m, p.u_columns(), p.tall() ? d.left() : columns, p.u, of_u);
    store_vectors(c, p, p.n, p.v_columns(), p.tall() ? columns : d.left(), p.v, of_v);
  });
  matrix::note_info(c, info.as<int>(), p.count, failures.found());
  failures.report("has singular values that the iteration did not find");
  matrix::fill_nan(c, p.modulus(), p.s, p.count, columns, flags.as<int>());
  if (!p.vectors) return;
  const i64 all_u = p.m * p.u_columns(), all_v = p.n * p.v_columns();
  if (!p.tall()) {
    conjugate_all(c, p.dtype, p.u, p.count * all_u);
    conjugate_all(c, p.dtype, p.v, p.count * all_v);
  }
  matrix::fill_nan(c, p.dtype, p.u, p.count, all_u, flags.as<int>());
  matrix::fill_nan(c, p.dtype, p.v, p.count, all_v, flags.as<int>());
}
// Without singular values the vectors are those of identity matrices.
void decompose_any(const KernelCall& c, const Problem& p) {
  if (p.count == 0) return;
  if (p.k() > 0) return decompose(Linalg(c), p);
  if (!p.vectors) return;
  matrix::identities(c, p.dtype, p.u, p.count, p.m, p.u_columns());
  matrix::identities(c, p.dtype, p.v, p.count, p.n, p.v_columns());
}

Problem problem_of(const Operand& a) {
  const Shape& s = a.shape();
  return {.dtype = a.spec->dtype,
          .count = matrices_of(s),
          .m = s.dim(-2),
          .n = s.dim(-1),
          .vectors = true,
          .full = false,
          .a = a.data,
          .s = nullptr,
          .u = nullptr,
          .v = nullptr};
}

}  // namespace

void svd(const KernelCall& c) {
  Problem p = problem_of(c.in[0]);
  p.full = c.attrs.get<rules::SvdAttrs>().full_matrices;
  p.s = c.out[0].data, p.u = c.out[1].data, p.v = c.out[2].data;
  decompose_any(c, p);
}
void svdvals(const KernelCall& c) {
  Problem p = problem_of(c.in[0]);
  p.vectors = false, p.s = c.out[0].data;
  decompose_any(c, p);
}

void pinv(const KernelCall& c) {
  const double rcond = c.attrs.get<rules::PinvAttrs>().rcond;
  const Operand& y = c.out[0];
  Problem p = problem_of(c.in[0]);
  if (y.size() == 0) return;
  const i64 k = p.k();
  const double epsilon = p.modulus() == DType::float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                                       : std::numeric_limits<double>::epsilon();
  const Scratch s(c, p.bytes(p.count * k)), u(c, p.bytes(p.count * p.m * k)), v(c, p.bytes(p.count * p.n * k));
  p.s = s.as<void>(), p.u = u.as<void>(), p.v = v.as<void>();
  decompose_any(c, p);
  matrix::divide_columns(c, p.dtype, p.v, p.s, p.count, p.n, k,
                         rcond >= 0 ? rcond : 10. * static_cast<double>(std::max(p.m, p.n)) * epsilon);
  gemm(c, {.dtype = p.dtype,
           .m = p.n,
           .n = p.m,
           .k = k,
           .a = p.v,
           .b = p.u,
           .c = y.data,
           .transpose_b = true,
           .conjugate_b = true,
           .count = p.count,
           .a_step = p.n * k,
           .b_step = p.m * k,
           .c_step = p.n * p.m});
}

// The cofactors of U S V^H are those of the three, multiplied: of a unitary matrix its conjugate times its determinant,
// of S the products of the other singular values. Of regular and singular matrices alike.
void cofactor(const KernelCall& c) {
  const Operand& y = c.out[0];
  Problem p = problem_of(c.in[0]);
  if (y.size() == 0) return;
  const i64 n = p.n, each = n * n;
  const Scratch s(c, p.bytes(p.count * n)), u(c, p.bytes(p.count * each)), v(c, p.bytes(p.count * each)),
      det_u(c, p.bytes(p.count)), det_v(c, p.bytes(p.count));
  p.s = s.as<void>(), p.u = u.as<void>(), p.v = v.as<void>();
  decompose_any(c, p);
  {
    const Linalg lib(c);
    for (const auto& [from, to] : {std::pair(p.u, det_u.as<void>()), std::pair(p.v, det_v.as<void>())}) {
      const LuFactors lu(lib, p.dtype, from, p.count, n, n);
      matrix::determinants(c, p.dtype, lu.data(), lu.pivots(), lu.singular(), p.count, n, to, nullptr);
    }
  }
  matrix::times_others(c, p.dtype, p.u, p.s, det_u.as<void>(), det_v.as<void>(), p.count, n);
  gemm(c, {.dtype = p.dtype,
           .m = n,
           .n = n,
           .k = n,
           .a = p.u,
           .b = p.v,
           .c = y.data,
           .transpose_b = true,
           .count = p.count,
           .a_step = each,
           .b_step = each,
           .c_step = each});
}

}  // namespace TANDEM_NS::cuda
