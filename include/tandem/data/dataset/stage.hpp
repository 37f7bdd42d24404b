// Stage and Cursor: a transformation of a data set, and one run through what it gives. Behind data/dataset.hpp. Part of
// the component tandem::data.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/data/dataset/element.hpp"
#include "tandem/data/dataset/report.hpp"

namespace TANDEM_NS::data {

/// What cardinality() returns for a data set without an end, and for one whose size is not known before its end, as in
/// TensorFlow.
inline constexpr i64 infinite_cardinality = -1, unknown_cardinality = -2;

namespace detail {

/// The bytes that the stages of one run keep, and how many they may.
class TANDEM_API Budget {
 public:
  explicit Budget(i64 limit) : limit_(limit) {}
  /// throws  errors::ResourceExhaustedError, which names the stage
  void add(const char* stage, i64 bytes);
  void remove(i64 bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  i64 limit_;
  std::atomic<i64> used_ = 0;
};

/// What the stages of a pipeline know of a run: the epoch, which is part of the key of all that is random, and what
/// they may keep.
struct Run {
  i64 epoch = 0;
  std::shared_ptr<Budget> budget = {};
};

/// The elements of an indexed data set that a batch is made of: `count` consecutive ones from `first` on, or, where
/// there is a list, those of these numbers.
struct Rows {
  i64 first = 0, count = 0;
  const i64* list = nullptr;
  i64 operator[](i64 i) const { return list ? list[i] : first + i; }
};

/// A run through the elements of a stage. Used by one thread at a time. After an error, next() goes on with the element
/// behind it.
template <class T>
class Cursor {
 public:
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;
  /// Moves the next element to `out`; false at the end.
  virtual bool next(T& out) = 0;
  /// Passes over n elements; returns how many there were.
  virtual i64 skip(i64 n) {
    T unused;
    for (i64 i = 0; i < n; ++i)
      if (!next(unused)) return i;
    return n;
  }
};

template <Batchable T>
Batched<T> batched_type();
template <class T>
std::nullptr_t batched_type() requires(!Batchable<T>);
/// Batched<T>, or nullptr_t for a type that cannot be batched.
template <class T>
using BatchedOrNone = decltype(batched_type<T>());

/// An immutable transformation, shared by data sets and runs. An indexed stage has elements by number, which any thread
/// may ask for; other stages are streams.
template <class T>
class Stage : public StageInfo {
 public:
  using StageInfo::StageInfo;
  /// The number of elements of an epoch, infinite_cardinality or unknown_cardinality.
  virtual i64 cardinality() const = 0;
  virtual bool indexed() const { return false; }
  /// Element `index` of an epoch, of an indexed stage.
  virtual T at(i64 epoch, i64 index) const {
    (void)epoch, (void)index;
    errors::raise<errors::InternalError>(name(), "elements of a stream have no numbers");
  }
  /// A batch of elements of an indexed stage.
  virtual BatchedOrNone<T> gather(i64 epoch, const Rows& rows) const {
    if constexpr (Batchable<T>) {
      std::vector<T> elements;
      elements.reserve(static_cast<std::size_t>(rows.count));
      for (i64 i = 0; i < rows.count; ++i) elements.push_back(at(epoch, rows[i]));
      return stack_elements<T>(plain_batch, rows.count, [&](i64 i) -> const T& { return elements[std::size_t(i)]; });
    } else {
      (void)epoch, (void)rows;
      return nullptr;
    }
  }
  /// Begins a run at element `first`, which is at most the number of elements where that is known.
  virtual std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const = 0;
};
template <class T>
using StageRef = std::shared_ptr<const Stage<T>>;

/// Opens a run and passes over the first elements, for stages that cannot begin elsewhere.
template <class T>
std::unique_ptr<Cursor<T>> skipped(std::unique_ptr<Cursor<T>> cursor, i64 first) {
  if (first > 0) cursor->skip(first);
  return cursor;
}

}  // namespace detail
}  // namespace TANDEM_NS::data
