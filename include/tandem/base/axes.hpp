// Axes: the axis argument of ops, with a separate 'not given' state, and its validation against a rank.
#pragma once
#include <concepts>
#include <initializer_list>
#include <string>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/base/shape.hpp"

namespace TANDEM_NS {

namespace detail {
// The types accepted as an axis: integers. A bool, a float, a Tensor or a pointer does not convert.
template <class I>
concept AxisNumber = std::integral<I> && !std::same_as<I, bool>;
}  // namespace detail

/// A list of axes, each in [-rank, rank). Never constructed from a Tensor or a float. `Axes::none()` is the empty
/// list; a default-constructed Axes means 'not given', which reductions read as all axes.
class Axes {
 public:
  constexpr Axes() = default;
  template <detail::AxisNumber I>
  constexpr Axes(I axis) : count_(0) {
    push_back(static_cast<i64>(axis));
  }
  constexpr Axes(std::initializer_list<int> axes) : count_(0) {
    for (int a : axes) push_back(a);
  }
  template <detail::AxisNumber I>
  constexpr Axes(const std::vector<I>& axes) : count_(0) {
    for (I a : axes) push_back(static_cast<i64>(a));
  }
  static constexpr Axes none() {
    Axes r;
    r.count_ = 0;
    return r;
  }

  constexpr bool given() const { return count_ >= 0; }
  constexpr int size() const { return count_ < 0 ? 0 : count_; }
  constexpr int operator[](int i) const { return axis_[i]; }
  constexpr void push_back(i64 axis) {
    if (count_ < 0) count_ = 0;
    if (count_ == max_rank || axis < -128 || axis > 127)
      errors::raise<errors::InvalidArgumentError>("axes", "more than 8 axes, or an axis out of range for every rank");
    axis_[count_++] = static_cast<std::int8_t>(axis);
  }
  [[deprecated("use push_back, since 0.2")]] constexpr void push(i64 axis) { push_back(axis); }

  /// The axes as a bit mask: bit i is set for axis i of a value of this rank. All axes if none were given.
  ///   throws  errors::InvalidArgumentError, in the op's name, for an axis that is out of range or repeated
  std::uint32_t mask(const char* op, int rank) const {
    if (!given()) return (1u << rank) - 1;
    std::uint32_t m = 0;
    for (int i = 0; i < count_; ++i) {
      const int a = axis_[i];
      if (a < -rank || a >= rank) raise_range(op, a, rank);
      const std::uint32_t bit = 1u << (a < 0 ? a + rank : a);
      if (m & bit) errors::raise<errors::InvalidArgumentError>(op, "axis " + std::to_string(a) + " is given twice");
      m |= bit;
    }
    return m;
  }
  [[noreturn, gnu::cold]] static void raise_range(const char* op, i64 axis, int rank) {
    errors::raise<errors::InvalidArgumentError>(
        op, "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank) +
                (rank ? " (valid: " + std::to_string(-rank) + " to " + std::to_string(rank - 1) + ")"
                      : std::string(" (a scalar has no axes)")));
  }
  friend constexpr bool operator==(const Axes&, const Axes&) = default;

 private:
  std::int8_t axis_[max_rank] = {};
  std::int8_t count_ = -1;
};

/// Normalizes one axis of a value of this rank to [0, rank).
///   throws  errors::InvalidArgumentError, in the op's name, outside [-rank, rank)
inline int resolve_axis(const char* op, i64 axis, int rank) {
  if (axis < -rank || axis >= rank) Axes::raise_range(op, axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// Overloads of `Tensor fn(const Tensor& x, Options o)` for positional axes: fn(x, 1), fn(x, {0, 2}), fn(x, axes)
// with a vector, each optionally followed by options. The braces' element type is deduced, so {} and {.axis = 1}
// remain options.
#define TANDEM_ONE_AXIS_OVERLOAD(fn, Options, field)                       \
  template <::tandem::detail::AxisNumber I>                                \
  ::tandem::Tensor fn(const ::tandem::Tensor& x, I axis, Options o = {}) { \
    o.field = static_cast<decltype(o.field)>(axis);                        \
    return fn(x, o);                                                       \
  }
#define TANDEM_AXES_OVERLOADS(fn, Options, field)                          \
  template <::tandem::detail::AxisNumber I>                                \
  ::tandem::Tensor fn(const ::tandem::Tensor& x, I axis, Options o = {}) { \
    o.field = axis;                                                        \
    return fn(x, o);                                                       \
  }                                                                        \
  TANDEM_AXIS_LIST_OVERLOADS(fn, Options, field)
// The same without fn(x, 1).
#define TANDEM_AXIS_LIST_OVERLOADS(fn, Options, field)                                            \
  template <::tandem::detail::AxisNumber I>                                                       \
  ::tandem::Tensor fn(const ::tandem::Tensor& x, std::initializer_list<I> axes, Options o = {}) { \
    o.field = ::tandem::Axes::none();                                                             \
    for (I a : axes) o.field.push_back(static_cast<::tandem::i64>(a));                            \
    return fn(x, o);                                                                              \
  }                                                                                               \
  template <::tandem::detail::AxisNumber I>                                                       \
  ::tandem::Tensor fn(const ::tandem::Tensor& x, const std::vector<I>& axes, Options o = {}) {    \
    o.field = ::tandem::Axes(axes);                                                               \
    return fn(x, o);                                                                              \
  }

}  // namespace TANDEM_NS
