// Matrix products by cuBLASLt. The plan for one kind of product (sizes, dtypes, alignment) is cached and reused.
// cuBLASLt is column-major: it computes C^T = op(B)^T op(A)^T, so its A is our B.
#include "cuda/gemm/gemm.hpp"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "cuda/driver/device.hpp"
#include "cuda/driver/driver.hpp"
#include "tandem/base/error.hpp"

namespace TANDEM_NS::cuda {
namespace {

constexpr std::size_t workspace_bytes = std::size_t(32) << 20;  // what cuBLAS itself uses on Hopper
std::atomic<bool> tf32_allowed{false};
std::atomic<u64> tf32_changes{0};

const CublasLt& library(const char* op) {
  const Library<CublasLt>& l = cublaslt();
  if (!l.is_open()) errors::raise<errors::UnavailableError>(op, "products on a GPU need cuBLASLt: " + l.error);
  return l.functions;
}
void check_blas(cublasStatus_t status, const char* op, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  errors::raise<errors::CudaError>(op, std::string("cuBLASLt: ") + what + ": " + library(op).status_string(status));
}

struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};
// Half precision is summed in float32 and rounded once.
Types types_of(DType d) {
  switch (d) {
    case DType::float16: return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DType::bfloat16: return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DType::float32: return {CUDA_R_32F, CUDA_R_32F, tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
    case DType::float64: return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::complex64: return {CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
    default: return {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
  }
}
cublasOperation_t operation(bool transpose, bool conjugate) {
  return !transpose ? CUBLAS_OP_N : conjugate ? CUBLAS_OP_C : CUBLAS_OP_T;
}
// The largest power of two, up to 256, that divides an address and the step from one matrix to the next.
std::uint32_t alignment(const void* p, i64 step, DType d) {
  const auto bits = reinterpret_cast<std::uintptr_t>(p) | static_cast<std::uintptr_t>(step) * size_of(d) | 256;
  return static_cast<std::uint32_t>(bits & ~(bits - 1));
}

using Key = std::tuple<int, int, i64, i64, i64, i64, i64, i64, int, i64, i64, i64, i64, std::uint32_t, std::uint32_t,
                       std::uint32_t, std::uint32_t>;
Key key_of(const Product& p, cublasComputeType_t compute) {
  const int flags = p.transpose_a | p.transpose_b << 1 | p.conjugate_a << 2 | p.conjugate_b << 3 | p.accumulate << 4 |
                    (p.bias != nullptr) << 5 | p.relu << 6;
  return {static_cast<int>(p.dtype),
          static_cast<int>(compute),
          p.m,
          p.n,
          p.k,
          p.lda,
          p.ldb,
          p.ldc,
          flags,
          p.count,
          p.a_step,
          p.b_step,
          p.c_step,
          alignment(p.a, p.a_step, p.dtype),
          alignment(p.b, p.b_step, p.dtype),
          alignment(p.c, p.c_step, p.dtype),
          alignment(p.bias, 0, p.dtype)};
}

// The plan of one kind of product. Lives as long as the program.
struct Plan {
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t a, b, c;
  cublasLtMatmulHeuristicResult_t choice;
};

class Planner {
 public:
  Planner(const CublasLt& lt, const char* op, const Product& p) : lt_(lt), op_(op), p_(p), types_(types_of(p.dtype)) {}

  Plan make(cublasLtHandle_t handle) const {
    Plan plan{};
    try {
      describe(plan);
      plan.a = layout(p_.transpose_b ? p_.k : p_.n, p_.transpose_b ? p_.n : p_.k, p_.ldb, p_.b_step);
      plan.b = layout(p_.transpose_a ? p_.m : p_.k, p_.transpose_a ? p_.k : p_.m, p_.lda, p_.a_step);
      plan.c = layout(p_.n, p_.m, p_.ldc, p_.c_step);
      choose(handle, plan);
    } catch (...) {
      if (plan.desc) (void)lt_.desc_destroy(plan.desc);
      for (cublasLtMatrixLayout_t l : {plan.a, plan.b, plan.c})
        if (l) (void)lt_.layout_destroy(l);
      throw;
    }
    return plan;
  }

 private:
  template <class T>
  void set(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t what, T value) const {
    check_blas(lt_.desc_set(d, what, &value, sizeof value), op_, "description");
  }
  void describe(Plan& plan) const {
    check_blas(lt_.desc_create(&plan.desc, types_.compute, types_.scale), op_, "description");
    set(plan.desc, CUBLASLT_MATMUL_DESC_TRANSA, operation(p_.transpose_b, p_.conjugate_b));
    set(plan.desc, CUBLASLT_MATMUL_DESC_TRANSB, operation(p_.transpose_a, p_.conjugate_a));
    if (!p_.bias) return;
    set(plan.desc, CUBLASLT_MATMUL_DESC_EPILOGUE, p_.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS);
    set(plan.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, p_.bias);
  }
  cublasLtMatrixLayout_t layout(i64 rows, i64 columns, i64 ld, i64 step) const {
    cublasLtMatrixLayout_t l = nullptr;
    check_blas(lt_.layout_create(&l, types_.data, static_cast<u64>(rows), static_cast<u64>(columns), ld), op_,
               "layout");
    const auto count = static_cast<std::int32_t>(p_.count);
    check_blas(lt_.layout_set(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count), op_, "layout");
    check_blas(lt_.layout_set(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step), op_, "layout");
    return l;
  }
  void choose(cublasLtHandle_t handle, Plan& plan) const {
    cublasLtMatmulPreference_t wish = nullptr;
    check_blas(lt_.preference_create(&wish), op_, "preference");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
      check_blas(lt_.preference_set(wish, what, &value, sizeof value), op_, "preference");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(p_.b, p_.b_step, p_.dtype));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(p_.a, p_.a_step, p_.dtype));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(p_.c, p_.c_step, p_.dtype));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(p_.c, p_.c_step, p_.dtype));
    int found = 0;
    const cublasStatus_t status =
        lt_.heuristic(handle, plan.desc, plan.a, plan.b, plan.c, plan.c, wish, 1, &plan.choice, &found);
    (void)lt_.preference_destroy(wish);
    check_blas(status, op_, "no algorithm");
    if (found == 0) errors::raise<errors::CudaError>(op_, "cuBLASLt has no algorithm for this product");
  }

