// The ops behind cond and the loops: rows whose attributes are graphs, which they run with programs of their own. Not
// here: how lambdas become such graphs (control.hpp, while_loop.hpp, scan.hpp).
//
// Gradients: a cond's is a cond, a loop's a loop that runs the other way, so that they have gradients again. What a
// gradient needs of the forward run is saved by it: recording() makes the same op with more outputs, a loop's one row
// an iteration.
#pragma once
#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS {

/// Inputs: the condition, then the arguments of both branches. Outputs: the results, then what the first branch
/// returns beyond them, then what the second one does; of the branch not taken these have undefined values.
struct CondAttrs {
  Ref<Graph> then, otherwise;
  i64 results;
  static constexpr auto fields = field_list(field("then", &CondAttrs::then), field("otherwise", &CondAttrs::otherwise),
                                            field("results", &CondAttrs::results));
};
/// Inputs: the most iterations there may be (int64 scalar), the carried values, tensors of which each iteration gets
/// one row, the condition's captures, the body's. Outputs: the carried values at the end, the body's other results,
/// stacked, and the number of iterations.
/// Rows whose shapes may differ are ragged: they lie one behind the other in a tensor of rank 1, and a table (int64
/// [rows, rank]) has their shapes. Among the inputs tables follow the rows, among the outputs the stacked results.
struct LoopAttrs {
  Ref<Graph> condition;  // (carried, captures) -> bool; without any output: always true
  Ref<Graph> body;       // (carried, rows, captures) -> (carried, other results)
  i64 carried, rows;
  bool reverse;                             // the last row first; without a condition only
  std::string ragged_rows, ragged_results;  // one letter each: 'r' for ragged; where there is none, not
  static constexpr auto fields = field_list(
      field("condition", &LoopAttrs::condition), field("body", &LoopAttrs::body), field("carried", &LoopAttrs::carried),
      field("rows", &LoopAttrs::rows), field("reverse", &LoopAttrs::reverse),
      field("ragged_rows", &LoopAttrs::ragged_rows), field("ragged_results", &LoopAttrs::ragged_results));
};

extern TANDEM_API const OpDef cond_op, loop_op;
inline constexpr const OpDef* control_ops[] = {&cond_op, &loop_op};

/// The attributes with which tapes record the op: it then returns all that its gradients of any order need. Attributes
/// that this function made stay as they are.
TANDEM_API Attrs recording(const OpDef& op, const Attrs& attrs);
/// apply() of a control-flow op, recording where a tape watches; its first `results` outputs.
TANDEM_API Tensors apply_control(const OpDef& op, Inputs in, const Attrs& attrs, std::size_t results,
                                 const OpOptions& options = no_options);

}  // namespace TANDEM_NS
