// What kernels stand on: the device's queue, launches, scratch, errors. KernelCall::stream points to a Queue.
// Not here: which devices there are and their memory (backend.cpp, memory.cpp).
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cuda {

/// The first bad index, or other bad operand, that a kernel met since the host last looked. Lies in host memory that
/// the device can write; the texts are host pointers that the device only carries.
struct Fault {
  int found;         // 0: none
  const char* op;    // its name
  const char* unit;  // what the position counts
  const char* what;  // what is wrong there; null: an index out of range
  i64 index, position, low, limit;
};

/// The one stream of a device, in whose order everything on it happens, memory reuse included.
struct Queue {
  int device;
  cudaStream_t stream;
  Fault* fault;
};

inline const Queue& queue_of(const KernelCall& c) { return *static_cast<const Queue*>(c.stream); }

/// Throws CudaError in the op's name: "what: the runtime's text".
void check(cudaError_t status, const char* op, const char* what);

/// Device memory for the length of a scope; stream-ordered, so what was launched in the scope may still use it.
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

/// Blocks for n items, `each` of them a block; beyond the cap, kernels walk in strides of the whole grid.
inline unsigned blocks_for(i64 n, i64 each = block_size) {
  return static_cast<unsigned>(std::clamp<i64>((n + each - 1) / each, 1, 8192));
}

/// Launches blocks of block_size threads on the call's queue.
template <class... P>
void launch([[maybe_unused]] const KernelCall& c, void (*kernel)(P...), unsigned blocks,
            std::type_identity_t<P>... args) {
#ifdef TANDEM_CUDA_EMULATED
  emulator::run(blocks, block_size, [&] { kernel(args...); });
#else
  void* pointers[] = {&args..., nullptr};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(block_size), pointers, 0,
                         queue_of(c).stream),
        c.op, "launch");
#endif
}

}  // namespace TANDEM_NS::cuda
