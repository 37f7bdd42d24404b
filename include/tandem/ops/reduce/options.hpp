// Options of the reductions, and their short form f(x, axis).
#pragma once
#include <concepts>

#include "tandem/core/apply.hpp"
#include "tandem/ops/reduce/attrs.hpp"

namespace TANDEM_NS {

struct ReduceOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = {};         ///< default: all axes; Axes::none() is no axis at all
  bool keepdims = false;  ///< the reduced axes stay, with size 1
};

// f(x, 1), f(x, -1): a tensor, a float or a bool is no axis.
#define TANDEM_AXIS_OVERLOAD(fn)                                                 \
  template <std::integral I>                                                     \
    requires(!std::same_as<I, bool>)                                             \
  Tensor fn(const Tensor& x, I axis, OpOptions o = {}) {                         \
    return fn(x, ReduceOptions{.name = o.name, .where = o.where, .axis = axis}); \
  }

}  // namespace TANDEM_NS
