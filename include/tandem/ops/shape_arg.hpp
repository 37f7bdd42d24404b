// ShapeArg: an optional shape among an op's options. Not std::optional, for which {.shape = {2, 3}} would not compile.
#pragma once
#include "tandem/base/shape.hpp"

namespace TANDEM_NS {

/// A shape, or 'not given'.
class ShapeArg {
 public:
  ShapeArg() = default;
  ShapeArg(const Shape& s) : shape_(s), given_(true) {}
  ShapeArg(std::initializer_list<i64> dims) : shape_(dims), given_(true) {}
  const Shape* get() const { return given_ ? &shape_ : nullptr; }

 private:
  Shape shape_;
  bool given_ = false;
};

}  // namespace TANDEM_NS
