// Lambdas of control flow as graphs. For the definitions of control.hpp and while_loop.hpp.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "tandem/graph/control/bodies.hpp"
#include "tandem/graph/control/control.hpp"

namespace TANDEM_NS::control {

// A body with what of the outer trace it captures, which are its last arguments.
struct TracedBody {
  Ref<Graph> graph;
  std::vector<Tensor> captures;
};

TracedBody trace_body(std::string name, std::span<const Spec> arguments, Code code);
/// Reads of Variables that none of the bodies assigns become captures: the read then stands around the control flow,
/// where tapes see it.
void hoist_reads(std::initializer_list<TracedBody*> bodies);
/// The reads that must stay in a body get an input: an argument that stands for the Variable. Its value is of no use,
/// but what flows back to the reads flows on to it, and so to a read around the control flow, where tapes see it.
void pass_in_read_variables(TracedBody& b);
std::vector<Tensor> listed(Tensors tensors);

}  // namespace TANDEM_NS::control
