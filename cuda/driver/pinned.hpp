// Chunks of page-locked host memory, from which a device copies while the host goes on. They are kept for the next
// copies, as locking pages takes longer than most copies. Not here: the copies (uploads.cpp).
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "tandem/config.hpp"

namespace TANDEM_NS::cuda {

inline constexpr std::size_t chunk_bytes = std::size_t(4) << 20;

/// `copied` was recorded behind the last copy out of it, if there was one: before that it must not be written.
struct Chunk {
  void* data = nullptr;
  cudaEvent_t copied = nullptr;
};

/// Of the current device, whose index this is.
///   throws  errors::ResourceExhaustedError if the system does not lock more memory
Chunk take_chunk(int device);
/// Its last copy may still run.
void give_chunk(int device, const Chunk& chunk) noexcept;
/// Releases the chunks that are not in use.
void trim_chunks(int device);

}  // namespace TANDEM_NS::cuda
