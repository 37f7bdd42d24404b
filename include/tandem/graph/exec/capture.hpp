// Captures: the launches of a planned program as one launch (a CUDA graph), where they repeat. Not here: which programs
// can be captured (program.inl), how a device captures (core/backend.hpp).
#pragma once
#include <algorithm>
#include <vector>

#include "tandem/core/backend.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::detail {

/// Captured launches are valid for the operands and the settings of the device with which they were captured. A program
/// whose results a loop keeps alternates between few sets of buffers, so several captures are kept; the one that was
/// made first makes room.
class Captures {
 public:
  explicit Captures(Stream stream) : stream_(stream), backend_(backend_of(stream.device)) {}
  Captures(const Captures&) = delete;
  ~Captures() { forget(); }
  /// Launches kernels on the operands. `launch_all` launches them one by one; at the second call with the same
  /// operands it is captured, from then on the capture is launched.
  template <class F>
  void run(Span<const Operand> operands, const F& launch_all) {
    if (const u64 now = settings(); now != settings_) forget(), settings_ = now;
    Capture* const c = supported_ ? find(operands) : nullptr;
    if (c && !c->launches) supported_ = capture(*c, launch_all);
    if (c && c->launches) backend_.launch_captured(c->launches, stream_);
    else launch_all();
  }

 private:
  static constexpr std::size_t most = 16;
  struct Capture {
    LeanVector<const void*> operands;
    void* launches = nullptr;  // null until the second call
  };

  u64 settings() const { return backend_.settings ? backend_.settings() : 0; }
  void forget() {
    for (const Capture& c : known_) release(c);
    known_.clear();
  }
  // The capture for these operands; null if it is the first call with them.
  Capture* find(Span<const Operand> operands) {
    const auto is_same = [](const Operand& o, const void* data) { return o.data == data; };
    for (Capture& c : known_)
      if (std::equal(operands.begin(), operands.end(), c.operands.begin(), is_same)) return &c;
    Capture fresh;
    for (const Operand& o : operands) fresh.operands.push_back(o.data);
    if (known_.size() == most) {
      release(known_.front());
      known_.erase(known_.begin());
    }
    known_.push_back(std::move(fresh));
    return nullptr;
  }
  // Returns whether the device could capture the launches. What raises in a capture may be correct outside of it.
  template <class F>
  bool capture(Capture& c, const F& launch_all) {
    backend_.begin_capture(stream_);
    bool complete = true;
    try {
      launch_all();
    } catch (const errors::OpError&) {
      complete = false;
    } catch (...) {  // bad_alloc
      if (void* partial = backend_.end_capture(stream_)) backend_.release_captured(partial);
      throw;
    }
    c.launches = backend_.end_capture(stream_);
    if (!complete) release(c), c.launches = nullptr;
    return c.launches != nullptr;
  }
  void release(const Capture& c) const {
    if (c.launches) backend_.release_captured(c.launches);
  }

  const Stream stream_;
  const Backend& backend_;
  LeanVector<Capture> known_;
  u64 settings_ = settings();  // with which those were made
  bool supported_ = true;
};

}  // namespace TANDEM_NS::detail
