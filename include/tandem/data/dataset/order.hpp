// Stages that choose and order elements without looking at them: take, skip, shard, repeat, concatenate, zip,
// enumerate. Not here: shuffle (shuffle.hpp). Of indexed data sets they calculate with numbers, so that what they give
// is indexed, too. Behind data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <exception>

#include "tandem/data/dataset/indexed.hpp"

namespace TANDEM_NS::data {

namespace detail {

/// Whether this is a number of elements, not one of the two constants.
inline bool is_finite(i64 cardinality) { return cardinality >= 0; }
TANDEM_API void check_at_least(const char* op, const char* what, i64 value, i64 least);
/// Numbers of elements: that of `count` times n, and of m and n.
///   throws  errors::InvalidArgumentError for more than 2^63 - 1
TANDEM_API i64 repeated_count(const char* op, i64 count, i64 n);
TANDEM_API i64 added_count(const char* op, i64 m, i64 n);

/// Elements begin, begin + step ... below end: skip, take and shard. An end of infinite_cardinality is the input's.
template <class T>
class Range final : public Stage<T> {
 public:
  Range(const char* name, StageRef<T> input, i64 begin, i64 end, i64 step)
      : Stage<T>(name, {input}), input_(std::move(input)), begin_(begin), end_(end), step_(step) {}
  i64 cardinality() const override {
    i64 n = input_->cardinality();
    if (n == unknown_cardinality) return n;
    if (!is_finite(n)) n = end_;
    else if (end_ >= 0) n = std::min(n, end_);
    if (!is_finite(n)) return infinite_cardinality;
    return n <= begin_ ? 0 : (n - begin_ - 1) / step_ + 1;
  }
  bool indexed() const override { return input_->indexed(); }
  T at(const Key& key, i64 index) const override { return input_->at(key, checked(index)); }
  BatchedOrNone<T> gather(const Key& key, const Rows& rows) const override {
    if (step_ == 1 && !rows.list) {
      (void)checked(saturating_add(rows.first, std::max<i64>(rows.count - 1, 0)));
      return input_->gather(key, {begin_ + rows.first, rows.count, nullptr});
    }
    InlinedVector<i64, 256, memory::Blocks> list;
    for (i64 i = 0; i < rows.count; ++i) list.push_back(checked(rows[i]));
    return input_->gather(key, {0, rows.count, list.data()});
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    if (indexed() && step_ > 1 && input_index(first) < end_index) return open_indexed<T>(*this, run, first);
    return std::make_unique<Run_>(*this, run, first);
  }

 private:
  // The number of an element's one in the input.
  i64 input_index(i64 index) const { return saturating_add(begin_, saturating_multiply(index, step_)); }
  i64 checked(i64 index) const { return checked_index(this->name(), index, input_index(index)); }

  class Run_ final : public Cursor<T> {
   public:
    Run_(const Range& stage, const Run& run, i64 first) : stage_(stage), next_(stage.input_index(first)) {
      const bool has_any = stage.end_ < 0 || next_ < stage.end_;
      if (has_any) input_ = open_at(*stage.input_, run, next_);
    }
    bool next(T& out) override {
      if (!input_ || (stage_.end_ >= 0 && next_ >= stage_.end_)) return false;
      if (gap_ > 0 && input_->skip(gap_) < gap_) return false;
      gap_ = stage_.step_ - 1;
      next_ = saturating_add(next_, stage_.step_);
      return input_->next(out);
    }
    i64 skip(i64 n) override {
      if (!input_ || n <= 0) return 0;
      if (stage_.end_ >= 0) n = std::min(n, std::max<i64>(0, (stage_.end_ - next_ - 1) / stage_.step_ + 1));
      if (n == 0) return 0;
      const i64 passed = input_->skip(saturating_add(saturating_multiply(n - 1, stage_.step_), gap_ + 1)) - gap_;
      gap_ = stage_.step_ - 1;
      const i64 done = passed <= 0 ? 0 : (passed - 1) / stage_.step_ + 1;
      next_ = saturating_add(next_, saturating_multiply(done, stage_.step_));
      return done;
    }

   private:
    const Range& stage_;
    std::unique_ptr<Cursor<T>> input_;
    i64 next_, gap_ = 0;
  };

