// GraphDef: a graph as plain data, for programs that look at traces. Not here: text and pictures (graph/ir/graph.hpp),
// files (io::save_graph).
#pragma once
#include <string>
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

/// A graph as plain data: what `as_graph_def` returns.
struct GraphDef {
  struct Node {
    std::string name;                 ///< unique in its graph: "dense/MatMul_1"
    std::string op;                   ///< "matmul"
    std::vector<std::string> inputs;  ///< "dense/MatMul:0", the first output of that node
    std::vector<Spec> outputs;        ///< dtypes and shapes; `none` for sizes that each call has its own of
    std::string attributes;           ///< "transpose_b=1", or the value of a constant of one element
    std::string where;                ///< "model.cpp:12", if known
    std::vector<GraphDef> bodies;     ///< of control flow
  };
  std::string name;
  std::vector<std::string> arguments;  ///< values, as in Node::inputs
  std::vector<Node> nodes;             ///< each behind those whose outputs it takes
  std::vector<std::string> outputs;    ///< values, as in Node::inputs
};
/// Lists a graph's nodes with their ops, inputs, dtypes and shapes, in an order in which they can run; nothing is run.
/// `as_graph_def(f.get_concrete_function(x)->graph())` lists what was traced, `->optimized()` what is left of it.
TANDEM_LAZY TANDEM_API GraphDef as_graph_def(const Graph& graph);
/// The nodes as text, one block each.
TANDEM_LAZY TANDEM_API std::string to_string(const GraphDef& def);

}  // namespace TANDEM_NS
