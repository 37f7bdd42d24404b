// Stages that group elements: window, group_by_window. Behind data/dataset.hpp. Part of the component tandem::data.
// Not here: other streams (choose.hpp, interleave.hpp), batches (batch.hpp).
#pragma once
#include <deque>
#include <exception>
#include <map>

#include "tandem/data/dataset/buffered.hpp"
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
    return windows_of(n);
  }
  std::unique_ptr<Cursor<StageRef<T>>> open(const Run& run, i64 first) const override {
    return std::make_unique<Run_>(*this, open_at(*input_, run, saturating_multiply(first, options_.shift)));
  }

 private:
  // An element or, as it counts as one, the error of another.
  struct Item {
    T element{};
    std::exception_ptr error{};
  };
  i64 span() const { return saturating_add(saturating_multiply(size_ - 1, options_.stride), 1); }
  // The windows of so many elements.
  i64 windows_of(i64 n) const {
    if (options_.drop_remainder) return n < span() ? 0 : (n - span()) / options_.shift + 1;
    return n == 0 ? 0 : (n - 1) / options_.shift + 1;
  }

  class Run_ final : public Cursor<StageRef<T>> {
   public:
    Run_(const Window& stage, std::unique_ptr<Cursor<T>> input) : stage_(stage), input_(std::move(input)) {}
    // Where an element of the window raises, the window does, and the next one begins where it would have otherwise.
    bool next(StageRef<T>& out) override {
      const WindowOptions& o = stage_.options_;
      const i64 span = stage_.span();
      if (!pass_gap()) return false;
      while (std::ssize(kept_) < span && read()) {
      }
      if (kept_.empty() || (o.drop_remainder && std::ssize(kept_) < span)) return false;
      std::vector<T> items;
      std::exception_ptr error;
      for (i64 i = 0; i < span && i < std::ssize(kept_); i += o.stride) {
        const Item& item = kept_[static_cast<std::size_t>(i)];
        if (item.error && !error) error = item.error;
        items.push_back(item.element);
      }
      gap_ = o.shift - drop(o.shift);
      if (error) std::rethrow_exception(error);
      out = std::make_shared<Items<T>>("window", std::move(items));
      return true;
    }
    // Passes over the elements of all but the last one.
    i64 skip(i64 n) override {
      if (n <= 0 || !pass_gap()) return 0;
      const i64 wanted = saturating_multiply(n - 1, stage_.options_.shift);
      i64 passed = drop(wanted);
      if (passed < wanted) passed += input_->skip(wanted - passed);
      if (passed < wanted) return stage_.windows_of(passed);
      try {
        StageRef<T> unused;
        if (next(unused)) return n;
      } catch (const MemoryLimitError&) {
        throw;
      } catch (...) {
        return n;
      }
      return stage_.windows_of(passed + std::ssize(kept_));
    }

   private:
    bool read() {
      Item item;
      try {
        if (!input_->next(item.element)) return false;
      } catch (const MemoryLimitError&) {
        throw;
      } catch (...) {
        item.error = std::current_exception();
      }
      kept_.push_back(std::move(item));
      return true;
    }
    // Takes up to n elements away; returns how many there were.
    i64 drop(i64 n) {
      n = std::min(n, static_cast<i64>(std::ssize(kept_)));
      kept_.erase(kept_.begin(), kept_.begin() + n);
      return n;
    }
    bool pass_gap() {
      if (gap_ > 0) gap_ -= input_->skip(gap_);
      return gap_ == 0;
    }

    const Window& stage_;
    std::unique_ptr<Cursor<T>> input_;
    std::deque<Item> kept_;
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
  Marks* marks() const override { return &marks_; }
  std::unique_ptr<Cursor<U>> open(const Run& run, i64 first) const override {
    return begun(*this, marks_, run, first,
                 [&](auto track) { return std::make_unique<Run_>(*this, run, std::move(track)); });
  }

 private:
  class Run_ final : public MarkedCursor<U, WaitingState, Run_> {
   public:
    Run_(const GroupByWindow& stage, const Run& run, std::shared_ptr<Track<WaitingState>> track)
        : MarkedCursor<U, WaitingState, Run_>(std::move(track), 8, std::min<i64>(stage.size_, 1024)),
          stage_(stage),
          run_(run) {}
    bool read(U& out) {
      for (;;) {
        if (results_) {
          ++passed_;  // also of an element that raises
          if (results_->next(out)) return true;
          results_.reset();
        }
        if (!read_window()) return false;
      }
    }
    bool can_note() const {
      std::size_t n = results_ ? places_.size() : 0;
      for (const auto& group : groups_) n += group.second.places.size();
      return n <= WaitingState::most;
    }
    WaitingState state() const {
      WaitingState r{this->read_, windows_, results_ ? passed_ : 0, results_ != nullptr, {}};
      for (const auto& [key, group] : groups_) r.add(key, group);
      if (results_) r.groups.emplace_back(given_, places_);
      return r;
    }
    void move_to(const WaitingState& state) {
      results_.reset(), groups_.clear();
      std::vector<Waiting<T>> groups(state.groups.size());
      input_ = read_waiting(*stage_.input_, run_, state,
                            [&](std::size_t g, T element, i64 place) { groups[g].add(std::move(element), place); });
      this->read_ = state.read, windows_ = state.windows, ended_ = false;
      for (std::size_t g = 0; g < groups.size(); ++g) groups_[state.groups[g].first] = std::move(groups[g]);
      if (!state.is_giving) return;
      // The group being given may have the key of one that waits.
      const i64 key = state.groups.back().first;
      Waiting<T> given = std::move(groups_[key]);
      groups_.erase(key);
      for (std::size_t g = 0; g + 1 < groups.size(); ++g)
        if (state.groups[g].first == key) PlaceWords::fail();
      give(key, std::move(given), windows_ - 1, state.passed);
    }

   private:
    bool read_window() {
      for (T element; !ended_;) {
        const i64 place = this->read_++;  // also of an element that raises
        if (!input_->next(element)) {
          --this->read_, ended_ = true;
          break;
        }
        const i64 key = static_cast<i64>(call(stage_.key_, std::as_const(element)));
        Waiting<T>& group = groups_[key];
        group.add(std::move(element), place);
        if (std::ssize(group.places) == stage_.size_) return reduce(key);
      }
      return !groups_.empty() && reduce(groups_.begin()->first);
    }
    bool reduce(i64 key) {
      auto group = groups_.extract(key);
      give(key, std::move(group.mapped()), windows_, 0);
      ++windows_;
      return true;
    }
    void give(i64 key, Waiting<T> group, i64 window, i64 passed) {
      window_ = stage_.reduce_(key, StageRef<T>(std::make_shared<Items<T>>("group", std::move(group.elements))));
      results_ = open_at(*window_, run_.inner(window), passed);
      given_ = key, places_ = std::move(group.places), passed_ = passed;
    }
    const GroupByWindow& stage_;
    Run run_;
    std::unique_ptr<Cursor<T>> input_;
    std::map<i64, Waiting<T>> groups_;
    StageRef<U> window_;
    std::unique_ptr<Cursor<U>> results_;
    i64 given_ = 0, passed_ = 0;  // the key of the group whose elements are being given, and how many were
    std::vector<i64> places_;     // of its elements
    i64 windows_ = 0;
    bool ended_ = false;
  };

  StageRef<T> input_;
  Key key_;
  Reduce reduce_;
  i64 size_;
  mutable MarksOf<WaitingState> marks_;
};

}  // namespace detail
}  // namespace TANDEM_NS::data
