// In the place of cuda/driver/driver.cpp: a driver that is always there, a cuBLASLt of plain loops that reads
// descriptions as the documentation defines them (columns first, epilogues, strided batches), and no cuDNN.
#include <complex>
#include <cstring>

#include "cuda/driver/driver.hpp"
#include "tandem/base/half.hpp"
#include "tests/cuda/emulator/compiler.hpp"
#include "tests/cuda/emulator/memory.hpp"
#include "tests/cuda/emulator/stream.hpp"

namespace {

struct Description {
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
struct Layout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t ld, step = 0;
  std::int32_t count = 1;
};
template <class T>
T conjugated(T x) {
  if constexpr (requires { x.imag(); }) return std::conj(x);
  else return x;
}

// op(X)(i, j) of a matrix with its columns one behind the other.
template <class T>
T element(const T* x, const Layout& l, cublasOperation_t op, std::uint64_t i, std::uint64_t j) {
  if (op == CUBLAS_OP_N) return x[j * static_cast<std::uint64_t>(l.ld) + i];
  const T v = x[i * static_cast<std::uint64_t>(l.ld) + j];
  return op == CUBLAS_OP_C ? conjugated(v) : v;
}
// Sums and factors are numbers of type S.
template <class T, class S>
void multiply(const Description& d, S alpha, const T* a, const Layout& la, const T* b, const Layout& lb, S beta,
              const T* c, T* to, const Layout& lc) {
  const std::uint64_t inner = d.a == CUBLAS_OP_N ? la.columns : la.rows;
  for (std::int64_t batch = 0; batch < lc.count; ++batch)
    for (std::uint64_t j = 0; j < lc.columns; ++j)
      for (std::uint64_t i = 0; i < lc.rows; ++i) {
        S sum(0);
        for (std::uint64_t k = 0; k < inner; ++k)
          sum += static_cast<S>(element(a + batch * la.step, la, d.a, i, k)) *
                 static_cast<S>(element(b + batch * lb.step, lb, d.b, k, j));
        const std::uint64_t at =
            static_cast<std::uint64_t>(batch * lc.step) + j * static_cast<std::uint64_t>(lc.ld) + i;
        S y = alpha * sum + (beta == S(0) ? S(0) : beta * static_cast<S>(c[at]));
        if (d.bias) y += static_cast<S>(static_cast<const T*>(d.bias)[i]);
        if constexpr (std::is_floating_point_v<S>)
          if (d.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS && y < S(0)) y = S(0);
        to[at] = static_cast<T>(y);
      }
}

template <class T, class S = T>
void submit(cudaStream_t stream, const Description& d, const void* alpha, const void* a, const Layout& la,
            const void* b, const Layout& lb, const void* beta, const void* c, void* to, const Layout& lc) {
  const S by = *static_cast<const S*>(alpha), and_by = *static_cast<const S*>(beta);
  emulator::submit(stream, [=] {
    const emulator::Unlocked unlocked;
    multiply(d, by, static_cast<const T*>(a), la, static_cast<const T*>(b), lb, and_by, static_cast<const T*>(c),
             static_cast<T*>(to), lc);
  });
}
cublasStatus_t matmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                      cublasLtMatrixLayout_t la, const void* b, cublasLtMatrixLayout_t lb, const void* beta,
                      const void* c, cublasLtMatrixLayout_t, void* to, cublasLtMatrixLayout_t lc,
                      const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t stream) {
  const auto& d = *reinterpret_cast<const Description*>(desc);
  const auto& l = *reinterpret_cast<const Layout*>(lc);
  const auto &x = *reinterpret_cast<const Layout*>(la), &y = *reinterpret_cast<const Layout*>(lb);
  const bool fits = (d.a == CUBLAS_OP_N ? x.rows : x.columns) == l.rows &&
                    (d.b == CUBLAS_OP_N ? y.columns : y.rows) == l.columns &&
                    (d.a == CUBLAS_OP_N ? x.columns : x.rows) == (d.b == CUBLAS_OP_N ? y.rows : y.columns) &&
                    x.ld >= static_cast<std::int64_t>(x.rows) && y.ld >= static_cast<std::int64_t>(y.rows) &&
                    l.ld >= static_cast<std::int64_t>(l.rows) && x.count == l.count && y.count == l.count;
  if (!fits) return CUBLAS_STATUS_INVALID_VALUE;
  switch (l.type) {
    case CUDA_R_16F: submit<tandem::Half, float>(stream, d, alpha, a, x, b, y, beta, c, to, l); break;
    case CUDA_R_16BF: submit<tandem::BFloat16, float>(stream, d, alpha, a, x, b, y, beta, c, to, l); break;
    case CUDA_R_32F: submit<float>(stream, d, alpha, a, x, b, y, beta, c, to, l); break;
    case CUDA_R_64F: submit<double>(stream, d, alpha, a, x, b, y, beta, c, to, l); break;
    case CUDA_C_32F: submit<std::complex<float>>(stream, d, alpha, a, x, b, y, beta, c, to, l); break;
    default: submit<std::complex<double>>(stream, d, alpha, a, x, b, y, beta, c, to, l); break;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t desc_set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t what, const void* value,
                        std::size_t bytes) {
  auto& d = *reinterpret_cast<Description*>(desc);
  switch (what) {
    case CUBLASLT_MATMUL_DESC_TRANSA: std::memcpy(&d.a, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_TRANSB: std::memcpy(&d.b, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE: std::memcpy(&d.epilogue, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: std::memcpy(&d.bias, value, bytes); break;
    default: return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t layout_create(cublasLtMatrixLayout_t* l, cudaDataType_t type, std::uint64_t rows, std::uint64_t columns,
                             std::int64_t ld) {
  *l = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, ld});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t layout_set(cublasLtMatrixLayout_t l, cublasLtMatrixLayoutAttribute_t what, const void* value,
                          std::size_t bytes) {
  auto& layout = *reinterpret_cast<Layout*>(l);
  if (what == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) std::memcpy(&layout.count, value, bytes);
  else if (what == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) std::memcpy(&layout.step, value, bytes);
  else return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t heuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                         cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                         cublasLtMatmulHeuristicResult_t* r, int* found) {
  r->workspaceSize = 1024;
  return *found = 1, CUBLAS_STATUS_SUCCESS;
}

}  // namespace

namespace TANDEM_NS::cuda {

const Library<Driver>& driver() {
  static const Library<Driver> r{
      {[](unsigned) { return CUDA_SUCCESS; }, [](int* v) { return *v = 13000, CUDA_SUCCESS; },
       [](CUresult, const char** text) { return *text = "none", CUDA_SUCCESS; }, &emulator::load_kernel,
       &emulator::kernel_function, &emulator::launch_kernel},
      {}};
  return r;
}
const Library<CublasLt>& cublaslt() {
  static const Library<CublasLt> r{
      {.create = [](cublasLtHandle_t* h) { return *h = nullptr, CUBLAS_STATUS_SUCCESS; },
       .status_string = [](cublasStatus_t) { return "an emulated error"; },
       .matmul = &matmul,
       .heuristic = &heuristic,
       .desc_create =
           [](cublasLtMatmulDesc_t* d, cublasComputeType_t, cudaDataType_t) {
             return *d = reinterpret_cast<cublasLtMatmulDesc_t>(new Description), CUBLAS_STATUS_SUCCESS;
           },
       .desc_destroy = [](cublasLtMatmulDesc_t) { return CUBLAS_STATUS_SUCCESS; },
       .desc_set = &desc_set,
       .layout_create = &layout_create,
       .layout_destroy = [](cublasLtMatrixLayout_t) { return CUBLAS_STATUS_SUCCESS; },
       .layout_set = &layout_set,
       .preference_create = [](cublasLtMatmulPreference_t* p) { return *p = nullptr, CUBLAS_STATUS_SUCCESS; },
       .preference_destroy = [](cublasLtMatmulPreference_t) { return CUBLAS_STATUS_SUCCESS; },
       .preference_set = [](cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void*,
                            std::size_t) { return CUBLAS_STATUS_SUCCESS; }},
      {}};
  return r;
}

#if TANDEM_WITH_CUDNN
const Library<Cudnn>& cudnn() {
  static const Library<Cudnn> r{{}, "the emulator has none"};
  return r;
}
#endif

}  // namespace TANDEM_NS::cuda
