// CUDA kernels on a CPU, for tests on machines without a GPU: included by force before each .cu file, which then is
// plain C++. The threads of a block run as fibers that change at __syncthreads(); blocks run one after the other.
// It shows that indices, sums and special cases are right. It cannot show races between blocks, nor anything of speed.
#pragma once
#include <cuda_runtime.h>

#include "tests/cuda/emulator/stream.hpp"

#undef __global__
#undef __device__
#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__

namespace emulator {

/// A callable without its type.
struct Kernel {
  void (*call)(const void* self);
  const void* self;
};
/// Runs blocks * threads fibers; device memory can be touched only in here.
void run_kernel(unsigned blocks, unsigned threads, Kernel kernel);
/// Waits for the other threads of the block.
void barrier();
/// Whether kernels can run on the current device.
bool supports_device();

template <class F>
void run(cudaStream_t stream, unsigned blocks, unsigned threads, const F& f) {
  submit(stream, [=] {
    run_kernel(blocks, threads, {[](const void* self) { (*static_cast<const F*>(self))(); }, &f});
  });
}

}  // namespace emulator

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
inline void __syncthreads() { emulator::barrier(); }
inline void __threadfence() {}
inline void __threadfence_system() {}
inline int __syncthreads_or(int condition) {
  static int any;
  any = 0;
  emulator::barrier();
  any |= condition;
  emulator::barrier();
  const int r = any;
  emulator::barrier();
  return r;
}
/// All threads of the block must call it.
template <class T>
T __shfl_xor_sync(unsigned, T x, int distance) {
  // One of two, in turns: no thread writes the other before all have read it, as they meet once in between.
  static T values[2][1024];
  static bool turn[1024];
  T* const room = values[turn[threadIdx.x] = !turn[threadIdx.x]];
  room[threadIdx.x] = x;
  emulator::barrier();
  return room[threadIdx.x ^ static_cast<unsigned>(distance)];
}
template <class T>
T atomicAdd(T* at, T x) {
  const T old = *at;
  *at = old + x;
  return old;
}
template <class T>
T atomicMax(T* at, T x) {
  const T old = *at;
  if (x > old) *at = x;
  return old;
}
template <class T>
T atomicMin(T* at, T x) {
  const T old = *at;
  if (x < old) *at = x;
  return old;
}
template <class T>
T atomicCAS(T* at, T expected, T wanted) {
  const T old = *at;
  if (old == expected) *at = wanted;
  return old;
}
