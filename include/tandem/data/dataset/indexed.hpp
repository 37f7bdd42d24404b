// Runs through indexed stages: element by element on the consumer's thread, or ahead of it on the threads of a stage
// before. Behind data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <exception>
#include <optional>
#include <utility>

#include "tandem/data/dataset/ahead.hpp"
#include "tandem/data/dataset/stage.hpp"

namespace TANDEM_NS::data::detail {

/// A run through an indexed stage, on the consumer's thread.
template <class T>
class IndexedCursor : public Cursor<T> {
 public:
  IndexedCursor(const Stage<T>& stage, const Key& key, i64 first)
      : stage_(&stage), key_(key), next_(first), end_(stage.cardinality()) {}
  bool next(T& out) override {
    if (next_ == end_) return false;
    out = stage_->at(key_, next_++);
    return true;
  }
  i64 skip(i64 n) override {
    if (end_ >= 0) n = std::min(n, end_ - next_);
    next_ += n;
    return n;
  }

 protected:
  const Stage<T>* stage_;
  Key key_;
  i64 next_, end_;  // end_ is negative for a stage without an end
};

/// An element in the buffer of a stage, whose bytes are counted as long as it is there; or the error that it has
/// raised.
template <class T>
class Kept {
 public:
  Kept() = default;
  Kept(Kept&& o) noexcept
      : element_(std::move(o.element_)),
        error(std::move(o.error)),
        bytes_(std::exchange(o.bytes_, 0)),
        counts_(o.counts_),
        budget_(o.budget_) {
    o.element_.reset();
  }
  Kept& operator=(Kept&& o) noexcept {
    release();
    element_ = std::move(o.element_), error = std::move(o.error);
    bytes_ = std::exchange(o.bytes_, 0), counts_ = o.counts_, budget_ = o.budget_;
    o.element_.reset();
    return *this;
  }
  ~Kept() { release(); }

  /// The run must outlive this.
  void set(T element, const StageInfo& stage, const Run& run) {
    const i64 bytes = bytes_of(element);
    if (run.budget) run.budget->add(stage.name(), bytes);
    hold(std::move(element), bytes, stage, run);
  }
  /// Without a look at the budget, in which the bytes are counted already.
  void hold(T element, i64 bytes, const StageInfo& stage, const Run& run) {
    release();
    counts_ = &stage.counts(), budget_ = run.budget.get();
    counts_->keep(bytes);
    bytes_ = bytes, element_.emplace(std::move(element));
  }
  /// Moves the element out, or raises the error.
  void move_to(T& out) {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
    out = std::move(*element_);
    release();
  }
  const std::optional<T>& element() const { return element_; }

 private:
  void release() {
    if (bytes_ > 0) {
      counts_->release(bytes_);
      if (budget_) budget_->remove(bytes_);
    }
    bytes_ = 0;
    element_.reset();
  }
  std::optional<T> element_;

 public:
  std::exception_ptr error;

 private:
  i64 bytes_ = 0;
  StageCounts* counts_ = nullptr;
  Budget* budget_ = nullptr;
};

/// Threads ahead of a consumer, whose elements are kept in slots.
class KeptAhead : public Ahead {
 protected:
  KeptAhead(const StageInfo& stage, const Run& run, const Workers& workers, i64 slots = 0)
      : Ahead(stage, workers, slots) {
    if (run.budget) hand_over_singly();
  }
  /// Keeps an element in a slot. Where the budget is used up, it waits until the consumer has taken others.
  template <class T>
  void admit(i64 slot, T element, Kept<T>& kept, const StageInfo& stage, const Run& run) {
    const i64 bytes = bytes_of(element);
    if (run.budget && !run.budget->try_add(bytes)) {
      const auto fits = [&] { return run.budget->try_add(bytes); };
      if (bytes > run.budget->limit()) run.budget->add(stage.name(), bytes);  // raises
      if (!wait_for_room(slot, &call_fits<decltype(fits)>, &fits)) run.budget->force(bytes);
    }
    kept.hold(std::move(element), bytes, stage, run);
  }

 private:
  template <class F>
  static bool call_fits(const void* fits) {
    return (*static_cast<const F*>(fits))();
  }
};

/// A run through an indexed stage whose elements are computed by threads, also what lies before the stage that has
/// asked for these: only numbers are handed out in order.
template <class T>
class IndexedAhead final : public Cursor<T>, KeptAhead {
 public:
  IndexedAhead(const Stage<T>& stage, const Run& run, i64 first)
      : KeptAhead(stage, run, stage.workers()),
        stage_(stage),
        run_(run),
        next_(first),
        end_(stage.cardinality()),
        slots_(static_cast<std::size_t>(slots())) {}
  ~IndexedAhead() override { finish(); }
  bool next(T& out) override {
    const i64 at = take();
    if (at < 0) return false;
    slots_[static_cast<std::size_t>(at)].kept.move_to(out);
    return true;
  }

 private:
  struct Slot {
    i64 index = 0;
    Kept<T> kept;
  };
  bool read(i64 at) override {
    if (next_ == end_) return false;
    slots_[static_cast<std::size_t>(at)].index = next_++;
    return true;
  }
  void compute(i64 at) override {
    Slot& slot = slots_[static_cast<std::size_t>(at)];
    admit(at, stage_.at(run_.key, slot.index), slot.kept, stage_, run_);
  }

  const Stage<T>& stage_;
  Run run_;
  i64 next_, end_;
  std::vector<Slot> slots_;
};

/// A run through an indexed stage that has no run of its own.
template <class T>
std::unique_ptr<Cursor<T>> open_indexed(const Stage<T>& stage, const Run& run, i64 first) {
  if (stage.workers().threads > 0) return std::make_unique<IndexedAhead<T>>(stage, run, first);
  return std::make_unique<IndexedCursor<T>>(stage, run.key, first);
}

}  // namespace TANDEM_NS::data::detail
