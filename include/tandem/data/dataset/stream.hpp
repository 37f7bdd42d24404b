// Stages that group elements: window, group_by_window. Behind data/dataset.hpp. Part of the component tandem::data.
// Not here: other streams (choose.hpp, interleave.hpp), batches (batch.hpp).
#pragma once
#include <deque>
#include <map>

#include "tandem/data/dataset/order.hpp"
#include "tandem/data/dataset/sources.hpp"

namespace TANDEM_NS::data {

struct WindowOptions {
  i64 shift = 0;   ///< elements between the beginnings of windows; 0: the size
  i64 stride = 1;  ///< elements between those of a window, as numbers of positions
  bool drop_remainder = false;
};

namespace detail {

/// Windows of elements, each as the stage of a data set.
template <class T>
class Window final : public Stage<StageRef<T>> {
 public:
  Window(StageRef<T> input, i64 size, WindowOptions options)
      : Stage<StageRef<T>>("window", {input}), input_(std::move(input)), size_(size), options_(options) {
    check_at_least("window", "size", size, 1);
    check_at_least("window", "shift", options.shift, 0);
    check_at_least("window", "stride", options.stride, 1);
    if (options_.shift == 0) options_.shift = size;
  }
  i64 cardinality() const override {
    const i64 n = input_->cardinality();
    if (!is_finite(n)) return n;
    const i64 span = (size_ - 1) * options_.stride + 1;
    if (options_.drop_remainder) return n < span ? 0 : (n - span) / options_.shift + 1;
    return n == 0 ? 0 : (n - 1) / options_.shift + 1;
  }
  std::unique_ptr<Cursor<StageRef<T>>> open(const Run& run, i64 first) const override {
    return skipped<StageRef<T>>(std::make_unique<Run_>(*this, input_->open(run, 0)), first);
  }

 private:
  class Run_ final : public Cursor<StageRef<T>> {
   public:
    Run_(const Window& stage, std::unique_ptr<Cursor<T>> input) : stage_(stage), input_(std::move(input)) {}
    bool next(StageRef<T>& out) override {
      const WindowOptions& o = stage_.options_;
      const i64 span = (stage_.size_ - 1) * o.stride + 1;
      if (gap_ > 0) gap_ -= input_->skip(gap_) == gap_ ? gap_ : 0;
      for (T element; gap_ == 0 && static_cast<i64>(kept_.size()) < span && input_->next(element);)
        kept_.push_back(std::move(element));
      if (kept_.empty() || (o.drop_remainder && static_cast<i64>(kept_.size()) < span)) return false;
      std::vector<T> items;
      for (i64 i = 0; i < span && i < std::ssize(kept_); i += o.stride) items.push_back(kept_[std::size_t(i)]);
      out = std::make_shared<Items<T>>("window", std::move(items));
      const i64 leave = std::min(o.shift, static_cast<i64>(kept_.size()));
      kept_.erase(kept_.begin(), kept_.begin() + leave);
      gap_ = o.shift - leave;
      return true;
    }

   private:
    const Window& stage_;
    std::unique_ptr<Cursor<T>> input_;
    std::deque<T> kept_;
    i64 gap_ = 0;  // elements between this window and the next
  };

  StageRef<T> input_;
  i64 size_;
  WindowOptions options_;
};

/// Elements of equal key, `size` of them at a time, as a data set of which `reduce(key, stage)` makes another.
template <class T, class U, class Key, class Reduce>
class GroupByWindow final : public Stage<U> {
 public:
  GroupByWindow(StageRef<T> input, Key key, Reduce reduce, i64 size)
      : Stage<U>("group_by_window", {input}),
        input_(std::move(input)),
        key_(std::move(key)),
        reduce_(std::move(reduce)),
        size_(size) {
    check_at_least("group_by_window", "window_size", size, 1);
  }
  i64 cardinality() const override { return unknown_cardinality; }
  std::unique_ptr<Cursor<U>> open(const Run& run, i64 first) const override {
    return skipped<U>(std::make_unique<Run_>(*this, run), first);
  }

 private:
  class Run_ final : public Cursor<U> {
   public:
    Run_(const GroupByWindow& stage, const Run& run) : stage_(stage), run_(run), input_(stage.input_->open(run, 0)) {}
    bool next(U& out) override {
      for (;;) {
        if (results_ && results_->next(out)) return true;
        results_.reset();
        if (!read_window()) return false;
      }
    }

   private:
    bool read_window() {
      for (T element; !ended_;) {
        if (!input_->next(element)) {
          ended_ = true;
          break;
        }
        const i64 key = static_cast<i64>(call(stage_.key_, std::as_const(element)));
        std::vector<T>& group = groups_[key];
        group.push_back(std::move(element));
        if (static_cast<i64>(group.size()) == stage_.size_) return reduce(key);
      }
      return !groups_.empty() && reduce(groups_.begin()->first);
    }
    bool reduce(i64 key) {
      auto group = groups_.extract(key);
      window_ = stage_.reduce_(key, StageRef<T>(std::make_shared<Items<T>>("group", std::move(group.mapped()))));
      results_ = window_->open(run_.inner(windows_++), 0);
      return true;
    }
    const GroupByWindow& stage_;
    Run run_;
    std::unique_ptr<Cursor<T>> input_;
    std::map<i64, std::vector<T>> groups_;
    StageRef<U> window_;
    std::unique_ptr<Cursor<U>> results_;
    i64 windows_ = 0;
    bool ended_ = false;
  };

  StageRef<T> input_;
  Key key_;
  Reduce reduce_;
  i64 size_;
};

}  // namespace detail
}  // namespace TANDEM_NS::data