  StageRef<T> input_;
  i64 begin_, end_, step_;
};

/// The input again and again, each time as another epoch.
template <class T>
class Repeat final : public Stage<T> {
 public:
  Repeat(StageRef<T> input, i64 count) : Stage<T>("repeat", {input}), input_(std::move(input)), count_(count) {
    check_at_least("repeat", "count", count, -1);
    Repeat::cardinality();  // raises
  }
  i64 cardinality() const override {
    const i64 n = input_->cardinality();
    if (n == 0 || count_ == 0) return 0;
    if (count_ < 0 || n == infinite_cardinality) return infinite_cardinality;
    return is_finite(n) ? repeated_count(this->name(), count_, n) : unknown_cardinality;
  }
  bool indexed() const override { return input_->indexed() && input_->cardinality() > 0; }
  T at(const Key& key, i64 index) const override {
    const i64 n = input_->cardinality();
    return input_->at(repeated(key, index / n), index % n);
  }
  BatchedOrNone<T> gather(const Key& key, const Rows& rows) const override {
    const i64 n = input_->cardinality();
    if (!rows.list && rows.count > 0 && rows.first / n == (rows.first + rows.count - 1) / n)
      return input_->gather(repeated(key, rows.first / n), {rows.first % n, rows.count, nullptr});
    return Stage<T>::gather(key, rows);
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return std::make_unique<Run_>(*this, run, first);
  }

 private:
  Key repeated(Key key, i64 repetition) const {
    const u64 epoch = static_cast<u64>(key.epoch);  // of an inner data set any number: sums and products wrap around
    const u64 first = count_ >= 0 ? epoch * static_cast<u64>(count_) : epoch << 32;
    key.epoch = static_cast<i64>(first + static_cast<u64>(repetition));
    return key;
  }

  class Run_ final : public Cursor<T> {
   public:
    Run_(const Repeat& stage, const Run& run, i64 first) : stage_(stage), run_(run) {
      const i64 n = stage.input_->cardinality();
      if (n > 0) repetition_ = first / n, first %= n;
      open(n > 0 ? first : 0);
      if (n <= 0 && first > 0) skip(first);
    }
    i64 skip(i64 n) override {
      i64 done = 0;
      for (bool fresh = false; input_ && done < n; fresh = true) {
        const i64 passed = input_->skip(n - done);
        done += passed;
        if (done < n) go_on(fresh && passed == 0);
      }
      return done;
    }
    bool next(T& out) override {
      for (bool fresh = false; input_; fresh = true) {
        if (input_->next(out)) return true;
        go_on(fresh);
      }
      return false;
    }

   private:
    // To the next repetition. Behind an empty one only where they are counted: others could be without end.
    void go_on(bool empty) {
      ++repetition_;
      if (empty && stage_.count_ < 0) input_.reset();
      else open(0);
    }
    void open(i64 first) {
      input_.reset();
      if (stage_.count_ >= 0 && repetition_ >= stage_.count_) return;
      Run run = run_;
      run.key = stage_.repeated(run_.key, repetition_);
      input_ = stage_.input_->open(run, first);
    }
    const Repeat& stage_;
    Run run_;
    std::unique_ptr<Cursor<T>> input_;
    i64 repetition_ = 0;
  };

