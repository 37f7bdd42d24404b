// NVIDIA's libraries, loaded at first use: one table of typed function pointers per library, or the reason why it is
// not available. Nothing here links against them, so a program starts on a machine without any NVIDIA files.
// Not here: the CUDA runtime (linked statically), devices (backend.cpp).
#pragma once
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cufftXt.h>
#include <cusolverDn.h>
#if __has_include(<cudnn_graph.h>) && __has_include(<cudnn_adv.h>)  // cuDNN 9; without them, it is not used
#include <cudnn_adv.h>
#include <cudnn_graph.h>
#define TANDEM_WITH_CUDNN 1
#else
#define TANDEM_WITH_CUDNN 0
#endif

#include <cstdint>
#include <type_traits>

#include "cuda/driver/library.hpp"

namespace TANDEM_NS::cuda {

/// libcuda.so.1, the driver. The last three are for kernels compiled at run time.
struct Driver {
  decltype(&::cuInit) init;
  decltype(&::cuDriverGetVersion) version;
  decltype(&::cuGetErrorString) error_string;
  decltype(&::cuModuleLoadData) load;
  decltype(&::cuModuleGetFunction) function;
  decltype(&::cuLaunchKernel) launch;
};

/// libcublasLt of the major version that this library was built with.
struct CublasLt {
  decltype(&::cublasLtCreate) create;
  decltype(&::cublasLtGetStatusString) status_string;
  decltype(&::cublasLtMatmul) matmul;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&::cublasLtMatmulDescCreate) desc_create;
  decltype(&::cublasLtMatmulDescDestroy) desc_destroy;
  decltype(&::cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&::cublasLtMatrixLayoutCreate) layout_create;
  decltype(&::cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&::cublasLtMatrixLayoutSetAttribute) layout_set;
  decltype(&::cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&::cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) preference_set;
};

/// The functions of a library for each type of numbers, named by its letter.
template <class S, class D, class C, class Z>
struct ByNumber {
  S s;
  D d;
  C c;
  Z z;

  template <class N>
  const auto& of() const {
    if constexpr (std::is_same_v<N, float>) return s;
    else if constexpr (std::is_same_v<N, double>) return d;
    else if constexpr (std::is_same_v<N, cuComplex>) return c;
    else return z;
  }
};

/// The functions of libcublas for one type of numbers: float, double, cuComplex, cuDoubleComplex.
template <class N>
struct CublasOf {
  cublasStatus_t (*trsm)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                         std::int64_t, std::int64_t, const N*, const N*, std::int64_t, N*, std::int64_t);
  cublasStatus_t (*trsm_batched)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,
                                 cublasDiagType_t, std::int64_t, std::int64_t, const N*, const N* const*, std::int64_t,
                                 N* const*, std::int64_t, std::int64_t);
  cublasStatus_t (*getrf_batched)(cublasHandle_t, int, N* const*, int, int*, int*, int);
  cublasStatus_t (*getrs_batched)(cublasHandle_t, cublasOperation_t, int, int, const N* const*, int, const int*,
                                  N* const*, int, int*, int);
  cublasStatus_t (*geqrf_batched)(cublasHandle_t, int, int, N* const*, int, N* const*, int*, int);
};
static_assert(std::is_same_v<decltype(CublasOf<float>::trsm), decltype(&::cublasStrsm_v2_64)> &&
              std::is_same_v<decltype(CublasOf<float>::trsm_batched), decltype(&::cublasStrsmBatched_64)> &&
              std::is_same_v<decltype(CublasOf<double>::getrf_batched), decltype(&::cublasDgetrfBatched)> &&
              std::is_same_v<decltype(CublasOf<cuComplex>::getrs_batched), decltype(&::cublasCgetrsBatched)> &&
              std::is_same_v<decltype(CublasOf<double>::geqrf_batched), decltype(&::cublasDgeqrfBatched)>);
