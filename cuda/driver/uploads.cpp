// What is copied goes through a ring of page-locked chunks; events say when a chunk may be filled again, when kernels
// may read a block of the device, and when the next copy may overwrite it.
#include "cuda/driver/uploads.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "cuda/driver/device.hpp"
#include "cuda/driver/memory.hpp"
#include "cuda/driver/pinned.hpp"
#include "tandem/base/error.hpp"

namespace TANDEM_NS::cuda {
namespace {

// One stream serves all iterations of a device, which has one engine for copies in this direction.
cudaStream_t copy_stream(int device) {
  static std::mutex mutex;
  static auto* const streams = new std::map<int, cudaStream_t>;
  const std::lock_guard lock(mutex);
  cudaStream_t& s = (*streams)[device];
  if (!s) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "copy", "stream");
  return s;
}

// A block of the device. `used` is behind what used it last: the copy into it, or the kernels that were launched before
// it was free.
struct Memory {
  void* data = nullptr;
  std::size_t bytes = 0;
  cudaEvent_t used = nullptr;
};

// How far a block's copy is. The compute stream runs after a copy that is joined, the event `used` behind one that has
// been begun whole.
enum class Progress { none, partial, begun, joined };

// The blocks of one Uploads. They are not taken from the device's allocator each time, since a copy into what that
// hands out must wait for all kernels that were launched before; one into a block that came back waits for those that
// were launched before it did.
class Blocks final : public Opaque, private Held {
 public:
  Blocks(const Queue& q, std::size_t most) : queue(q), copies(copy_stream(q.device)), most_(most) {
    add_held(queue.device, *this);
  }
  ~Blocks() override { remove_held(queue.device, *this); }
  const char* kind() const override { return "blocks"; }

  Memory take(std::size_t bytes) {
    const std::size_t room = memory::class_size(memory::class_of(std::max<std::size_t>(bytes, 1024)));
    {
      const std::lock_guard lock(mutex_);
      free_.reserve(taken_ + 1 + free_.size());  // so that giving one back does not allocate
      ++taken_;
      if (const auto found = best(room); found != free_.end()) {
        const Memory m = *found;
        free_.erase(found);
        return m;
      }
    }
    try {
      return fresh(room);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      --taken_;
      throw;
    }
  }
  void give_back(const Memory& m, Progress progress) noexcept {
    const Selected selected(queue.device);
    bool ordered = progress != Progress::partial;
    if (progress == Progress::begun) ordered = cudaStreamWaitEvent(queue.stream, m.used, 0) == cudaSuccess;
    if (ordered) ordered = cudaEventRecord(m.used, queue.stream) == cudaSuccess;
    if (!ordered) (void)cudaStreamSynchronize(copies), (void)cudaGetLastError();
    Memory left = m;
    {
      const std::lock_guard lock(mutex_);
      --taken_;
      if (ordered && !is_closed_ && most_ > 0) {
        left = {};
        if (free_.size() == most_) left = free_.front(), free_.erase(free_.begin());
        free_.push_back(m);
      }
    }
    if (left.data) to_allocator(left);
  }
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    (void)empty_locked();
  }

  const Queue& queue;
  const cudaStream_t copies;

 private:
  // The device of this thread for a time, in which tensors end and nobody asked for their device.
  class Selected {
   public:
    explicit Selected(int device) {
      changed_ = cudaGetDevice(&before_) == cudaSuccess && before_ != device && cudaSetDevice(device) == cudaSuccess;
    }
    Selected(const Selected&) = delete;
    Selected& operator=(const Selected&) = delete;
    ~Selected() {
      if (changed_) (void)cudaSetDevice(before_);
    }

   private:
    int before_ = 0;
    bool changed_ = false;
  };

