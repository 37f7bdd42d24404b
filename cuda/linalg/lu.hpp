// LU factors of square or other matrices on the device, for the kernels of solve, inv, lu, det and what uses them.
#pragma once
#include "cuda/linalg/library.hpp"
#include "cuda/linalg/parts.hpp"

namespace TANDEM_NS::cuda {

/// The factors, by columns, of matrices that lie by rows. A pivot is the largest number of its column, as on the CPU;
/// where several are nearly as large, rounding may choose another one. Behind a zero pivot nothing is defined.
class LuFactors {
 public:
  LuFactors(const Linalg& lib, DType d, const void* a, i64 count, i64 rows, i64 columns);
  void* data() const { return data_.as<void>(); }
  matrix::Pivots pivots() const { return {pivots_.as<void>(), wide_}; }
  /// On the device, for each matrix: whether it is finite and has a zero pivot, so it is singular.
  const int* singular() const { return info_.as<const int>(); }

  /// x := op(a)^-1 x for right sides by columns. The factors, those of `a`, broadcast to the matrices of x, `out`.
  void solve(cublasOperation_t op, void* x, const Shape& a, const Shape& out) const;

 private:
  template <class S>
  void factor();
  template <class S>
  void solve_each(cublasOperation_t op, void* x, const Shape& a, const Shape& out) const;
  template <class S>
  void solve_batch(cublasOperation_t op, void* x, const Shape& a, const Shape& out) const;

  const Linalg& lib_;
  DType dtype_;
  i64 count_, rows_, columns_;
  bool wide_;  // the pivots are those of cuSOLVER
  Scratch data_, pivots_, info_;
};

}  // namespace TANDEM_NS::cuda
