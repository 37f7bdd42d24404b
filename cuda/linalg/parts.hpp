// What the kernels of tandem::linalg do beside the calls of cuSOLVER and cuBLAS: checks of factors, triangles,
// permutations, determinants, matrices with NaN. For host code; the kernels are in parts.cu and factors.cu. Matrices
// are float32, float64, complex64 or complex128, one behind the other, by columns where nothing is said.
#pragma once
#include "cuda/layout/copy.hpp"
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda::matrix {

/// The first matrix of which a kernel has found something wrong.
class Failures {
 public:
  explicit Failures(const KernelCall& c) : c_(c), room_(c, sizeof(u64)) { fill_zero(c, found(), sizeof(u64)); }
  u64* found() const { return room_.as<u64>(); }
  /// Tells the host, if there is one: "solve: matrix 2 is singular". `what` is a literal.
  void report(const char* what) const;

 private:
  const KernelCall& c_;
  Scratch room_;
};

/// Rows that were exchanged, as the libraries count them: from 1, in int (cuBLAS) or int64 (cuSOLVER).
struct Pivots {
  const void* data;
  bool wide;
};

/// For each matrix of a batch `out` the address of the operand's that broadcasts to it. `bytes`: of one matrix.
void pointers(const KernelCall& c, void** to, const void* base, i64 bytes, const Shape& operand, const Shape& out);

/// Notes the matrices whose `info` is not 0.
void note_info(const KernelCall& c, const int* info, i64 count, u64* found);
/// Notes where l, row-major, is no Cholesky factor of a: `info` is not 0, an element of the diagonal is not positive or
/// not finite, or its square at most `tolerance` times that of a.
void note_no_factor(const KernelCall& c, DType d, const void* l, const void* a, const int* info, i64 count, i64 n,
                    double tolerance, u64* found);
/// Notes the matrices with a 0 on the diagonal.
void note_zero_diagonal(const KernelCall& c, DType d, const void* a, i64 count, i64 n, u64* found);
/// Notes LU factors of which `singular` is not 0, or with a pivot that rounding errors may have made: linalg::solve
/// says which that is.
void note_lost_pivots(const KernelCall& c, DType d, const void* lu, const int* singular, i64 count, i64 n, u64* found);

/// Zeros above the diagonal of row-major matrices.
void clear_above(const KernelCall& c, DType d, void* a, i64 count, i64 n);
/// Row-major matrices with ones on the diagonal and zeros beside it.
void identities(const KernelCall& c, DType d, void* to, i64 count, i64 rows, i64 columns);
/// r, row-major [k, n], from the columns of QR factors that have `ld` rows; `each`: from one factor to the next.
void upper_triangle(const KernelCall& c, DType d, const void* factors, i64 ld, i64 each, void* r, i64 count, i64 k,
                    i64 n);
/// q, row-major [m, k], from the `size` reflections of QR factors [m, columns] and their factors tau [size].
void orthogonal_factors(const KernelCall& c, DType d, const void* factors, i64 each, const void* tau, void* q,
                        i64 count, i64 m, i64 k, i64 size);

/// Makes the diagonals of r, row-major [k, n], real, which Householder reflections may leave complex in the last row;
/// q, [m, k], follows. Nothing happens to real matrices.
void make_diagonal_real(const KernelCall& c, DType d, void* q, void* r, i64 count, i64 m, i64 k, i64 n);

/// The determinants from LU factors, 0 where `singular` is not; null instead of `log`: themselves, else their signs and
/// logarithms.
void determinants(const KernelCall& c, DType d, const void* lu, Pivots p, const int* singular, i64 count, i64 n,
                  void* sign, void* log);
/// Makes what is no row from the diagonal on, as pivots of NaN may be, the row of the diagonal.
void clamp_pivots(const KernelCall& c, void* pivots, bool wide, i64 count, i64 rows, i64 size);
/// Which row of each matrix became row i; `size` is the smaller one of the matrices' sizes, `to` int32 or int64.
void permutations(const KernelCall& c, Pivots p, i64 count, i64 rows, i64 size, void* to, DType index);

/// Sets flags[m], which are 0, where a matrix has elements that are infinite or NaN. Row-major; `lower`: in its lower
/// triangle.
void find_nonfinite(const KernelCall& c, DType d, const void* a, i64 count, i64 rows, i64 columns, bool lower,
                    int* flags);
/// Zeros the info of flagged matrices.
void clear_flagged(const KernelCall& c, int* info, i64 count, const int* flags);
/// Makes each flagged matrix one with ones on the diagonal, of which all decompositions are defined.
void reset_flagged(const KernelCall& c, DType d, void* a, i64 count, i64 rows, i64 columns, const int* flags);
/// NaN in the `each` numbers of each flagged matrix.
void fill_nan(const KernelCall& c, DType d, void* x, i64 count, i64 each, const int* flags);

/// v, row-major [n, k], times 1 / s by columns; 0 for s up to `cut` times the first.
void divide_columns(const KernelCall& c, DType d, void* v, const void* s, i64 count, i64 n, i64 k, double cut);
/// u, row-major [n, n], becomes its conjugate times det(u) conj(det(v)) and, by columns, the product of the other s.
void times_others(const KernelCall& c, DType d, void* u, const void* s, const void* det_u, const void* det_v, i64 count,
                  i64 n);

}  // namespace TANDEM_NS::cuda::matrix
