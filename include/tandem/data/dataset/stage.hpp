// Stage and Cursor: a transformation of a data set, and one run through what it gives. Behind data/dataset.hpp. Part of
// the component tandem::data.
#pragma once
#include <algorithm>
#include <limits>
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

/// The error of a memory_limit, which ignore_errors passes on.
class TANDEM_API MemoryLimitError : public errors::ResourceExhaustedError {
 public:
  using ResourceExhaustedError::ResourceExhaustedError;
};

/// The bytes that the stages of one run keep, and how many they may.
class TANDEM_API Budget {
 public:
  explicit Budget(i64 limit) : limit_(limit) {}
  /// Whether so many bytes more are within the limit; if so they count from now on.
  bool try_add(i64 bytes);
  /// throws  MemoryLimitError, which names the stage
  void add(const char* stage, i64 bytes);
  /// Counts them whatever the limit is.
  void force(i64 bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void remove(i64 bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  i64 limit() const { return limit_; }

 private:
  i64 limit_;
  std::atomic<i64> used_ = 0;
};

/// The lesser of two limits, of which 0 is none.
inline i64 least_limit(i64 a, i64 b) { return a == 0 || (b != 0 && b < a) ? b : a; }

/// A number that depends on all bits of two (the finalizer of SplitMix64).
inline u64 mix(u64 a, u64 b) {
  u64 x = a + 0x9e3779b97f4a7c15u * (b + 1);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// Of what random numbers are a function, beside seeds and the number of the element: the epoch, and the place in the
/// pipeline, which tells stages of equal depth apart.
struct Key {
  i64 epoch = 0;
  u64 place = 0;
  bool nested = false;  // the epoch is that of a data set that a function has returned, not the loop's

  /// For input number `i` of a stage that has several.
  Key input(u64 i) const { return i == 0 ? *this : Key{epoch, mix(place, i), nested}; }
  /// For the data set that a function has made of element number `i`.
  Key inner(i64 i) const {
    const u64 n = mix(static_cast<u64>(epoch), static_cast<u64>(i));
    return {static_cast<i64>(n >> 1), mix(place, n), true};
  }
  friend bool operator==(const Key&, const Key&) = default;
};
/// What the stages of a pipeline know of a run: its key, and what they may keep.
struct Run {
  Key key = {};
  std::shared_ptr<Budget> budget = {};

  Run input(u64 i) const { return {key.input(i), budget}; }
  Run inner(i64 i) const { return {key.inner(i), budget}; }
};

/// The elements of an indexed data set that a batch is made of: `count` consecutive ones from `first` on, or, where
/// there is a list, those of these numbers.
struct Rows {
  i64 first = 0, count = 0;
  const i64* list = nullptr;
  i64 operator[](i64 i) const { return list ? list[i] : first + i; }
};

template <Batchable T>
Batched<T> batched_type();
template <class T>
std::nullptr_t batched_type() requires(!Batchable<T>);
/// Batched<T>, or nullptr_t for a type that cannot be batched.
template <class T>
using BatchedOrNone = decltype(batched_type<T>());

/// A run through the elements of a stage. Used by one thread at a time. An error counts as an element: next() goes on
/// behind it, and where a run is, is the number of calls so far.
template <class T>
class Cursor {
 public:
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;
  /// Moves the next element to `out`; false at the end.
  virtual bool next(T& out) = 0;
  /// Moves the next n elements to `out` as a batch, where the run has them in one. Otherwise false, and they are left
  /// to next(); so are fewer than n, and those that raise.
  virtual bool next_rows(i64 n, BatchedOrNone<T>& out) {
    (void)n, (void)out;
    return false;
  }
  /// Passes over n elements; returns how many there were.
  virtual i64 skip(i64 n) {
    T unused;
    for (i64 i = 0; i < n; ++i) try {
        if (!next(unused)) return i;
      } catch (...) {  // an element that raises is passed over like others
      }
    return n;
  }
};

/// Behind the numbers of all elements, also of a data set without an end. Numbers that would be larger are this one.
inline constexpr i64 end_index = std::numeric_limits<i64>::max();
/// The sum and the product of numbers that are not negative, at most end_index.
inline i64 saturating_add(i64 a, i64 b) {
  i64 r = 0;
  return __builtin_add_overflow(a, b, &r) ? end_index : r;
}
inline i64 saturating_multiply(i64 a, i64 b) {
  i64 r = 0;
  return __builtin_mul_overflow(a, b, &r) ? end_index : r;
}
/// Returns `input`, the number of an element of the input that element `index` of a stage reads.
///   throws  errors::OutOfRangeError if it is end_index
TANDEM_API i64 checked_index(const char* op, i64 index, i64 input);

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
  virtual T at(const Key& key, i64 index) const {
    (void)key, (void)index;
    errors::raise<errors::InternalError>(name(), "elements of a stream have no numbers");
  }
  /// A batch of elements of an indexed stage.
  virtual BatchedOrNone<T> gather(const Key& key, const Rows& rows) const {
    if constexpr (Batchable<T>) {
      Elements<T> elements;
      for (i64 i = 0; i < rows.count; ++i) elements.push_back(at(key, rows[i]));
      return stacked(elements);
    } else {
      (void)key, (void)rows;
      return nullptr;
    }
  }
  /// Begins a run at element `first`, which is at most the number of elements where that is known.
  virtual std::unique_ptr<Cursor<T>> open(const Run& run, i64 first) const = 0;
};
template <class T>
using StageRef = std::shared_ptr<const Stage<T>>;

/// A run that has ended.
template <class T>
class EndedCursor final : public Cursor<T> {
 public:
  bool next(T&) override { return false; }
  i64 skip(i64) override { return 0; }
};

/// Opens an input at an element that may lie behind its end.
template <class T>
std::unique_ptr<Cursor<T>> open_at(const Stage<T>& input, const Run& run, i64 index) {
  if (index == end_index) return std::make_unique<EndedCursor<T>>();
  const i64 n = input.cardinality();
  return input.open(run, n >= 0 ? std::min(index, n) : index);
}

/// Opens a run and passes over the first elements, for stages that cannot begin elsewhere.
template <class T>
std::unique_ptr<Cursor<T>> skipped(std::unique_ptr<Cursor<T>> cursor, i64 first) {
  if (first > 0) cursor->skip(first);
  return cursor;
}

}  // namespace detail
}  // namespace TANDEM_NS::data
