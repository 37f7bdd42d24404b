// Runs through indexed stages: element by element on the consumer's thread, or ahead of it on the threads of a stage
// before. Behind data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <optional>

#include "tandem/data/dataset/ahead.hpp"
#include "tandem/data/dataset/stage.hpp"

namespace TANDEM_NS::data::detail {

/// A run through an indexed stage, on the consumer's thread.
template <class T>
class IndexedCursor : public Cursor<T> {
 public:
  IndexedCursor(const Stage<T>& stage, i64 epoch, i64 first)
      : stage_(&stage), epoch_(epoch), next_(first), end_(stage.cardinality()) {}
  bool next(T& out) override {
    if (next_ == end_) return false;
    out = stage_->at(epoch_, next_++);
    return true;
  }
  i64 skip(i64 n) override {
    if (end_ >= 0) n = std::min(n, end_ - next_);
    next_ += n;
    return n;
  }

 protected:
  const Stage<T>* stage_;
  i64 epoch_, next_, end_;  // end_ is negative for a stage without an end
};

/// An element in the buffer of a stage, whose bytes are counted.
template <class T>
class Kept {
 public:
  void set(T element, const StageInfo& stage, const Run& run) {
    const i64 bytes = bytes_of(element);
    if (run.budget) run.budget->add(stage.name(), bytes);
    stage.counts().keep(bytes);
    bytes_ = bytes, element_.emplace(std::move(element));
  }
  void move_to(T& out, const StageInfo& stage, const Run& run) {
    out = std::move(*element_);
    element_.reset();
    if (run.budget) run.budget->remove(bytes_);
    stage.counts().release(bytes_);
  }
  const std::optional<T>& element() const { return element_; }

 private:
  std::optional<T> element_;
  i64 bytes_ = 0;
};

/// A run through an indexed stage whose elements are computed by threads, also what lies before the stage that has
/// asked for these: only numbers are handed out in order.
template <class T>
class IndexedAhead final : public Cursor<T>, Ahead {
 public:
  IndexedAhead(const Stage<T>& stage, const Run& run, i64 first)
      : Ahead(stage, stage.workers()),
        stage_(stage),
        run_(run),
        next_(first),
        end_(stage.cardinality()),
        slots_(static_cast<std::size_t>(slots())) {}
  ~IndexedAhead() override { finish(); }
  bool next(T& out) override {
    const i64 at = take();
    if (at < 0) return false;
    slots_[static_cast<std::size_t>(at)].kept.move_to(out, stage_, run_);
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
    slot.kept.set(stage_.at(run_.epoch, slot.index), stage_, run_);
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
  return std::make_unique<IndexedCursor<T>>(stage, run.epoch, first);
}

}  // namespace TANDEM_NS::data::detail