/// libcublas of the major version that this library was built with.
struct Cublas {
  decltype(&::cublasCreate_v2) create;
  decltype(&::cublasSetStream_v2) set_stream;
  decltype(&::cublasGetStatusString) status_string;
  ByNumber<CublasOf<float>, CublasOf<double>, CublasOf<cuComplex>, CublasOf<cuDoubleComplex>> each;
};

/// The functions of libcusolver for one type of numbers N and of their moduli R.
template <class N, class R>
struct CusolverOf {
  cusolverStatus_t (*potrf_batched)(cusolverDnHandle_t, cublasFillMode_t, int, N**, int, int*, int);
  cusolverStatus_t (*orgqr_room)(cusolverDnHandle_t, int, int, int, const N*, int, const N*, int*);
  cusolverStatus_t (*orgqr)(cusolverDnHandle_t, int, int, int, N*, int, const N*, N*, int, int*);
  cusolverStatus_t (*gesvdj_room)(cusolverDnHandle_t, cusolverEigMode_t, int, int, int, const N*, int, const R*,
                                  const N*, int, const N*, int, int*, gesvdjInfo_t);
  cusolverStatus_t (*gesvdj)(cusolverDnHandle_t, cusolverEigMode_t, int, int, int, N*, int, R*, N*, int, N*, int, N*,
                             int, int*, gesvdjInfo_t);
  cusolverStatus_t (*gesvdj_batched_room)(cusolverDnHandle_t, cusolverEigMode_t, int, int, const N*, int, const R*,
                                          const N*, int, const N*, int, int*, gesvdjInfo_t, int);
  cusolverStatus_t (*gesvdj_batched)(cusolverDnHandle_t, cusolverEigMode_t, int, int, N*, int, R*, N*, int, N*, int, N*,
                                     int, int*, gesvdjInfo_t, int);
};
using CusolverOfS = CusolverOf<float, float>;
using CusolverOfZ = CusolverOf<cuDoubleComplex, double>;
static_assert(
    std::is_same_v<decltype(CusolverOfS::potrf_batched), decltype(&::cusolverDnSpotrfBatched)> &&
    std::is_same_v<decltype(CusolverOfS::orgqr_room), decltype(&::cusolverDnSorgqr_bufferSize)> &&
    std::is_same_v<decltype(CusolverOfZ::orgqr), decltype(&::cusolverDnZungqr)> &&
    std::is_same_v<decltype(CusolverOfZ::gesvdj_room), decltype(&::cusolverDnZgesvdj_bufferSize)> &&
    std::is_same_v<decltype(CusolverOfZ::gesvdj), decltype(&::cusolverDnZgesvdj)> &&
    std::is_same_v<decltype(CusolverOfZ::gesvdj_batched_room), decltype(&::cusolverDnZgesvdjBatched_bufferSize)> &&
    std::is_same_v<decltype(CusolverOfZ::gesvdj_batched), decltype(&::cusolverDnZgesvdjBatched)>);
/// libcusolver of the major version that this library was built with: dense matrices.
struct Cusolver {
  decltype(&::cusolverDnCreate) create;
  decltype(&::cusolverDnSetStream) set_stream;
  decltype(&::cusolverDnCreateParams) create_params;
  decltype(&::cusolverDnCreateGesvdjInfo) create_gesvdj;
  decltype(&::cusolverDnXgesvdjSetTolerance) set_tolerance;
  decltype(&::cusolverDnXgesvdjSetMaxSweeps) set_sweeps;
  decltype(&::cusolverDnXpotrf_bufferSize) potrf_room;
  decltype(&::cusolverDnXpotrf) potrf;
  decltype(&::cusolverDnXgetrf_bufferSize) getrf_room;
  decltype(&::cusolverDnXgetrf) getrf;
  decltype(&::cusolverDnXgetrs) getrs;
  decltype(&::cusolverDnXgeqrf_bufferSize) geqrf_room;
  decltype(&::cusolverDnXgeqrf) geqrf;
  decltype(&::cusolverDnXsyevd_bufferSize) syevd_room;
  decltype(&::cusolverDnXsyevd) syevd;
  decltype(&::cusolverDnXsyevBatched_bufferSize) syev_batched_room;
  decltype(&::cusolverDnXsyevBatched) syev_batched;
  ByNumber<CusolverOf<float, float>, CusolverOf<double, double>, CusolverOf<cuComplex, float>,
           CusolverOf<cuDoubleComplex, double>>
      each;
};

