// What .debug of a function checks: that tracing twice gives one graph, and that its first calls give what eager ones
// do.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tandem/graph/exec/concrete.hpp"

namespace TANDEM_NS {

/// What one run of a function's code gives.
struct FunctionRun {
  std::vector<Tensor> outputs;
  Ref<Opaque> result;
  std::vector<unsigned char> plain;  // what of the result is no tensor
};
/// A function's code without its types.
struct FunctionBody {
  FunctionRun (*call)(const void* self, const Tensor* arguments);
  const void* self;
};

/// Where two traces of one function differ first: the node, its source line, and both values; empty if they do not.
/// What was computed on the host anew for each trace (a counter, a clock, a Variable's value as a number) shows here.
TANDEM_API std::string trace_difference(const Graph& first, const Graph& second);
/// Where two tensors differ: "element [1,2] is 3, not 4 (5 of 12 differ)"; empty if they do not.
///   tolerance  for floating numbers, relative to the largest one that is finite; all others must be equal
TANDEM_API std::string value_difference(const Tensor& expected, const Tensor& actual, double tolerance = 1e-6);

/// Calls a function eagerly, then its graph op by op, then its program, each from the same state of the Variables that
/// the graph speaks of, which stays as it was.
///   plain   what was no tensor in the result when it was traced
///   throws  errors::FailedPreconditionError naming the first node whose value is not the eager one, with its source
///           line and both values, or the result or Variable that differs
TANDEM_API void check_against_eager(ConcreteFunction& function, Inputs arguments, std::span<const unsigned char> plain,
                                    FunctionBody eager);

namespace detail {
/// Changes the value of each Variable while it lives, so that what a trace takes from them on the host shows.
class Perturbed {
 public:
  explicit Perturbed(const Graph& graph);
  Perturbed(const Perturbed&) = delete;
  Perturbed& operator=(const Perturbed&) = delete;
  ~Perturbed();

 private:
  std::vector<std::pair<Variable, Tensor>> before_;
};
}  // namespace detail

}  // namespace TANDEM_NS
