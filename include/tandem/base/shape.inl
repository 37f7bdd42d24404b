// Definitions of base/shape.hpp.
#pragma once
#include <ostream>

#include "tandem/base/error.hpp"
#include "tandem/base/shape.hpp"

namespace TANDEM_NS {
[[gnu::cold]] TANDEM_INLINE void raise_rank_above_max(i64 rank) {
  errors::raise<errors::InvalidArgumentError>("shape", "rank " + std::to_string(rank) + " is above the limit of 8");
}
[[gnu::cold]] TANDEM_INLINE void raise_incompatible(const Shape& a, const Shape& b) {
  errors::raise<errors::InvalidArgumentError>(
      "shape", to_string(a) + " and " + to_string(b) + " are not compatible: ranks and known dims must agree");
}
[[gnu::cold]] TANDEM_INLINE void raise_no_axis(const Shape& shape, int axis) {
  const std::string rank = std::to_string(shape.rank());
  errors::raise<errors::InvalidArgumentError>(
      "shape",
      to_string(shape) + " has no axis " + std::to_string(axis) +
          (shape.rank() ? "; axes are -" + rank + " to " + std::to_string(shape.rank() - 1) : "; its rank is 0"));
}
[[gnu::cold]] TANDEM_INLINE std::string to_string(const Shape& shape) {
  std::string r = "(";
  for (int i = 0; i < shape.rank(); ++i) r += (i ? ", " : "") + to_string(shape[i]);
  return r + (shape.rank() == 1 ? ",)" : ")");
}
[[gnu::cold]] TANDEM_INLINE void raise_unknown_dimension() {
  errors::raise<errors::TraceError>(
      "shape",
      "an unknown dimension of a traced function was used as a number. Use shape(x)[axis] for the "
      "size as a tensor: zeros, reshape and other shape arguments, range, Slice and arithmetic accept it. If the size "
      "never changes, declare it with x.set_shape or .input_signature. To test for it: x.shape()[axis] == none");
}
TANDEM_INLINE std::string to_string(Dimension d) { return d.is_known() ? std::to_string(i64{d}) : "None"; }
TANDEM_INLINE std::ostream& operator<<(std::ostream& out, Dimension d) { return out << to_string(d); }
TANDEM_INLINE std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }
TANDEM_INLINE std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }
}  // namespace TANDEM_NS
