// What the two halves of the stand-in share: streams, and the device of a thread.
#pragma once
#include <cuda_runtime.h>

#include <functional>

namespace stand_in {

inline constexpr int gpus = 4;

/// Gives a stream something to do.
void submit(cudaStream_t stream, std::function<void()> work);
/// The device that is current for this thread.
int current_device();

}  // namespace stand_in
