// Helpers shared by the interpreter and the planned program to run a node.
#pragma once
#include "tandem/core/cancel.hpp"
#include "tandem/core/profile.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::detail {

// Adds the op in whose gradient the node is.
TANDEM_LAZY inline void name_gradient(errors::OpError& e, const Node& n) {
  if (n.gradient_of) e.set_context("in the gradient of " + display_name(*n.gradient_of));
}
// Adds to an error that the node's kernel raises the node's name and source line, and what the op was a part of.
TANDEM_LAZY inline void name_error(errors::OpError& e, const Node& n) {
  name_op(e, *n.op);
  if (n.called) e.set_op(n.called);
  const std::string line = line_text(n.where);
  e.set_name(line.empty() ? n.name : n.name + " at " + line);
  name_gradient(e, n);
  if (n.layer.state && !e.has_context()) n.layer.place(*n.layer.state, e);
}
TANDEM_LAZY [[gnu::cold, gnu::noinline]] inline void profile_node(const Graph& g, const Node& n, i64 start) {
  InlinedVector<const Spec*, 8> in, out;
  for (ValueId v : n.in) in.push_back(&g.spec(v));
  for (int k = 0; k < n.outputs; ++k) out.push_back(&g.spec(n.first_out + k));
  profile_op({"step", n.op->name, n.name.c_str(), n.where, {in.begin(), in.size()}, {out.begin(), out.size()}}, start);
}
/// Raises before a node if the thread that called, whose innermost scope this is, does not want the call to go on. Not
/// before an assignment, which takes no time: its value may be in the Variable's buffer already (Plan::overwrites).
TANDEM_LAZY [[gnu::noinline]] inline void check_limits(const CallScope& limits, const Graph& g, const Node& n) {
  if (!limits.ends() || n.op == &assign_variable_op) return;
  const std::string line = line_text(n.where);
  limits.check(g.name.c_str(), "before node '" + n.name + "' (" + n.op->name + ")" + (line.empty() ? "" : " at ") +
                                   line + ", " + std::to_string(g.id_of(n).number()) + " of " +
                                   std::to_string(g.nodes.size()) + " nodes done");
}
// With unknown dimensions, a mismatch with the value is found only at run time.
TANDEM_LAZY inline void check_assigned(const Variable& v, const Spec& value) {
  if (!(v.spec() == value))
    errors::raise<errors::InvalidArgumentError>(
        "assign", "variable '" + v.name() + "' is " + to_string(v.spec()) + ", the value is " + to_string(value));
}

/// A program that runs the graph op by op; `why` says why it cannot be planned.
TANDEM_LAZY Ref<Program> make_interpreter(Ref<Graph> graph, std::string why);

}  // namespace TANDEM_NS::detail
