// Stages that look at elements, so that they are streams: filter, take_while, scan, flat_map, interleave, window,
// group_by_window, ignore_errors. Behind data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <deque>
#include <map>

#include "tandem/base/warning.hpp"
#include "tandem/data/dataset/order.hpp"
#include "tandem/data/dataset/sources.hpp"

namespace TANDEM_NS::data {

struct InterleaveOptions {
  i64 cycle_length = 16;  ///< data sets that are read in turns
  i64 block_length = 1;   ///< consecutive elements of each
};
struct WindowOptions {
  i64 shift = 0;   ///< elements between the beginnings of windows; 0: the size
  i64 stride = 1;  ///< elements between those of a window, as numbers of positions
  bool drop_remainder = false;
};

namespace detail {

/// The answer of a predicate: a bool, or a tensor that holds one.
template <class R>
bool truth(const R& r) {
  if constexpr (is_tensor<R>) return r.template item<bool>();
  else return static_cast<bool>(r);
}

/// The elements for which a function is true: all of them, or up to the first for which it is not.
template <class T, class F>
class Filter final : public Stage<T> {
 public:
  Filter(const char* name, StageRef<T> input, F f, bool ends)
      : Stage<T>(name, {input}), input_(std::move(input)), f_(std::move(f)), ends_(ends) {}
  i64 cardinality() const override { return input_->cardinality() == 0 ? 0 : unknown_cardinality; }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    class Run_ final : public Cursor<T> {
     public:
      Run_(const Filter& stage, std::unique_ptr<Cursor<T>> input) : stage_(stage), input_(std::move(input)) {}
      bool next(T& out) override {
        while (!ended_ && input_->next(out)) {
          const Timing timing(stage_.counts());
          if (truth(call(stage_.f_, std::as_const(out)))) return true;
          ended_ = stage_.ends_;
        }
        return false;
      }

     private:
      const Filter& stage_;
      std::unique_ptr<Cursor<T>> input_;
      bool ended_ = false;
    };
    return skipped<T>(std::make_unique<Run_>(*this, input_->open(run, 0)), first);
  }

 private:
  StageRef<T> input_;
  F f_;
  bool ends_;
};

/// f(state, element) returns the next state and what the stage gives.
template <class T, class S, class R, class F>
class Scan final : public Stage<R> {
 public:
  Scan(StageRef<T> input, S initial, F f)
      : Stage<R>("scan", {input}), input_(std::move(input)), initial_(std::move(initial)), f_(std::move(f)) {}
  i64 cardinality() const override { return input_->cardinality(); }
  std::unique_ptr<Cursor<R>> open(const Run& run, i64 first) const override {
    class Run_ final : public Cursor<R> {
     public:
      Run_(const Scan& stage, std::unique_ptr<Cursor<T>> input)
          : stage_(stage), input_(std::move(input)), state_(stage.initial_) {}
      bool next(R& out) override {
        T element;
        if (!input_->next(element)) return false;
        const Timing timing(stage_.counts());
        std::tie(state_, out) = stage_.f_(std::as_const(state_), std::move(element));
        return true;
      }

     private:
      const Scan& stage_;
      std::unique_ptr<Cursor<T>> input_;
      S state_;
    };
    return skipped<R>(std::make_unique<Run_>(*this, input_->open(run, 0)), first);
  }

 private:
  StageRef<T> input_;
  S initial_;
  F f_;
};

/// The elements of the data sets that a function makes of the input's, `block` of each of `cycle` ones in turns.
/// f(element) returns the stage of a data set.
template <class T, class U, class F>
class Interleave final : public Stage<U> {
 public:
  Interleave(const char* name, StageRef<T> input, F f, const InterleaveOptions& options)
      : Stage<U>(name, {input}), input_(std::move(input)), f_(std::move(f)), options_(options) {
    check_at_least(name, "cycle_length", options.cycle_length, 1);
    check_at_least(name, "block_length", options.block_length, 1);
  }
  i64 cardinality() const override { return input_->cardinality() == 0 ? 0 : unknown_cardinality; }
  std::unique_ptr<Cursor<U>> open(const Run& run, i64 first) const override {
    return skipped<U>(std::make_unique<Run_>(*this, run), first);
  }

 private:
  class Run_ final : public Cursor<U> {
   public:
    Run_(const Interleave& stage, const Run& run)
        : stage_(stage),
          run_(run),
          input_(stage.input_->open(run, 0)),
          cycle_(static_cast<std::size_t>(stage.options_.cycle_length)) {}
    bool next(U& out) override {
      for (std::size_t empty = 0; empty < cycle_.size();) {
        Turn& turn = cycle_[at_];
        if (!turn.cursor && !begin(turn)) {
          advance(), ++empty;
          continue;
        }
        empty = 0;
        if (block_ < stage_.options_.block_length && turn.cursor->next(out)) {
          if (++block_ == stage_.options_.block_length) advance();
          return true;
        }
        turn = {};
        advance();
      }
      return false;
    }

   private:
    struct Turn {
      StageRef<U> stage;  // destroyed after the cursor
      std::unique_ptr<Cursor<U>> cursor;
      Turn& operator=(Turn&& o) noexcept {
        cursor = std::move(o.cursor);
        stage = std::move(o.stage);
        return *this;
      }
    };
    bool begin(Turn& turn) {
      T element;
      if (ended_ || !input_->next(element)) {
        ended_ = true;
        return false;
      }
      const i64 number = begun_++;
      turn.stage = stage_.f_(std::move(element));
      turn.cursor = turn.stage->open(run_.inner(number), 0);
      return true;
    }
    void advance() { at_ = (at_ + 1) % cycle_.size(), block_ = 0; }

    const Interleave& stage_;
    Run run_;
    std::unique_ptr<Cursor<T>> input_;
    std::vector<Turn> cycle_;
    std::size_t at_ = 0;
    i64 block_ = 0, begun_ = 0;
    bool ended_ = false;
  };

  StageRef<T> input_;
  F f_;
  InterleaveOptions options_;
};

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

/// The elements that can be computed. What cannot be is counted, and told to the warning handler the first times.
template <class T>
class IgnoreErrors final : public Stage<T> {
 public:
  IgnoreErrors(StageRef<T> input, i64 most)
      : Stage<T>("ignore_errors", {input}), input_(std::move(input)), most_(most) {
    check_at_least("ignore_errors", "max_consecutive", most, 1);
  }
  i64 cardinality() const override { return input_->cardinality() == 0 ? 0 : unknown_cardinality; }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    class Run_ final : public Cursor<T> {
     public:
      Run_(const IgnoreErrors& stage, std::unique_ptr<Cursor<T>> input) : stage_(stage), input_(std::move(input)) {}
      bool next(T& out) override {
        for (i64 consecutive = 1;; ++consecutive) {
          try {
            return input_->next(out);
          } catch (const MemoryLimitError&) {
            throw;  // of the pipeline, not of an element
          } catch (const std::exception& e) {
            if (consecutive == stage_.most_) throw;
            constexpr i64 reported = 10;
            const i64 count = ++stage_.counts().ignored;
            if (count <= reported)
              tandem::detail::warn(("ignore_errors: " + std::string(e.what()) +
                                    (count == reported ? "; further errors are counted only" : ""))
                                       .c_str());
          }
        }
      }

     private:
      const IgnoreErrors& stage_;
      std::unique_ptr<Cursor<T>> input_;
    };
    return skipped<T>(std::make_unique<Run_>(*this, input_->open(run, 0)), first);
  }

 private:
  StageRef<T> input_;
  i64 most_;
};

}  // namespace detail
}  // namespace TANDEM_NS::data
