// Checks done by a function's .debug option: tracing twice gives the same graph, and its first calls agree with
// eager calls.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

/// The result of one run of a function's code.
struct FunctionRun {
  std::vector<Tensor> outputs;
  Ref<Opaque> result;
  std::vector<unsigned char> plain;  // the non-tensor part of the result
};
/// A function's code, type-erased.
struct FunctionBody {
  FunctionRun (*call)(const void* self, const Tensor* arguments);
  const void* self;
};

/// Describes the first difference between two traces of a function: the node, its source line, and both values;
/// empty if there is none. Values computed on the host anew for each trace (a counter, a clock, a Variable's value
/// as a number) are found this way.
TANDEM_LAZY TANDEM_API std::string trace_difference(const Graph& first, const Graph& second);
/// Describes where two tensors differ: "element [1,2] is 3, not 4 (5 of 12 differ)"; empty if they do not.
///   tolerance  for floating numbers, relative to the largest finite value; all other dtypes must be equal
TANDEM_LAZY TANDEM_API std::string value_difference(const Tensor& expected, const Tensor& actual,
                                                    double tolerance = 1e-6);

/// Calls a function eagerly, then runs its graph op by op, then its program, each from the same state of the
/// Variables that the graph refers to. That state is restored afterwards.
///   plain   the non-tensor part of the result when it was traced
///   throws  errors::FailedPreconditionError naming the first node whose value is not the eager one, with its source
///           line and both values, or the result or Variable that differs
TANDEM_LAZY TANDEM_API void check_against_eager(ConcreteFunction& function, Inputs arguments,
                                                Span<const unsigned char> plain, FunctionBody eager);

namespace detail {
/// Changes the value of each Variable for as long as it lives, to reveal values that a trace reads from them on the
/// host.
class Perturbed {
 public:
  TANDEM_LAZY explicit Perturbed(const Graph& graph);
  Perturbed(const Perturbed&) = delete;
  Perturbed& operator=(const Perturbed&) = delete;
  ~Perturbed();

 private:
  LeanVector<std::pair<Variable, Tensor>> before_;
};
}  // namespace detail

}  // namespace TANDEM_NS
