// Descriptors of cuDNN's graph API, and its failures. Host code, empty without cuDNN's header.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <utility>

#include "cuda/driver/driver.hpp"
#include "cuda/queue.hpp"
#include "tandem/base/error.hpp"

#if TANDEM_WITH_CUDNN

namespace TANDEM_NS::cuda {

inline bool is_unsupported(cudnnStatus_t s) { return CUDNN_STATUS_CATEGORY(s) == CUDNN_STATUS_NOT_SUPPORTED; }

/// Raises the failure of a kernel that ran before, or that of a call.
///   f  a table with cuDNN's texts
template <class Functions>
[[noreturn, gnu::cold]] void raise_cudnn(const Functions& f, const char* op, const char* what, cudnnStatus_t s) {
  char detail[512] = "";
  f.last_error(detail, sizeof detail);
  cuda::check(cudaGetLastError(), op, "cuDNN");
  std::string text = std::string("cuDNN: ") + what + ": " + f.error_string(s);
  if (detail[0]) text += std::string(" (") + detail + ")";
  errors::raise<errors::CudaError>(op, text);
}

/// The functions, and the op in whose name they fail.
struct CudnnApi {
  const Cudnn& f;
  const char* op;

  /// Returns whether that went well. Raises the failure of a kernel that ran before, and nothing else.
  bool went_well(cudnnStatus_t s) const {
    if (s != CUDNN_STATUS_SUCCESS) cuda::check(cudaGetLastError(), op, "cuDNN");
    return s == CUDNN_STATUS_SUCCESS;
  }
  /// Returns false for what cuDNN does not support.
  ///   throws  errors::CudaError for any other failure
  bool check(cudnnStatus_t s, const char* what) const {
    if (s == CUDNN_STATUS_SUCCESS) return true;
    if (is_unsupported(s)) return false;
    raise_cudnn(f, op, what, s);
  }
};

/// A descriptor and its first failure: attributes are set one after the other, finalize() says how that went.
class Descriptor {
 public:
  Descriptor(const CudnnApi& api, cudnnBackendDescriptorType_t kind)
      : f_(&api.f), status_(api.f.desc_create(kind, &p_)) {}
  Descriptor(Descriptor&& from) noexcept : f_(from.f_), p_(std::exchange(from.p_, nullptr)), status_(from.status_) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (p_) (void)f_->desc_destroy(p_);
  }

  cudnnBackendDescriptor_t get() const { return p_; }

  template <class T>
  void set(cudnnBackendAttributeName_t what, cudnnBackendAttributeType_t type, const T* values, i64 count) {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = f_->desc_set(p_, what, type, count, values);
  }
  template <class T>
  void set(cudnnBackendAttributeName_t what, cudnnBackendAttributeType_t type, T value) {
    set(what, type, &value, 1);
  }
  void set(cudnnBackendAttributeName_t what, const Descriptor& d) { set(what, CUDNN_TYPE_BACKEND_DESCRIPTOR, d.p_); }

  /// Reads up to `room` values and returns how many there are; with room 0, how many there would be.
  template <class T>
  i64 read(cudnnBackendAttributeName_t what, cudnnBackendAttributeType_t type, T* values, i64 room) {
    std::int64_t count = 0;
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = f_->desc_get(p_, what, type, room, &count, values);
    return status_ == CUDNN_STATUS_SUCCESS ? count : 0;
  }

  /// Returns false if cuDNN does not support what was described, or asked for.
  bool is_good(const CudnnApi& api, const char* what) const { return api.check(status_, what); }
  bool finalize(const CudnnApi& api, const char* what) {
    (void)finalized();
    return is_good(api, what);
  }
  /// Finalizes and returns the status.
  cudnnStatus_t finalized() {
    if (status_ == CUDNN_STATUS_SUCCESS) status_ = f_->finalize(p_);
    return status_;
  }

 private:
  const Cudnn* f_;
  cudnnBackendDescriptor_t p_ = nullptr;
  cudnnStatus_t status_;
};

}  // namespace TANDEM_NS::cuda

#endif