  const CublasLt& lt_;
  const char* op_;
  const Product& p_;
  Types types_;
};

// What a device caches between products. The lock is held while a product is launched, because a plan contains its
// bias.
struct Kept {
  std::mutex mutex;
  cublasLtHandle_t handle = nullptr;
  std::map<Key, Plan> plans;
};
Kept& kept_of(int device) {
  static Kept* const all = new Kept[max_devices];
  return all[device];
}

// alpha or beta in the type that cuBLASLt reads.
struct Factor {
  alignas(16) unsigned char bytes[16] = {};
  Factor(DType d, double x) {
    const auto f = static_cast<float>(x);
    if (d == DType::float64 || d == DType::complex128) std::memcpy(bytes, &x, sizeof x);
    else std::memcpy(bytes, &f, sizeof f);
  }
};

void fill_strides(Product& p) {
  if (!p.lda) p.lda = p.transpose_a ? p.m : p.k;
  if (!p.ldb) p.ldb = p.transpose_b ? p.k : p.n;
  if (!p.ldc) p.ldc = p.n;
}
void product_of_nothing(const KernelCall& c, const Product& p) {
  if (p.accumulate) return;
  const std::size_t width = size_of(p.dtype), row = static_cast<std::size_t>(p.n) * width;
  for (i64 i = 0; i < p.count; ++i)
    check(cudaMemset2DAsync(static_cast<char*>(p.c) + i * p.c_step * static_cast<i64>(width),
                            static_cast<std::size_t>(p.ldc) * width, 0, row, static_cast<std::size_t>(p.m),
                            queue_of(c).stream),
          c.op, "memset");
}

}  // namespace

void set_tf32(bool allowed) {
  if (tf32_allowed.exchange(allowed) != allowed) ++tf32_changes;
}
u64 setting_changes() { return tf32_changes; }
bool tf32() { return tf32_allowed; }

void gemm(const KernelCall& c, Product p) {
  if (p.m == 0 || p.n == 0 || p.count == 0) return;
  fill_strides(p);
  if (p.k == 0) return product_of_nothing(c, p);
  if (is_integer(p.dtype)) return whole_gemm(c, p);
  const CublasLt& lt = library(c.op);
  const Queue& q = queue_of(c);
  Kept& kept = kept_of(q.device);
  const std::lock_guard lock(kept.mutex);
  if (!kept.handle) check_blas(lt.create(&kept.handle), c.op, "handle");
  const Key key = key_of(p, types_of(p.dtype).compute);
  auto at = kept.plans.find(key);
  if (at == kept.plans.end()) at = kept.plans.emplace(key, Planner(lt, c.op, p).make(kept.handle)).first;
  const Plan& plan = at->second;
  if (p.bias)
    check_blas(lt.desc_set(plan.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p.bias, sizeof p.bias), c.op, "bias");
  const Scratch room(c, plan.choice.workspaceSize);
  const Factor one(p.dtype, 1), beta(p.dtype, p.accumulate ? 1 : 0);
  check_blas(lt.matmul(kept.handle, plan.desc, one.bytes, p.b, plan.a, p.a, plan.b, beta.bytes, p.c, plan.c, p.c,
                       plan.c, &plan.choice.algo, room.as<void>(), plan.choice.workspaceSize, q.stream),
             c.op, "product");
}

}  // namespace TANDEM_NS::cuda
