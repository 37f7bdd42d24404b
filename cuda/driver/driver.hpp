// NVIDIA's libraries, loaded at first use: one table of typed function pointers per library, or the reason why it is
// not available. Nothing here links against them, so a program starts on a machine without any NVIDIA files.
// Not here: the CUDA runtime (linked statically), devices (backend.cpp).
#pragma once
#include <cublasLt.h>
#include <cuda.h>
#if __has_include(<cudnn_graph.h>)  // cuDNN 9; without its header, the library is built without it
#include <cudnn_graph.h>
#define TANDEM_WITH_CUDNN 1
#else
#define TANDEM_WITH_CUDNN 0
#endif

#include <string>

#include "tandem/config.hpp"

namespace TANDEM_NS::cuda {

/// libcuda.so.1, the driver.
struct Driver {
  decltype(&::cuInit) init;
  decltype(&::cuDriverGetVersion) version;
  decltype(&::cuGetErrorString) error_string;
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
#endif

/// A library's functions, or the reason why they are not available.
template <class Functions>
struct Library {
  Functions functions{};
  std::string error;  // empty if the functions are available

  bool is_open() const { return error.empty(); }
};

/// Loads the library at the first call and returns the same result afterwards. Thread-safe.
const Library<Driver>& driver();
const Library<CublasLt>& cublaslt();
#if TANDEM_WITH_CUDNN
const Library<Cudnn>& cudnn();
#endif

}  // namespace TANDEM_NS::cuda
