// Sources of data sets: rows of tensors, numbers, elements that are given or made by a function. Behind
// data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <optional>

#include "tandem/data/dataset/indexed.hpp"

namespace TANDEM_NS::data::detail {

/// Rows of a tensor as a batch: a view if they are consecutive.
TANDEM_API Tensor rows_of(const Tensor& x, const Rows& rows);
/// Checks that all these tensors have the same number of rows, and returns it.
TANDEM_API i64 common_rows(const char* op, Span<const Tensor> tensors);

/// Elements i of a tree of tensors: row i of each.
template <class T>
class Slices final : public Stage<T> {
 public:
  explicit Slices(T tree) : Stage<T>("from_tensor_slices"), tree_(std::move(tree)) {
    std::vector<Tensor> tensors;
    each_tensor(tree_, [&](const Tensor& t) { tensors.push_back(t); });
    rows_ = common_rows("from_tensor_slices", tensors);
  }
  i64 cardinality() const override { return rows_; }
  bool indexed() const override { return true; }
  T at(const Key&, i64 index) const override {
    T r = tree_;
    each_tensor(r, [&](Tensor& t) { t = t[index]; });
    return r;
  }
  BatchedOrNone<T> gather(const Key&, const Rows& rows) const override {
    T r = tree_;
    each_tensor(r, [&](Tensor& t) { t = rows_of(t, rows); });
    return r;
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return open_indexed<T>(*this, run, first);
  }

 private:
  T tree_;
  i64 rows_;
};

/// Elements that are kept in memory.
template <class T>
class Items final : public Stage<T> {
 public:
  Items(const char* name, std::vector<T> items) : Stage<T>(name), items_(std::move(items)) {}
  i64 cardinality() const override { return static_cast<i64>(items_.size()); }
  bool indexed() const override { return true; }
  T at(const Key&, i64 index) const override { return items_[static_cast<std::size_t>(index)]; }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return open_indexed<T>(*this, run, first);
  }

 private:
  std::vector<T> items_;
};

/// The numbers start, start + step ...
class Numbers final : public Stage<i64> {
 public:
  Numbers(i64 start, i64 step, i64 count) : Stage<i64>("range"), start_(start), step_(step), count_(count) {}
  i64 cardinality() const override { return count_; }
  bool indexed() const override { return true; }
  i64 at(const Key&, i64 index) const override { return start_ + index * step_; }
  Tensor gather(const Key&, const Rows& rows) const override {
    const Tensor r = Tensor::allocate({Shape{rows.count}, DType::int64, {}});
    i64* const to = static_cast<i64*>(r.raw());
    for (i64 i = 0; i < rows.count; ++i) to[i] = start_ + rows[i] * step_;
    return r;
  }
  std::unique_ptr<Cursor<i64>> open(const Run& run, i64 first) const override {
    class Run_ final : public IndexedCursor<i64> {
     public:
      Run_(const Numbers& stage, const Key& key, i64 first) : IndexedCursor(stage, key, first), numbers_(&stage) {}
      bool next(i64& out) override {
        if (next_ == end_) return false;
        out = numbers_->start_ + next_++ * numbers_->step_;
        return true;
      }

     private:
      const Numbers* numbers_;
    };
    return std::make_unique<Run_>(*this, run.key, first);
  }

 private:
  i64 start_, step_, count_;
};

/// What a function makes from an index.
template <class T, class F>
class Computed final : public Stage<T> {
 public:
  Computed(i64 count, F f) : Stage<T>("from_function"), count_(count), f_(std::move(f)) {}
  i64 cardinality() const override { return count_; }
  bool indexed() const override { return true; }
  T at(const Key&, i64 index) const override {
    const Timing timing(this->counts());
    return f_(index);
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    return open_indexed<T>(*this, run, first);
  }

 private:
  i64 count_;
  F f_;
};

/// What a generator returns, which is made anew for each run: `make()` returns a function that returns an optional
/// element.
template <class T, class F>
class Generated final : public Stage<T> {
 public:
  Generated(const char* name, F make) : Stage<T>(name), make_(std::move(make)) {}
  i64 cardinality() const override { return unknown_cardinality; }
  std::unique_ptr<Cursor<T>> open(const Run&, i64 first) const override {
    using Next = std::decay_t<decltype(make_())>;
    class Run_ final : public Cursor<T> {
     public:
      Run_(Next next, StageCounts& counts) : next_(std::move(next)), counts_(counts) {}
      bool next(T& out) override {
        const Timing timing(counts_);
        std::optional<T> element = next_();
        if (!element) return false;
        out = *std::move(element);
        return true;
      }

     private:
      Next next_;
      StageCounts& counts_;
    };
    return skipped<T>(std::make_unique<Run_>(make_(), this->counts()), first);
  }

 private:
  F make_;
};

}  // namespace TANDEM_NS::data::detail