/// libcufft of the major version that this library was built with.
struct Cufft {
  decltype(&::cufftCreate) create;
  decltype(&::cufftDestroy) destroy;
  decltype(&::cufftSetAutoAllocation) set_auto_allocation;
  decltype(&::cufftXtMakePlanMany) make_plan;
  decltype(&::cufftSetStream) set_stream;
  decltype(&::cufftSetWorkArea) set_work_area;
  decltype(&::cufftXtExec) execute;
};

#if TANDEM_WITH_CUDNN
/// libcudnn of the major version that this library was built with: the functions of its graph API.
struct Cudnn {
  decltype(&::cudnnGetVersion) version;
  decltype(&::cudnnGetErrorString) error_string;
  decltype(&::cudnnGetLastErrorString) last_error;
  decltype(&::cudnnCreate) create;
  decltype(&::cudnnSetStream) set_stream;
  decltype(&::cudnnBackendCreateDescriptor) desc_create;
  decltype(&::cudnnBackendDestroyDescriptor) desc_destroy;
  decltype(&::cudnnBackendSetAttribute) desc_set;
  decltype(&::cudnnBackendGetAttribute) desc_get;
  decltype(&::cudnnBackendFinalize) finalize;
  decltype(&::cudnnBackendExecute) execute;
};
/// Its functions for LSTM and GRU.
struct CudnnRnn {
  decltype(&::cudnnGetErrorString) error_string;
  decltype(&::cudnnGetLastErrorString) last_error;
  decltype(&::cudnnCreate) create;
  decltype(&::cudnnSetStream) set_stream;
  decltype(&::cudnnCreateRNNDescriptor) desc_create;
  decltype(&::cudnnDestroyRNNDescriptor) desc_destroy;
  decltype(&::cudnnSetRNNDescriptor_v8) desc_set;
  decltype(&::cudnnCreateDropoutDescriptor) dropout_create;
  decltype(&::cudnnDestroyDropoutDescriptor) dropout_destroy;
  decltype(&::cudnnSetDropoutDescriptor) dropout_set;
  decltype(&::cudnnCreateRNNDataDescriptor) data_create;
  decltype(&::cudnnDestroyRNNDataDescriptor) data_destroy;
  decltype(&::cudnnSetRNNDataDescriptor) data_set;
  decltype(&::cudnnCreateTensorDescriptor) tensor_create;
  decltype(&::cudnnDestroyTensorDescriptor) tensor_destroy;
  decltype(&::cudnnSetTensorNdDescriptor) tensor_set;
  decltype(&::cudnnGetRNNWeightSpaceSize) weight_bytes;
  decltype(&::cudnnGetRNNWeightParams) weight_at;
  decltype(&::cudnnGetRNNTempSpaceSizes) temporary_bytes;
  decltype(&::cudnnRNNForward) forward;
  decltype(&::cudnnRNNBackwardData_v8) backward_data;
  decltype(&::cudnnRNNBackwardWeights_v8) backward_weights;
};
#endif

/// Loads the library at the first call and returns the same result afterwards. Thread-safe.
const Library<Driver>& driver();
const Library<CublasLt>& cublaslt();
const Library<Cublas>& cublas();
const Library<Cusolver>& cusolver();
const Library<Cufft>& cufft();
#if TANDEM_WITH_CUDNN
const Library<Cudnn>& cudnn();
const Library<CudnnRnn>& cudnn_rnn();
#endif

}  // namespace TANDEM_NS::cuda
