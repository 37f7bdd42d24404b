// NVIDIA's libraries, opened when first needed: one table of typed function pointers a library, or the reason why there
// is none. Nothing here links against them, so a program starts on a machine without any NVIDIA file.
// Not here: the CUDA runtime (linked statically), devices (backend.cpp).
#pragma once
#include <cublasLt.h>
#include <cuda.h>

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

/// A library's functions, or why there are none.
template <class Functions>
struct Library {
  Functions functions{};
  std::string error;  // empty when the functions are there

  bool is_open() const { return error.empty(); }
};

/// Opened at the first call; the answer stays. Threads may call at once.
const Library<Driver>& driver();
const Library<CublasLt>& cublaslt();

}  // namespace TANDEM_NS::cuda
