// The basis of kernels: the device's queue, launches, scratch, errors. KernelCall::stream is a Queue.
// Not here: device detection and memory (backend.cpp, memory.cpp).
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cuda {

/// The first bad index or operand that a kernel has found since the host last checked. In host memory that the
/// device can write; the texts are host pointers that the device only passes on.
struct Fault {
  int found;         // 0: none; 1: being written; 2: complete, and the host may read it
  const char* op;    // the op's name
  const char* unit;  // the unit of the position, or what the index is (null: an index)
  const char* what;  // the problem at that position; null: an index out of range
  i64 index, position, low, limit;
};

/// The one stream of a device, which orders everything on it, including memory reuse.
struct Queue {
  int device;
  cudaStream_t stream;
  Fault* fault;
  cudaEvent_t event;    // recorded where another device's queue waits for this one
  bool reads_pageable;  // the device reads the host's pageable memory itself, which may be later than the call
};

inline const Queue& queue_of(const KernelCall& c) { return *static_cast<const Queue*>(c.stream.queue); }

/// Raises CudaError in the op's name: "what: the runtime's text". An error of a kernel that ran before is raised with
/// the names of the ops that may have caused it.
void check(cudaError_t status, const char* op, const char* what);
/// Copies host memory, which may be changed or released once the call has returned, to the device.
void copy_from_host(const Queue& q, void* to, const void* from, std::size_t bytes, const char* op);

/// Device memory with the lifetime of a scope. Stream-ordered: work launched in the scope may still use it.
class Scratch {
 public:
  Scratch(const KernelCall& c, std::size_t bytes);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  int device_;
  std::size_t bytes_;
  void* data_;
};

/// Threads in a block of every kernel here.
inline constexpr unsigned block_size = 256;

/// The number of blocks for n items, `each` of them per block. Beyond the cap, kernels use a grid-stride loop.
inline unsigned blocks_for(i64 n, i64 each = block_size) {
  return static_cast<unsigned>(std::clamp<i64>((n + each - 1) / each, 1, 8192));
}

/// Launches blocks of block_size threads on the call's queue.
template <class... P>
void launch(const KernelCall& c, void (*kernel)(P...), unsigned blocks, std::type_identity_t<P>... args) {
#ifdef TANDEM_CUDA_EMULATED
  emulator::run(queue_of(c).stream, blocks, block_size, [=] { kernel(args...); });
#else
  void* pointers[] = {&args..., nullptr};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(block_size), pointers, 0,
                         queue_of(c).stream),
        c.op, "launch");
#endif
}

}  // namespace TANDEM_NS::cuda
