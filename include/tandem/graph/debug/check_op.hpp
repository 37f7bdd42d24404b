// check_op: the checks that the library's own ops pass, for an op or a function of one's own. For tests.
#pragma once
#include <string>
#include <vector>

#include "tandem/autodiff/check.hpp"
#include "tandem/base/span.hpp"
#include "tandem/core/op.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::test {

struct CheckOpOptions {
  double tolerance = 1e-6;            ///< of values, relative to the largest
  double gradient_tolerance = 0;      ///< of gradients against differences, relative to the largest, at least 1;
                                      ///< 0: 1e-5, 1e-3 if an input is float32
  double delta = 0;                   ///< of the differences; 0: 1e-5, 1/1024 if an input is float32
  int gradients = 2;                  ///< orders of gradients to check: 0, 1 or 2
  bool unknown_dimensions = true;     ///< also traces f for inputs of unknown sizes
  Span<const OpDef* const> ops = {};  ///< all ops that f applies: its graph is then saved and loaded too
};

namespace detail {
TANDEM_LAZY TANDEM_API std::vector<std::string> check_op(Function f, const std::vector<Tensor>& x,
                                                         const CheckOpOptions& options);
}  // namespace detail

/// Checks f at x and returns what is wrong, one text for each failure; empty if nothing is.
///
/// Compared with the eager value: a second eager call, a traced call op by op and as a planned program, with all
/// passes, with unknown dimensions, and after saving and loading its graph. Gradients of the eager and of the traced
/// call are compared with central differences, in first and second order, for inputs of float32 and float64; inputs of
/// half precision and complex ones are reported as not checked. Inputs with an axis of size 0 must give a result or
/// raise an errors::OpError.
///
///   f  takes the list, or its tensors as arguments, and returns one tensor
///   x  use float64 where gradients are checked: differences of float32 have about three digits
///
///   CHECK(test::check_op([](const Tensor& x) { return my_op(x); }, {x}, {.ops = ops}).empty());
template <class F>
std::vector<std::string> check_op(const F& f, const std::vector<Tensor>& x, const CheckOpOptions& options = {}) {
  const detail::Callable<F> callable = f;
  return detail::check_op(detail::wrap(callable), x, options);
}

}  // namespace TANDEM_NS::test
