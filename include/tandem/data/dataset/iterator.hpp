// Iterator and Epoch: passes through a data set. Behind data/dataset.hpp. Part of the component tandem::data.
#pragma once
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "tandem/data/dataset/stage.hpp"

namespace TANDEM_NS::data {

namespace detail {
TANDEM_API void check_iteration();
TANDEM_API void check_position(i64 epoch, i64 first, i64 cardinality);
}  // namespace detail

/// Where an iteration is: the number of its epoch, and of the next element in it. This is all that is needed to go on
/// in another process.
struct Position {
  i64 epoch = 0, index = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

/// One pass through a data set. Owns what it needs of the data set, and its threads, which end with it.
template <class T>
class Iterator {
 public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::input_iterator_tag;

  Iterator(detail::StageRef<T> stage, Position position, i64 memory_limit)
      : stage_(std::move(stage)), position_(position) {
    detail::check_iteration();
    detail::check_position(position.epoch, position.index, stage_->cardinality());
    detail::Run run{{position.epoch}, {}};
    if (memory_limit > 0) run.budget = std::make_shared<detail::Budget>(memory_limit);
    cursor_ = detail::open_at(*stage_, run, position.index);
  }
  Iterator(Iterator&&) = default;
  Iterator& operator=(Iterator&& o) noexcept {
    cursor_ = std::move(o.cursor_);  // before the stage that it reads
    stage_ = std::move(o.stage_);
    element_ = std::move(o.element_);
    position_ = o.position_;
    return *this;
  }

  /// The next element, or none at the end.
  ///   throws  what a function of the pipeline throws for this element; the next call goes on behind it
  std::optional<T> next() {
    std::optional<T> r(std::in_place);
    if (!read(*r)) r.reset();
    return r;
  }
  /// The position of the element that next() gives. In a range-for loop: of the element behind the present one.
  Position position() const { return position_; }

  // For range-for loops: begin() gives the first element.
  T& operator*() { return *element_; }
  Iterator& operator++() {
    if (!element_) element_.emplace();
    if (!read(*element_)) element_.reset();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& i, std::default_sentinel_t) { return !i.element_; }

 private:
  bool read(T& to) {
    detail::check_iteration();
    const i64 index = position_.index;
    position_.index = detail::saturating_add(index, 1);  // also where this element raises
    if (cursor_ && cursor_->next(to)) {
      detail::StageCounts& counts = stage_->counts();  // its threads, if it has some, have counted it
      if (counts.threads.load(std::memory_order_relaxed) == 0) counts.elements.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    position_.index = index;
    cursor_.reset();
    return false;
  }

  detail::StageRef<T> stage_;
  std::unique_ptr<detail::Cursor<T>> cursor_;
  std::optional<T> element_;
  Position position_;
};

/// An epoch, or the rest of one, to iterate over.
template <class T>
class Epoch {
 public:
  Epoch(detail::StageRef<T> stage, Position position, i64 memory_limit)
      : stage_(std::move(stage)), position_(position), memory_limit_(memory_limit) {
    detail::check_position(position.epoch, position.index, stage_->cardinality());
  }
  Iterator<T> begin() const {
    Iterator<T> r(stage_, position_, memory_limit_);
    return std::move(++r);
  }
  std::default_sentinel_t end() const { return {}; }

 private:
  detail::StageRef<T> stage_;
  Position position_;
  i64 memory_limit_;
};

}  // namespace TANDEM_NS::data
