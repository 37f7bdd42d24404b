// cuSOLVER and cuBLAS for the kernels of tandem::linalg: their handles, checks of what they return, the types of their
// numbers. For host code; not here: how they are opened (driver.hpp).
//
// Both libraries read matrices by columns, and ours lie by rows. So to them each of ours is its transpose, without a
// copy: the comments call that its view. Where an op needs the matrix itself, it is copied by columns.
#pragma once
#include <algorithm>
#include <mutex>
#include <string>
#include <type_traits>

#include "cuda/driver/driver.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "tandem/attrs/linalg.hpp"

namespace TANDEM_NS::cuda {

using linalg::impl::matrices_of, linalg::impl::matrix_at, linalg::impl::matrix_dtypes;

/// The libraries' names of a type of elements.
template <class S>
struct Numbers;
template <>
struct Numbers<float> {
  using type = float;
  using modulus = float;
  static constexpr cudaDataType_t data = CUDA_R_32F, modulus_data = CUDA_R_32F;
};
template <>
struct Numbers<double> {
  using type = double;
  using modulus = double;
  static constexpr cudaDataType_t data = CUDA_R_64F, modulus_data = CUDA_R_64F;
};
template <>
struct Numbers<Complex<float>> {
  using type = cuComplex;
  using modulus = float;
  static constexpr cudaDataType_t data = CUDA_C_32F, modulus_data = CUDA_R_32F;
};
template <>
struct Numbers<Complex<double>> {
  using type = cuDoubleComplex;
  using modulus = double;
  static constexpr cudaDataType_t data = CUDA_C_64F, modulus_data = CUDA_R_64F;
};

/// The two of cuBLAS's transpositions that are the adjoint, by the type of numbers.
inline cublasOperation_t adjoint_of(DType d) { return is_complex(d) ? CUBLAS_OP_C : CUBLAS_OP_T; }

struct LinalgHandles;  // of a device

/// The libraries for one op, while no other thread of the program uses them: a handle has one stream.
///   throws  errors::UnavailableError in the op's name if one cannot be opened, errors::CudaError if it fails,
///           errors::UnimplementedError while launches are captured, which then are not
class Linalg {
 public:
  explicit Linalg(const KernelCall& c);
  const KernelCall& call() const { return c_; }

  const Cublas& blas() const { return cublas().functions; }
  const Cusolver& solver() const { return cusolver().functions; }
  cublasHandle_t blas_handle() const;
  cusolverDnHandle_t solver_handle() const;
  cusolverDnParams_t params() const;
  /// Of Jacobi's method, which ends when a matrix is diagonal up to `epsilon` times its norm.
  gesvdjInfo_t jacobi(double epsilon) const;
  /// Memory of the host for a call.
  void* host_room(std::size_t bytes) const;

  /// Raises the failure of a call, or that of a kernel that ran before.
  void check(cublasStatus_t status, const char* what) const;
  void check(cusolverStatus_t status, const char* what) const;
  /// A size that a function takes as an int.
  int narrow(i64 size) const { return narrow(size, 1); }
  /// The elements of a matrix that such a function counts.
  ///   throws  errors::UnimplementedError with the shape of the op's operand if an int does not hold them
  int narrow(i64 rows, i64 columns) const;

 private:
  const KernelCall& c_;
  LinalgHandles& handles_;
  std::unique_lock<std::mutex> lock_;  // taken last
};

/// Whether so many square matrices are given to the functions for batches of small ones, else one after the other.
inline bool are_batch(i64 count, i64 n) { return count > 1 && n <= 256; }
/// What one call of a function for batches is given: cuSOLVER limits it, and its workspaces grow with it.
inline constexpr i64 most_matrices = i64(1) << 14, most_elements = i64(1) << 26;
/// Calls f(first, count) for parts of a batch of matrices with so many elements each.
template <class F>
void in_parts(i64 count, i64 elements, const F& f) {
  const i64 most = std::clamp<i64>(most_elements / std::max<i64>(1, elements), 1, most_matrices);
  for (i64 first = 0; first < count; first += most) f(first, std::min(most, count - first));
}

/// Copies the matrices [rows, columns] of `operand`, which broadcast to those of `out`; `transposed`: by columns.
void copy_matrices(const KernelCall& c, DType d, const Shape& operand, const Shape& out, i64 rows, i64 columns,
                   bool transposed, void* to, const void* from);
/// The same for `count` matrices one behind the other.
void copy_matrices(const KernelCall& c, DType d, i64 count, i64 rows, i64 columns, bool transposed, void* to,
                   const void* from);

}  // namespace TANDEM_NS::cuda
