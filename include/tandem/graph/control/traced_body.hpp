// Traces the lambdas of control flow as graphs. For the definitions of control.hpp and while_loop.hpp.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/graph/control/bodies.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::control {

// A body with the values of the outer trace that it captures, which are its last arguments.
struct TracedBody {
  Ref<Graph> graph;
  std::vector<Tensor> captures;
};

TANDEM_LAZY TracedBody trace_body(std::string name, Span<const Spec> arguments, Code code);
/// Turns reads of Variables that none of the bodies assigns into captures: the read then happens outside the control
/// flow, where tapes record it.
TANDEM_LAZY void hoist_reads(std::initializer_list<TracedBody*> bodies);
/// hoist_reads() unless a body runs a host function, which may assign the Variables.
TANDEM_LAZY void hoist_steady_reads(std::initializer_list<TracedBody*> bodies);
/// Gives each read that must stay in a body an input: an argument that represents the Variable. Its value is not
/// used, but the gradient of the reads flows to it, and so to a read outside the control flow, where tapes record
/// it.
TANDEM_LAZY void pass_in_read_variables(TracedBody& b);
TANDEM_LAZY std::vector<Tensor> listed(Tensors tensors);

}  // namespace TANDEM_NS::control
