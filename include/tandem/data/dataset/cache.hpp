// The stage cache: elements are computed once and kept in memory. Behind data/dataset.hpp. Part of the component
// tandem::data.
#pragma once
#include <deque>
#include <mutex>

#include "tandem/data/dataset/indexed.hpp"

namespace TANDEM_NS::data::detail {

/// Keeps the elements of the first run that asks for them: of an indexed input each when it is first asked for, of a
/// stream all after a run that has reached the end, unless an element has raised.
template <class T>
class Cache final : public Stage<T> {
 public:
  explicit Cache(StageRef<T> input) : Stage<T>("cache", {input}), input_(std::move(input)) {
    if (input_->indexed() && input_->cardinality() >= 0) kept_.resize(static_cast<std::size_t>(input_->cardinality()));
    else if (input_->cardinality() == infinite_cardinality)
      errors::raise<errors::InvalidArgumentError>("cache", "a data set without an end cannot be kept in memory");
  }
  i64 cardinality() const override {
    if (input_->indexed()) return input_->cardinality();
    const std::lock_guard lock(mutex_);
    return all_ ? static_cast<i64>(all_->size()) : input_->cardinality();
  }
  bool indexed() const override { return input_->indexed(); }
  T at(const Key&, i64 index) const override {
    Kept<T>& kept = kept_[static_cast<std::size_t>(index)];
    {
      const std::lock_guard lock(mutex_);
      if (kept.element()) return *kept.element();
    }
    T element = input_->at({}, index);  // not under the lock: several threads compute different elements
    const std::lock_guard lock(mutex_);
    if (!kept.element()) kept.set(element, *this, {});
    return *kept.element();
  }
  std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const override {
    if (indexed()) return open_indexed<T>(*this, run, first);
    return skipped<T>(std::make_unique<Run_>(*this, run), first);
  }

 private:
  using All = std::deque<T>;

  class Run_ final : public Cursor<T> {
   public:
    Run_(const Cache& stage, const Run& run) : stage_(stage) {
      const std::lock_guard lock(stage.mutex_);
      all_ = stage.all_;
      if (!all_) input_ = stage.input_->open({{}, run.budget}, 0);
    }
    bool next(T& out) override {
      if (all_) {
        if (at_ == all_->size()) return false;
        out = (*all_)[at_++];
        return true;
      }
      if (!input_) return false;
      bool more = false;
      try {
        more = input_->next(out);
      } catch (...) {
        whole_ = false, mine_.clear();
        throw;
      }
      if (more && whole_) mine_.push_back(out);
      if (more) return true;
      input_.reset();
      const std::lock_guard lock(stage_.mutex_);
      if (!whole_ || stage_.all_) return false;
      for (const T& element : mine_) stage_.counts().keep(bytes_of(element));
      stage_.all_ = std::make_shared<const All>(std::move(mine_));
      return false;
    }
    i64 skip(i64 n) override {
      if (!all_) return Cursor<T>::skip(n);
      n = std::min(n, static_cast<i64>(all_->size() - at_));
      at_ += static_cast<std::size_t>(n);
      return n;
    }

   private:
    const Cache& stage_;
    std::shared_ptr<const All> all_;
    std::size_t at_ = 0;
    std::unique_ptr<Cursor<T>> input_;
    All mine_;
    bool whole_ = true;  // no element has raised
  };

  StageRef<T> input_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::vector<Kept<T>> kept_;
  mutable std::shared_ptr<const All> all_;
};

}  // namespace TANDEM_NS::data::detail
