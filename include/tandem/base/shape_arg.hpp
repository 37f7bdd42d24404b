// ShapeArg: an optional shape among an op's options. It is not a std::optional because {.shape = {2, 3}} would not
// compile then.
#pragma once
#include <concepts>

#include "tandem/base/shape.hpp"

namespace TANDEM_NS {

namespace detail {
/// An optional list T of Entries.
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

/// An optional shape.
using ShapeArg = detail::OptionalArg<Shape, i64>;

}  // namespace TANDEM_NS
