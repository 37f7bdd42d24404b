#include "cuda/driver/capture.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include "cuda/driver/device.hpp"
#include "cuda/driver/memory.hpp"

namespace TANDEM_NS::cuda {
namespace {

// Of this thread, between begin_capture and end_capture.
thread_local std::unique_ptr<Capture> making;

// The scratch memory of a device's captures. It is released with the last of them.
struct Blocks {
  struct Block {
    void* data;
    std::size_t bytes;
  };
  std::mutex mutex;
  LeanVector<Block> blocks;
  int captures = 0;
};
Blocks& blocks_of(int device) {
  static Blocks* const all = new Blocks[max_devices];
  return all[device];
}

}  // namespace

Capture::Capture(int device) : queue_(cuda::queue(device)) {
  queue_.stream = nullptr;
  check(cudaStreamCreateWithFlags(&queue_.stream, cudaStreamNonBlocking), "capture", "stream");
  // Relaxed: a launch may allocate memory of the device.
  if (const cudaError_t status = cudaStreamBeginCapture(queue_.stream, cudaStreamCaptureModeRelaxed)) {
    (void)cudaStreamDestroy(queue_.stream);
    check(status, "capture", "begin");
  }
  Blocks& all = blocks_of(device);
  const std::lock_guard lock(all.mutex);
  ++all.captures;
}
// A launch that still runs goes on; the blocks are reused by later work of the same stream only.
Capture::~Capture() {
  if (queue_.stream) {
    cudaGraph_t partial = nullptr;
    if (cudaStreamEndCapture(queue_.stream, &partial) == cudaSuccess && partial) (void)cudaGraphDestroy(partial);
    (void)cudaStreamDestroy(queue_.stream);
  }
  if (executable_) (void)cudaGraphExecDestroy(executable_);
  (void)cudaGetLastError();
  Blocks& all = blocks_of(queue_.device);
  const std::lock_guard lock(all.mutex);
  if (--all.captures) return;
  for (const Blocks::Block& b : all.blocks) cuda::release(b.data, b.bytes, queue_.device);
  all.blocks.clear();
}

Capture* Capture::current(int device) { return making && making->queue_.device == device ? making.get() : nullptr; }

void* Capture::allocate(std::size_t bytes) {
  Blocks& all = blocks_of(queue_.device);
  const std::lock_guard lock(all.mutex);
  used_.resize(all.blocks.size(), false);  // others may have added some
  std::size_t best = all.blocks.size();
  for (std::size_t i = 0; i < all.blocks.size(); ++i)
    if (!used_[i] && all.blocks[i].bytes >= bytes &&
        (best == all.blocks.size() || all.blocks[i].bytes < all.blocks[best].bytes))
      best = i;
  if (best == all.blocks.size()) {
    all.blocks.reserve(best + 1), used_.reserve(best + 1);
    all.blocks.push_back({cuda::allocate(bytes, queue_.device), bytes});
    used_.push_back(false);
  }
  used_[best] = true;
  return all.blocks[best].data;
}
void Capture::release(const void* data) {
  Blocks& all = blocks_of(queue_.device);
  const std::lock_guard lock(all.mutex);
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (all.blocks[i].data == data) used_[i] = false;
}
void Capture::add(const char* op) { ops_.push_back(op); }
void Capture::keep(std::shared_ptr<const void> used) { kept_.push_back(std::move(used)); }

bool Capture::instantiate() {
  cudaGraph_t graph = nullptr;
  const bool complete = cudaStreamEndCapture(queue_.stream, &graph) == cudaSuccess && graph;
  const bool made = complete && cudaGraphInstantiate(&executable_, graph, 0) == cudaSuccess;
  if (graph) (void)cudaGraphDestroy(graph);
  (void)cudaStreamDestroy(queue_.stream);
  queue_.stream = nullptr;
  (void)cudaGetLastError();
  return made;
}
void Capture::launch(const Queue& q) const {
  for (const char* op : ops_) launching(q.device, op);
  check(cudaGraphLaunch(executable_, q.stream), "capture", "launch");
  ++captures_launched();
  launched(q.device, ops_[ops_.size() - 1]);
}

void begin_capture(Stream stream) { making = std::make_unique<Capture>(stream.device.index); }
void* end_capture(Stream) {
  std::unique_ptr<Capture> made = std::move(making);  // launches are launches again, whatever follows
  return made->instantiate() ? made.release() : nullptr;
}
void launch_captured(void* capture, Stream stream) {
  static_cast<const Capture*>(capture)->launch(queue(stream.device.index));
}
void release_captured(void* capture) { delete static_cast<Capture*>(capture); }
std::atomic<std::uint64_t>& captures_launched() {
  static std::atomic<std::uint64_t> n{0};
  return n;
}

}  // namespace TANDEM_NS::cuda
