// Matrix products on the device: by cuBLASLt for floating and complex numbers, by a plain kernel for integers. For
// host code.
#pragma once
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

/// `count` products C[m, n] = op(A)[m, k] op(B)[k, n] (+ C) (+ bias, then relu), row-major.
///   lda ...   0: the rows are contiguous
///   steps     elements from one matrix to the next; 0 repeats the first
///   bias      n numbers, of float32 and half precision only; null: none
struct Product {
  DType dtype = DType::float32;
  i64 m = 0, n = 0, k = 0;
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;
  i64 lda = 0, ldb = 0, ldc = 0;
  bool transpose_a = false, transpose_b = false;
  bool conjugate_a = false, conjugate_b = false;  // of a transposed operand
  bool accumulate = false;
  i64 count = 1, a_step = 0, b_step = 0, c_step = 0;
  const void* bias = nullptr;
  bool relu = false;
};

/// Launches the products. k == 0 gives zeros (plus C; no bias).
///   throws  errors::UnavailableError if cuBLASLt cannot be opened, errors::CudaError in the op's name if it fails
void gemm(const KernelCall& c, Product p);
/// The plain kernel: uint32 and uint64 arithmetic, which is also correct for signed integers.
void whole_gemm(const KernelCall& c, const Product& p);

/// y = activation((y + bias) * scale + offset) for rows of n numbers; any of the vectors may be null.
enum class Finish { none, relu, tanh, sigmoid };
struct RowVectors {
  const void *bias = nullptr, *scale = nullptr, *offset = nullptr;
};
void finish_rows(const KernelCall& c, DType dtype, void* y, const RowVectors& v, i64 rows, i64 n, Finish activation);
inline void finish_rows(const KernelCall& c, DType dtype, void* y, const void* bias, i64 rows, i64 n,
                        Finish activation) {
  finish_rows(c, dtype, y, RowVectors{bias, nullptr, nullptr}, rows, n, activation);
}

/// Whether float32 products may round their operands to TF32's 10 bits. Off by default.
void set_tf32(bool allowed);
u64 setting_changes();  // so far
bool tf32();

}  // namespace TANDEM_NS::cuda
