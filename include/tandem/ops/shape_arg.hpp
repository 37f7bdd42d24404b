// ShapeArg: an optional shape among an op's options. Not std::optional, for which {.shape = {2, 3}} would not compile.
#pragma once
#include <concepts>

#include "tandem/base/shape.hpp"

namespace TANDEM_NS {

namespace detail {
/// A list T of Entries, or 'not given'.
template <class T, class Entry>
class OptionalArg {
 public:
  OptionalArg() = default;
  template <std::convertible_to<T> U>
  OptionalArg(const U& list) : list_(list), given_(true) {}
  OptionalArg(std::initializer_list<Entry> entries) : list_(entries), given_(true) {}
  const T* get() const { return given_ ? &list_ : nullptr; }

 private:
  T list_;
  bool given_ = false;
};
}  // namespace detail

/// A shape, or 'not given'.
using ShapeArg = detail::OptionalArg<Shape, i64>;

}  // namespace TANDEM_NS
