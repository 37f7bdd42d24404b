// Kept: an element in the buffer of a stage. Behind data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <exception>
#include <optional>
#include <utility>

#include "tandem/data/dataset/stage.hpp"

namespace TANDEM_NS::data::detail {

/// An element, whose bytes are counted as long as it is here, or the error that it has raised. The run must outlive it.
template <class T>
class Kept {
 public:
  Kept() = default;
  explicit Kept(std::exception_ptr error) : error_(std::move(error)) {}
  Kept(Kept&& o) noexcept { take(o); }
  Kept& operator=(Kept&& o) noexcept {
    if (this == &o) return *this;
    release();
    take(o);
    return *this;
  }
  ~Kept() { release(); }

  /// throws  MemoryLimitError if the run's budget is used up
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
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    out = std::move(*element_);
    release();
  }
  const std::optional<T>& element() const { return element_; }

 private:
  void release() {
    if (bytes_ > 0) counts_->release(bytes_);
    if (bytes_ > 0 && budget_) budget_->remove(bytes_);
    bytes_ = 0;
    element_.reset();
  }
  void take(Kept& o) noexcept {
    element_ = std::move(o.element_), error_ = std::move(o.error_);
    bytes_ = std::exchange(o.bytes_, 0), counts_ = o.counts_, budget_ = o.budget_;
    o.element_.reset();
  }

  std::optional<T> element_;
  std::exception_ptr error_;
  i64 bytes_ = 0;
  StageCounts* counts_ = nullptr;
  Budget* budget_ = nullptr;
};

}  // namespace TANDEM_NS::data::detail