  StageRef<T> input_;
  i64 count_;  // negative: without end
};

/// The elements of one data set, then those of another.
template <class T>
class Concatenate final : public Stage<T> {
 public:
  Concatenate(StageRef<T> a, StageRef<T> b)
      : Stage<T>("concatenate", {a, b}), a_(std::move(a)), b_(std::move(b)), first_(a_->cardinality()) {
    Concatenate::cardinality();  // raises
  }
  i64 cardinality() const override {
    const i64 n = b_->cardinality();
    if (first_ == infinite_cardinality || n == infinite_cardinality) return infinite_cardinality;
    return is_finite(first_) && is_finite(n) ? added_count(this->name(), first_, n) : unknown_cardinality;
  }
  bool indexed() const override { return a_->indexed() && b_->indexed() && is_finite(first_); }
  T at(const Key& key, i64 index) const override {
    return index < first_ ? a_->at(key, index) : b_->at(key.input(1), index - first_);
  }
  BatchedOrNone<T> gather(const Key& key, const Rows& rows) const override {
    if (!rows.list && rows.first + rows.count <= first_) return a_->gather(key, rows);
    if (!rows.list && rows.first >= first_) return b_->gather(key.input(1), {rows.first - first_, rows.count, nullptr});
    return Stage<T>::gather(key, rows);
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    class Run_ final : public Cursor<T> {
     public:
      Run_(const Concatenate& stage, const Run& run, i64 first) : stage_(stage), run_(run) {
        const bool second = is_finite(stage.first_) && first >= stage.first_;
        input_ = second ? stage.b_->open(run.input(1), first - stage.first_) : stage.a_->open(run, first);
        second_ = second;
      }
      bool next(T& out) override {
        if (input_->next(out)) return true;
        if (std::exchange(second_, true)) return false;
        input_ = stage_.b_->open(run_.input(1), 0);
        return input_->next(out);
      }
      i64 skip(i64 n) override {
        i64 done = input_->skip(n);
        if (done == n || std::exchange(second_, true)) return done;
        input_ = stage_.b_->open(run_.input(1), 0);
        return done + input_->skip(n - done);
      }

     private:
      const Concatenate& stage_;
      Run run_;
      std::unique_ptr<Cursor<T>> input_;
      bool second_ = false;
    };
    if (is_finite(first_) || first == 0) return std::make_unique<Run_>(*this, run, first);
    return skipped<T>(std::make_unique<Run_>(*this, run, 0), first);
  }

 private:
  StageRef<T> a_, b_;
  i64 first_;  // the number of elements of a
};

/// Elements of several data sets side by side, up to the end of the first that ends.
template <class... Ts>
class Zip final : public Stage<std::tuple<Ts...>> {
 public:
  using Element = std::tuple<Ts...>;
  explicit Zip(StageRef<Ts>... inputs) : Stage<Element>("zip", {inputs...}), inputs_(std::move(inputs)...) {}
  i64 cardinality() const override {
    i64 r = infinite_cardinality;
    const auto add = [&r](i64 n) {
      if (n == unknown_cardinality || r == unknown_cardinality) r = unknown_cardinality;
      else if (is_finite(n)) r = is_finite(r) ? std::min(r, n) : n;
    };
    std::apply([&](const auto&... input) { (add(input->cardinality()), ...); }, inputs_);
    return r;
  }
  bool indexed() const override {
    return std::apply([](const auto&... input) { return (input->indexed() && ...); }, inputs_);
  }
  Element at(const Key& key, i64 index) const override {
    return each([&](const auto& input, std::size_t i) { return input->at(key.input(i), index); });
  }
  BatchedOrNone<Element> gather(const Key& key, const Rows& rows) const override {
    if constexpr (Batchable<Element>)
      return each([&](const auto& input, std::size_t i) { return input->gather(key.input(i), rows); });
    else return nullptr;
  }
  std::unique_ptr<Cursor<Element>> open(const Run& run, i64 first) const override {
    return std::make_unique<Run_>(
        each([&](const auto& input, std::size_t i) { return open_at(*input, run.input(i), first); }));
  }

 private:
  using Cursors = std::tuple<std::unique_ptr<Cursor<Ts>>...>;

  // The tuple of f(input, its number).
  template <class F>
  auto each(const F& f) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return std::tuple{f(std::get<I>(inputs_), I)...}; }
    (std::index_sequence_for<Ts...>());
  }

  class Run_ final : public Cursor<Element> {
   public:
    explicit Run_(Cursors inputs) : inputs_(std::move(inputs)) {}
    // All of them go on by one element, also where one raises: they stay side by side.
    bool next(Element& out) override {
      bool more = true;
      std::exception_ptr error;
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (read(*std::get<I>(inputs_), std::get<I>(out), more, error), ...);
      }
      (std::index_sequence_for<Ts...>());
      if (more && error) std::rethrow_exception(error);
      return more;
    }
    i64 skip(i64 n) override {
      i64 r = n;
      std::apply([&](auto&... input) { ((r = std::min(r, input->skip(n))), ...); }, inputs_);
      return r;
    }

   private:
    template <class U>
    static void read(Cursor<U>& input, U& out, bool& more, std::exception_ptr& error) {
      try {
        if (more) more = input.next(out);
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    }
    Cursors inputs_;
  };

  std::tuple<StageRef<Ts>...> inputs_;
};

}  // namespace detail
}  // namespace TANDEM_NS::data
