// StageInfo: the name of a stage of a pipeline and where its time goes; the report of a pipeline. Behind
// data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::data::detail {

/// What the runs of a stage have counted, over all epochs.
struct StageCounts {
  std::atomic<i64> elements = 0;             // that its loop or its threads have handed on
  std::atomic<i64> calls = 0;                // of its function
  std::atomic<i64> busy = 0, timed = 0;      // nanoseconds of some of the calls, and how many those are
  std::atomic<i64> waited = 0;               // nanoseconds that the consumer has waited for its threads
  std::atomic<i64> elapsed = 0;              // nanoseconds that its threads have existed
  std::atomic<i64> threads = 0;              // that it has started last
  std::atomic<i64> kept = 0, most_kept = 0;  // bytes in its buffers, and their maximum
  std::atomic<i64> ignored = 0;              // errors

  void keep(i64 bytes);
  void release(i64 bytes) { kept.fetch_sub(bytes, std::memory_order_relaxed); }
};

class Marks;
class SeekPoints;
class StageInfo;

/// The threads that compute the elements of a stage ahead of its consumer, if there are any.
struct Workers {
  int threads = 0;
  bool ordered = true;               // elements are handed out in their order
  bool adapt = false;                // as few of them work as keep up with the consumer
  const StageInfo* stage = nullptr;  // that has asked for them, an input of the stage that uses them
};

/// What a stage is called, what it reads, and what its runs have counted.
class TANDEM_API StageInfo {
 public:
  using Ref = std::shared_ptr<const StageInfo>;
  explicit StageInfo(const char* name, std::vector<Ref> inputs = {});
  StageInfo(const StageInfo&) = delete;
  StageInfo& operator=(const StageInfo&) = delete;
  virtual ~StageInfo();

  const char* name() const { return name_; }
  /// The longest way to a source, which tells the stages of a pipeline apart.
  i64 depth() const { return depth_; }
  /// The most stages on a way to a source that have asked for own_seed, itself included.
  i64 draws() const { return draws_; }
  StageCounts& counts() const { return counts_; }
  /// Its own or, if it has none, those of an input.
  const Workers& workers() const { return workers_; }
  const std::vector<Ref>& inputs() const { return inputs_; }
  /// Where its records lie in the files that it reads; null for stages that read none.
  virtual SeekPoints* seek_points() const { return nullptr; }
  /// Where its runs were in its input; null for stages that calculate this.
  virtual Marks* marks() const { return nullptr; }

 protected:
  void set_workers(const Workers& workers) {
    workers_ = workers;
    workers_.stage = this;
  }
  /// The seed of the numbers that a stage draws; called by its constructor. It is `seed` for the first stage on the way
  /// from a source that draws, and another one behind each: stages of equal seeds in a row would draw the same.
  i64 own_seed(i64 seed);

 private:
  const char* name_;
  std::vector<Ref> inputs_;
  i64 depth_ = 0, draws_ = 0;
  Workers workers_;
  mutable StageCounts counts_;
};

/// The stages of a pipeline and what they have counted, a line each, sources first.
TANDEM_API std::string report(const StageInfo& last);

/// Measures the time of a stage's function, of one element in 16 where it is short.
class TANDEM_API Timing {
 public:
  explicit Timing(StageCounts& counts) : counts_(counts) {
    counts.calls.fetch_add(1, std::memory_order_relaxed);
    thread_local unsigned tick = 0;
    if (counts.timed.load(std::memory_order_relaxed) < 64 || slow() || (++tick & 15) == 0) start();
  }
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;
  ~Timing() {
    if (begin_ >= 0) stop();
  }

 private:
  // An element of 2 us can afford two readings of the clock.
  bool slow() const {
    return counts_.busy.load(std::memory_order_relaxed) > 2000 * counts_.timed.load(std::memory_order_relaxed);
  }
  void start();
  void stop();

  StageCounts& counts_;
  i64 begin_ = -1;
};

}  // namespace TANDEM_NS::data::detail
