// Options of the reductions, and their overloads with positional axes.
#pragma once
#include "tandem/attrs/reduce.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct ReduceOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = {};         ///< default: all axes; Axes::none() reduces no axis
  bool keepdims = false;  ///< keep the reduced axes with size 1
};

#define TANDEM_AXIS_OVERLOAD(fn) TANDEM_AXES_OVERLOADS(fn, ReduceOptions, axis)

}  // namespace TANDEM_NS