  // The block of this size that came back last among those that a copy need not wait for: addresses return, which
  // captures of launches are known by. Without such one the block that came back first.
  std::vector<Memory>::iterator best(std::size_t bytes) {
    const auto fits = [&](const Memory& m) { return m.bytes == bytes; };
    const auto is_ready = [&](const Memory& m) { return fits(m) && cudaEventQuery(m.used) == cudaSuccess; };
    const auto ready = std::find_if(free_.rbegin(), free_.rend(), is_ready);
    (void)cudaGetLastError();  // cudaErrorNotReady
    return ready != free_.rend() ? std::prev(ready.base()) : std::find_if(free_.begin(), free_.end(), fits);
  }
  // To the allocator, whose next use is on the compute stream: that runs after the copy.
  void to_allocator(const Memory& m) noexcept {
    (void)cudaEventDestroy(m.used);
    cuda::release(m.data, m.bytes, queue.device);
  }
  bool empty() noexcept override {
    const std::lock_guard lock(mutex_);
    return empty_locked();
  }
  bool empty_locked() noexcept {
    const bool some = !free_.empty();
    for (const Memory& m : free_) to_allocator(m);
    free_.clear();
    return some;
  }
  Memory fresh(std::size_t bytes) {
    Memory m{nullptr, bytes, nullptr};
    check(cudaEventCreateWithFlags(&m.used, cudaEventDisableTiming), "copy", "event");
    try {
      m.data = cuda::allocate(bytes, queue.device);
      check(cudaEventRecord(m.used, queue.stream), "copy", "event");
    } catch (...) {
      if (m.data) to_allocator(m);
      else (void)cudaEventDestroy(m.used);
      throw;
    }
    return m;
  }

  const std::size_t most_;
  std::mutex mutex_;  // guards what follows
  std::vector<Memory> free_;
  std::size_t taken_ = 0;
  bool is_closed_ = false;
};

class Copy final : public Upload {
 public:
  Copy(Ref<Blocks> blocks, std::size_t bytes) : blocks_(std::move(blocks)), memory_(blocks_->take(bytes)) {}
  ~Copy() override { blocks_->give_back(memory_, progress_); }
  void* data() const override { return memory_.data; }
  void join() override {
    use_device(blocks_->queue.device);
    check(cudaStreamWaitEvent(blocks_->queue.stream, memory_.used, 0), "copy", "event");
    progress_ = Progress::joined;
  }
  // From here to end(), the copy stream writes the block and the event does not say so.
  void begin() {
    check(cudaStreamWaitEvent(blocks_->copies, memory_.used, 0), "copy", "event");
    progress_ = Progress::partial;
  }
  void end() {
    check(cudaEventRecord(memory_.used, blocks_->copies), "copy", "event");
    progress_ = Progress::begun;
  }

 private:
  const Ref<Blocks> blocks_;
  const Memory memory_;
  Progress progress_ = Progress::none;
};

class Ring final : public Uploads {
 public:
  Ring(int device, std::size_t blocks) : device_(device), blocks_(make_ref<Blocks>(queue(device), blocks)) {}
  ~Ring() override {
    for (const Chunk& c : chunks_) give_chunk(device_, c);
    blocks_->close();
  }
  Ref<Upload> start(const void* from, std::size_t bytes) override {
    use_device(device_);
    const Ref<Copy> copy = make_ref<Copy>(blocks_, bytes);
    copy->begin();
    for (std::size_t at = 0; at < bytes; at += chunk_bytes)
      send(static_cast<char*>(copy->data()) + at, static_cast<const char*>(from) + at,
           std::min(chunk_bytes, bytes - at));
    copy->end();
    return Ref<Upload>(copy.get());
  }

 private:
  // Fewer chunks are enough where the system does not lock more.
  void add_chunk() {
    chunks_.reserve(most_chunks_);
    try {
      chunks_.push_back(take_chunk(device_));
      next_ = chunks_.size() - 1;
    } catch (const errors::ResourceExhaustedError&) {
      if (chunks_.empty()) throw;
      most_chunks_ = chunks_.size();
    }
  }
  // The chunk whose copy was begun first, once that has ended.
  const Chunk& next_chunk() {
    if (chunks_.size() < most_chunks_) add_chunk();
    const Chunk& c = chunks_[next_];
    check(cudaEventSynchronize(c.copied), "copy", "wait for page-locked memory");
    next_ = (next_ + 1) % chunks_.size();
    return c;
  }
  void send(void* to, const void* from, std::size_t bytes) {
    const Chunk& c = next_chunk();
    std::memcpy(c.data, from, bytes);
    check(cudaMemcpyAsync(to, c.data, bytes, cudaMemcpyHostToDevice, blocks_->copies), "copy", "to the device");
    const cudaError_t status = cudaEventRecord(c.copied, blocks_->copies);
    if (status != cudaSuccess) (void)cudaStreamSynchronize(blocks_->copies);  // nothing else says when it ends
    check(status, "copy", "event");
  }

  const int device_;
  const Ref<Blocks> blocks_;
  std::vector<Chunk> chunks_;
  std::size_t most_chunks_ = 4, next_ = 0;
};

}  // namespace

Ref<Uploads> uploads(int device, std::size_t blocks) { return Ref<Uploads>(new Ring(device, blocks)); }

}  // namespace TANDEM_NS::cuda
