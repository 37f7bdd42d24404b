// Captures of launches as CUDA graphs: the Backend functions for them, and what launches and scratch memory ask while a
// thread captures. Not here: which launches are captured, and when (graph/exec/capture.hpp).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "cuda/queue.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::cuda {

/// The capture that this thread makes now. It has a stream of its own, so other threads may launch meanwhile.
class Capture {
 public:
  explicit Capture(int device);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture();

  /// Null if this thread makes none on the device.
  static Capture* current(int device);

  const Queue& queue() const { return queue_; }
  /// Scratch memory of captures alone: each launch uses the same blocks. All captures of a device share them, because
  /// their launches run one after the other.
  void* allocate(std::size_t bytes);
  void release(const void* data);
  void add(const char* op);
  /// Keeps what the launches use, beside their operands and scratch memory, as long as they can be repeated.
  void keep(std::shared_ptr<const void> used);
  /// Ends the recording; returns whether the launches can be repeated.
  bool instantiate();
  void launch(const Queue& q) const;

 private:
  Queue queue_;
  LeanVector<char> used_;        // by block of the device's captures: whether it is in use now, while this one is made
  LeanVector<const char*> ops_;  // for the error of a launch that fails
  LeanVector<std::shared_ptr<const void>> kept_;
  cudaGraphExec_t executable_ = nullptr;
};

void begin_capture(Stream stream);
void* end_capture(Stream stream);
void launch_captured(void* capture, Stream stream);
void release_captured(void* capture);
/// So far, on all devices.
std::atomic<std::uint64_t>& captures_launched();

}  // namespace TANDEM_NS::cuda
