// Work of a stream of the emulated device: done at once, or kept while the stream captures.
#pragma once
#include <cuda_runtime.h>

#include <functional>
#include <vector>

struct CUstream_st {
  bool captures = false;
  std::vector<std::function<void()>> captured;
};

namespace emulator {

/// What the work reads but the device's memory must be in it by value.
template <class F>
void submit(cudaStream_t stream, const F& work) {
  if (stream->captures) stream->captured.emplace_back(work);
  else work();
}

}  // namespace emulator
