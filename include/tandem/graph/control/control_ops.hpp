// The ops behind cond, the loops and custom gradients in traces: op definitions whose attributes are graphs. Cond and
// loops run them with their own programs. Not here: how lambdas become such graphs (control.hpp, while_loop.hpp,
// scan.hpp).
//
// Gradients: the gradient of a cond is a cond, that of a loop is a loop that runs in the opposite direction, so both
// are differentiable again. The forward op saves what the gradient needs: recording() makes the same op with more
// outputs; for a loop these have one row per iteration.
#pragma once
#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

namespace rules {
/// Inputs: the condition, then the arguments of both branches. Outputs: the results, then the additional outputs of
/// the first branch, then those of the second. The additional outputs of the branch that did not run have undefined
/// values.
struct CondAttrs {
  Ref<Graph> then, otherwise;
  i64 results;
  TANDEM_ATTRS(CondAttrs, then, otherwise, results);
};
/// Inputs: the maximum number of iterations (int64 scalar), the carried values, the tensors of which each iteration
/// gets one row, the condition's captures, the body's captures. Outputs: the final carried values, the body's other
/// results, stacked, and the number of iterations.
/// Rows whose shapes may differ are ragged: they are stored consecutively in a tensor of rank 1, and a table (int64
/// [rows, rank]) holds their shapes. Among the inputs the tables follow the rows, among the outputs they follow the
/// stacked results.
/// Sums are carried values that start as 0, to which each iteration adds something that does not depend on them. They
/// are added in blocks, so that the rounding error does not grow with the number of iterations (loop_sums.hpp): an
/// iteration gets the sum of its block.
struct LoopAttrs {
  Ref<Graph> condition;  // (carried, captures) -> bool; without any output: always true
  Ref<Graph> body;       // (carried, rows, captures) -> (carried, other results)
  i64 carried, rows;
  bool reverse;                             // iterates from the last row; only without a condition
  std::string ragged_rows, ragged_results;  // one character each: 'r' for ragged; a missing one means not ragged
  OptionalText sums = {};                   // one character for each carried value: 's' for a sum
  TANDEM_ATTRS(LoopAttrs, condition, body, carried, rows, reverse, ragged_rows, ragged_results, sums);
};

/// A custom gradient in a trace: its backward function is traced too, because the tensors that it captured exist only
/// while the function is traced. Inputs: the value, of which the output is a view; the inputs that it was computed
/// from; the backward graph's captures.
struct TracedGradientAttrs {
  Ref<Graph> backward;  // (gradient of the value, captures) -> the gradients that are set
  i64 inputs;
  std::string set;  // by input: 's' if the backward function gives a gradient
  TANDEM_ATTRS(TracedGradientAttrs, backward, inputs, set);
};
}  // namespace rules

TANDEM_OPS(control_ops, cond, loop, traced_gradient)

/// Attributes with which tapes record the op: it then returns everything that its gradients of any order need.
/// Attributes made by this function are returned unchanged.
TANDEM_LAZY TANDEM_API Attrs recording(const OpDef& op, const Attrs& attrs);
/// apply() of a control-flow op, recording where a tape watches; returns its first `results` outputs.
TANDEM_LAZY TANDEM_API Tensors apply_control(const OpDef& op, Inputs in, const Attrs& attrs, std::size_t results,
                                             const OpOptions& options = no_options);

}  // namespace TANDEM_NS
