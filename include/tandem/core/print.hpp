// The printed form of a tensor: tandem.Tensor(VALUES, shape=(2, 3), dtype=float32). Traced tensors print their name,
// unset ones the reason. Not here: printing as an op of a graph (ops/debug/print).
#pragma once
#include <string>

#include "tandem/core/kernel.hpp"
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

struct FormatOptions {
  i64 threshold = 1000;  ///< the largest number of elements that are all written
  i64 edge = 3;          ///< above that, so many at both ends of each axis
};

/// Formats the values only, "[[1, 2], [3, 4]]" with a line for each row; floats in the shortest form that reads back
/// the same.
///   throws  errors::TraceError for a traced tensor
TANDEM_API std::string values_to_string(const Tensor& t, FormatOptions options = {});
/// Formats a kernel's operand, whose data must be in host memory.
TANDEM_API std::string values_to_string(const Operand& x, FormatOptions options = {});
/// Formats one element of a kernel's operand, by its flat index; strings are quoted.
TANDEM_API std::string element_to_string(const Operand& x, i64 index);

/// Formats the index of the element with this flat index: "[1,0,2]".
TANDEM_API std::string index_to_string(const Shape& shape, i64 flat);

namespace detail {
/// Parts of the printed form of Tensors and Variables: the values, after a line break if there are rows; shape and
/// dtype.
std::string values_text(const Tensor& t);
std::string spec_text(const Spec& s);
}  // namespace detail

}  // namespace TANDEM_NS
