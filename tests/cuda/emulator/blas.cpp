// In the place of cuBLAS: the functions that cuda/linalg calls, as its documentation defines them (columns first,
// pivots from 1, info). It refuses arguments that the library does not define: memory of the host, leading dimensions
// that are too small.
#include "cuda/driver/driver.hpp"

#if __has_include(<eigen3/Eigen/Dense>)
#include <algorithm>

#include "tests/cuda/emulator/dense.hpp"

namespace {

using namespace emulator::dense;

template <class N>
void trsm_one(cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diag, i64 m, i64 n, Z alpha, const N* a,
              i64 lda, N* b, i64 ldb) {
  const M t = applied(triangle(load(a, n, n, lda), fill, diag == CUBLAS_DIAG_UNIT), op);
  const bool upper = (fill == CUBLAS_FILL_MODE_UPPER) == (op == CUBLAS_OP_N);
  store(solved_from_right(alpha * load(b, m, n, ldb), t, upper), b, ldb);
}
bool fits_trsm(cublasSideMode_t side, i64 m, i64 n, i64 lda, i64 ldb) {
  return side == CUBLAS_SIDE_RIGHT && m > 0 && n > 0 && lda >= n && ldb >= m;
}
template <class N>
cublasStatus_t trsm(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                    cublasDiagType_t diag, i64 m, i64 n, const N* alpha, const N* a, i64 lda, N* b, i64 ldb) {
  if (!fits_trsm(side, m, n, lda, ldb) || !on_device(a, b)) return CUBLAS_STATUS_INVALID_VALUE;
  const Z factor = wide(*alpha);
  later(stream_of(h), [=] { trsm_one(fill, op, diag, m, n, factor, a, lda, b, ldb); });
  return CUBLAS_STATUS_SUCCESS;
}
template <class N>
cublasStatus_t trsm_batched(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t fill, cublasOperation_t op,
                            cublasDiagType_t diag, i64 m, i64 n, const N* alpha, const N* const* a, i64 lda,
                            N* const* b, i64 ldb, i64 count) {
  if (!fits_trsm(side, m, n, lda, ldb) || !on_device(a, b) || !is_batch(count, n * std::max(m, n)))
    return CUBLAS_STATUS_INVALID_VALUE;
  const Z factor = wide(*alpha);
  later(stream_of(h), [=] {
    for (i64 i = 0; i < count; ++i) trsm_one(fill, op, diag, m, n, factor, a[i], lda, b[i], ldb);
  });
  return CUBLAS_STATUS_SUCCESS;
}
template <class N>
cublasStatus_t getrf_batched(cublasHandle_t h, int n, N* const* a, int lda, int* pivots, int* info, int count) {
  if (emulator::has_crashed()) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (n <= 0 || lda < n || !on_device(a, pivots, info) || !is_batch(count, i64(n) * n))
    return CUBLAS_STATUS_INVALID_VALUE;
  later(stream_of(h), [=] {
    for (int i = 0; i < count; ++i) {
      M m = load(a[i], n, n, lda);
      info[i] = lu(m, pivots + i * n);
      store(m, a[i], lda);
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}
template <class N>
cublasStatus_t getrs_batched(cublasHandle_t h, cublasOperation_t op, int n, int k, const N* const* a, int lda,
                             const int* pivots, N* const* b, int ldb, int* info, int count) {
  if (n <= 0 || k <= 0 || lda < n || ldb < n || !on_device(a, pivots, b) || emulator::is_device(info) ||
      !is_batch(count, i64(n) * std::max(n, k)))
    return CUBLAS_STATUS_INVALID_VALUE;
  *info = 0;
  later(stream_of(h), [=] {
    for (int i = 0; i < count; ++i)
      store(solved(load(a[i], n, n, lda), pivots + i * n, op, load(b[i], n, k, ldb)), b[i], ldb);
  });
  return CUBLAS_STATUS_SUCCESS;
}

template <class N>
cublasStatus_t geqrf_batched(cublasHandle_t h, int rows, int columns, N* const* a, int lda, N* const* tau, int* info,
                             int count) {
  if (rows <= 0 || columns <= 0 || lda < rows || !on_device(a, tau) || emulator::is_device(info) ||
      !is_batch(count, i64(rows) * columns))
    return CUBLAS_STATUS_INVALID_VALUE;
  *info = 0;
  later(stream_of(h), [=] {
    for (int i = 0; i < count; ++i) {
      M m = load(a[i], rows, columns, lda);
      store(reflections(m), tau[i], std::min(rows, columns));
      store(m, a[i], lda);
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

template <class N>
constexpr tandem::cuda::CublasOf<N> blas_of() {
  return {&trsm<N>, &trsm_batched<N>, &getrf_batched<N>, &getrs_batched<N>, &geqrf_batched<N>};
}

}  // namespace

namespace TANDEM_NS::cuda {

const Library<Cublas>& cublas() {
  static const Library<Cublas> r{
      {.create =
           [](cublasHandle_t* h) { return *h = reinterpret_cast<cublasHandle_t>(new Handle), CUBLAS_STATUS_SUCCESS; },
       .set_stream = [](cublasHandle_t h,
                        cudaStream_t s) { return reinterpret_cast<Handle*>(h)->stream = s, CUBLAS_STATUS_SUCCESS; },
       .status_string = [](cublasStatus_t) { return "an emulated error"; },
       .each = {blas_of<float>(), blas_of<double>(), blas_of<cuComplex>(), blas_of<cuDoubleComplex>()}},
      {}};
  return r;
}

}  // namespace TANDEM_NS::cuda

#else  // without Eigen there is no tandem::linalg

namespace TANDEM_NS::cuda {

const Library<Cublas>& cublas() {
  static const Library<Cublas> r{{}, "the emulator needs Eigen for it"};
  return r;
}

}  // namespace TANDEM_NS::cuda

#endif
