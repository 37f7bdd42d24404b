// Shape: up to 8 dimensions inline, each a number or unknown (`none`, known only when a traced function is called).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

#include "tandem/base/dimension.hpp"
#include "tandem/base/span.hpp"

namespace TANDEM_NS {

inline constexpr int max_rank = 8;

[[noreturn]] TANDEM_API void raise_rank_above_max(i64 rank);
class Shape;
[[noreturn]] TANDEM_API void raise_incompatible(const Shape& a, const Shape& b);
[[noreturn]] TANDEM_API void raise_no_axis(const Shape& shape, int axis);

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC does not see that rank_ bounds the reads
#endif
/// The sizes of a value's axes, outermost first. Rank 0 is a scalar; a size may be 0.
///   throws  errors::InvalidArgumentError beyond rank 8
class Shape {
 public:
  Shape() {}
  // Copies dim by dim: one wide read of all eight just after narrow writes would stall on store forwarding.
  Shape(const Shape& o) noexcept : rank_(o.rank_) { copy_dims(o); }
  Shape& operator=(const Shape& o) noexcept {
    rank_ = o.rank_;
    copy_dims(o);
    return *this;
  }
  Shape(std::initializer_list<i64> dims) {
    for (i64 d : dims) push_back(d);
  }
  explicit Shape(Span<const i64> dims) {
    for (i64 d : dims) push_back(d);
  }

  int rank() const { return rank_; }
  /// The dimension of an axis in [-rank, rank): shape[-1] is the last. A dimension that is unknown while a function
  /// is traced compares equal to `none`; using it as a number raises (dimension.hpp).
  ///   throws  errors::InvalidArgumentError for an axis out of range
  Dimension operator[](int axis) const {
    const int at = axis < 0 ? axis + rank_ : axis;
    if (at < 0 || at >= rank_) [[unlikely]]
      raise_no_axis(*this, axis);
    return Dimension(dims_[at]);
  }
  /// The same dimension as a number, or `none`. The caller has checked the axis.
  i64 dim(int axis) const { return dims_[axis < 0 ? axis + rank_ : axis]; }
  const i64* begin() const { return dims_; }
  const i64* end() const { return dims_ + rank_; }

  void push_back(i64 d) {
    if (rank_ == max_rank) [[unlikely]]
      raise_rank_above_max(rank_ + 1);
    dims_[rank_++] = d;
  }
  [[deprecated("use push_back, since 0.2")]] void push(i64 d) { push_back(d); }
  void set(int i, i64 d) { dims_[i] = d; }
  void resize(int rank) {
    if (rank > max_rank) [[unlikely]]
      raise_rank_above_max(rank);
    rank_ = static_cast<std::int8_t>(rank);
  }
  void insert(int at, i64 d) {
    push_back(d);
    for (int i = rank_ - 1; i > at; --i) dims_[i] = dims_[i - 1];
    dims_[at] = d;
  }
  void erase(int at) {
    for (int i = at; i + 1 < rank_; ++i) dims_[i] = dims_[i + 1];
    --rank_;
  }

  /// The number of elements; meaningless if a dimension is unknown.
  i64 size() const {
    i64 n = 1;
    for (int i = 0; i < rank_; ++i) n *= dims_[i];
    return n;
  }
  /// The number of elements; raises if a dimension is unknown.
  i64 known_size() const {
    i64 n = 1;
    for (i64 d : *this) n *= Dimension(d);
    return n;
  }
  bool is_fully_defined() const {
    for (i64 d : *this)
      if (d == none) return false;
    return true;
  }
  /// True if the ranks are equal and each pair of dimensions is equal or has an unknown one.
  bool is_compatible_with(const Shape& o) const {
    if (rank_ != o.rank_) return false;
    for (int i = 0; i < rank_; ++i)
      if (dims_[i] != o.dims_[i] && dims_[i] != none && o.dims_[i] != none) return false;
    return true;
  }
  /// Merges two shapes: an unknown dimension is replaced by the other shape's.
  ///   throws  errors::InvalidArgumentError with both shapes if they are not compatible
  Shape merge_with(const Shape& o) const {
    if (!is_compatible_with(o)) [[unlikely]]
      raise_incompatible(*this, o);
    Shape r = *this;
    for (int i = 0; i < rank_; ++i)
      if (dims_[i] == none) r.dims_[i] = o.dims_[i];
    return r;
  }
  /// The dimensions as a list, unknown ones as `none`.
  std::vector<i64> as_list() const { return {begin(), end()}; }

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a.dims_[i] != b.dims_[i]) return false;
    return true;
  }

 private:
  [[gnu::always_inline]] void copy_dims(const Shape& o) {
#ifndef __CUDACC__  // nvcc does not recognize the pragma
#pragma GCC unroll 8
#endif
    for (int i = 0; i < max_rank; ++i) {
      if (i >= rank_) break;
      dims_[i] = o.dims_[i];
    }
  }

  i64 dims_[max_rank];
  std::int8_t rank_ = 0;
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

using TensorShape = Shape;

namespace detail {
/// "[2,None,4]": the dimensions after a dtype (spec.hpp).
inline std::string dims_text(const Shape& s) {
  std::string r = "[";
  for (int i = 0; i < s.rank(); ++i) r += (i ? "," : "") + to_string(s[i]);
  return r + "]";
}
}  // namespace detail
/// "(2, None)", "(3,)", "()": a shape in TensorFlow's format, as it is streamed and as errors and printed tensors have
/// it. A dtype with a shape is "float32[2,None]" (spec.hpp).
TANDEM_API std::string to_string(const Shape& shape);
/// Streams a shape as to_string writes it.
TANDEM_API std::ostream& operator<<(std::ostream& out, const Shape& shape);
/// The dtype's name: "float32".
inline std::string to_string(DType dtype) { return name(dtype); }
/// Streams a dtype's name.
TANDEM_API std::ostream& operator<<(std::ostream& out, DType dtype);

}  // namespace TANDEM_NS
