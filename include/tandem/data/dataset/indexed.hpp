// Runs through indexed stages: element by element on the consumer's thread, or ahead of it on the threads of a stage
// before. Behind data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <optional>
#include <utility>

#include "tandem/data/dataset/ahead.hpp"
#include "tandem/data/dataset/kept.hpp"
#include "tandem/data/dataset/stage.hpp"

namespace TANDEM_NS::data::detail {

/// The number behind that of the last element of an indexed stage.
template <class T>
i64 end_of(const Stage<T>& stage) {
  const i64 n = stage.cardinality();
  return n >= 0 ? n : end_index;
}

/// A run through an indexed stage, on the consumer's thread.
template <class T>
class IndexedCursor : public Cursor<T> {
 public:
  IndexedCursor(const Stage<T>& stage, const Key& key, i64 first)
      : stage_(&stage), key_(key), next_(first), end_(end_of(stage)) {}
  bool next(T& out) override {
    if (next_ == end_) return false;
    out = stage_->at(key_, next_++);
    return true;
  }
  i64 skip(i64 n) override {
    n = std::min(n, end_ - next_);
    next_ += n;
    return n;
  }

 protected:
  const Stage<T>* stage_;
  Key key_;
  i64 next_, end_;
};

/// A run whose elements threads compute ahead of its consumer, each in a slot. Derived classes call finish() in their
/// destructors.
template <class T>
class AheadCursor : public Cursor<T>, protected Ahead {
 public:
  bool next(T& out) override {
    const i64 slot = take();
    if (slot < 0) return false;
    kept(slot).move_to(out);
    return true;
  }

 protected:
  AheadCursor(const StageInfo& stage, const Run& run, const Workers& workers, const Ahead::Slots& slots = {})
      : Ahead(stage, workers, slots), run_(run), stage_(stage), kept_(static_cast<std::size_t>(this->slots())) {
    if (run.budget) hand_over_singly();
  }
  /// Keeps an element in a slot. Where the budget is used up, it waits until the consumer has taken others.
  void keep(i64 slot, T element) {
    const i64 bytes = bytes_of(element);
    if (run_.budget && !run_.budget->try_add(bytes)) {
      const auto fits = [&] { return run_.budget->try_add(bytes); };
      if (bytes > run_.budget->limit()) run_.budget->add(stage_.name(), bytes);  // raises
      if (!wait_for_room(slot, &call_fits<decltype(fits)>, &fits)) run_.budget->force(bytes);
    }
    kept(slot).hold(std::move(element), bytes, stage_, run_);
  }

  const Run run_;

 private:
  Kept<T>& kept(i64 slot) { return kept_[static_cast<std::size_t>(slot)]; }
  template <class F>
  static bool call_fits(const void* fits) {
    return (*static_cast<const F*>(fits))();
  }
  const StageInfo& stage_;
  std::vector<Kept<T>> kept_;
};

/// A run through an indexed stage whose elements are computed by threads, also what lies before the stage that has
/// asked for these: only numbers are handed out in order.
template <class T>
class IndexedAhead final : public AheadCursor<T> {
 public:
  IndexedAhead(const Stage<T>& stage, const Run& run, i64 first)
      : AheadCursor<T>(stage, run, stage.workers()),
        stage_(stage),
        next_(first),
        end_(end_of(stage)),
        numbers_(static_cast<std::size_t>(this->slots())) {}
  ~IndexedAhead() override { this->finish(); }

 private:
  bool read(i64 slot) override {
    if (next_ == end_) return false;
    numbers_[static_cast<std::size_t>(slot)] = next_++;
    return true;
  }
  void compute(i64 slot) override {
    this->keep(slot, stage_.at(this->run_.key, numbers_[static_cast<std::size_t>(slot)]));
  }

  const Stage<T>& stage_;
  i64 next_, end_;
  std::vector<i64> numbers_;  // of the elements in the slots
};

/// A run through an indexed stage that has no run of its own.
template <class T>
std::unique_ptr<Cursor<T>> open_indexed(const Stage<T>& stage, const Run& run, i64 first) {
  if (stage.workers().threads > 0) return std::make_unique<IndexedAhead<T>>(stage, run, first);
  return std::make_unique<IndexedCursor<T>>(stage, run.key, first);
}

}  // namespace TANDEM_NS::data::detail
