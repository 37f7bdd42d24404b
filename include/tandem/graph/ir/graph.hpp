// Graph: a traced function as ops in program order over numbered values, each produced once. Not here: how it is
// traced (trace.hpp), rewritten (passes.hpp), planned and run (plan.hpp, program.hpp).
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/core/op.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/graph/ir/ids.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/id_map.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

/// One op of a graph. Its outputs are the values first_out, first_out + 1, ...
struct Node {
  /// The layer in whose call the op was applied (Module::InCall): its contents, and what adds its path to an error.
  struct Layer {
    Ref<Opaque> state;  // null: none
    void (*place)(Opaque& state, errors::OpError&) = nullptr;
  };

  const OpDef* op = nullptr;
  Attrs attrs;
  InlinedVector<ValueId, 3> in;
  ValueId first_out = ValueId(0);
  int outputs = 1;
  std::string name;                    // "scope/MatMul_1"; unique in its graph, no effect on semantics
  SourceLocation where;                // the user's source location, if known
  const OpDef* gradient_of = nullptr;  // the op in whose gradient it was applied, if known
  const char* called = nullptr;        // the public function that applied it among other ops, if any
  Layer layer;
};

/// Lazily created object attached to its owner: created once, by the first thread that needs it.
class TANDEM_API MadeOnce {
 public:
  MadeOnce() = default;
  MadeOnce(const MadeOnce&) = delete;
  ~MadeOnce();
  Opaque* get() const { return made_.load(std::memory_order_acquire); }
  /// Keeps the object unless another thread was first; returns the one that is kept.
  TANDEM_LAZY Opaque* keep(Ref<Opaque> made) const;

 private:
  mutable std::atomic<Opaque*> made_{nullptr};
};

/// Ops in program order: an op's inputs are produced by earlier ops. Reads and assignments of Variables are ops too,
/// so effects keep their order. Passes may leave values that no node produces; their numbers are never used again.
class TANDEM_API Graph : public Opaque {
 public:
  const char* kind() const override { return "graph"; }

  ById<NodeId, Node> nodes;
  ById<ValueId, Spec> specs;
  LeanVector<ValueId> arguments;    // each produced by an argument op
  LeanVector<ValueId> outputs;      // duplicates are allowed
  std::vector<Variable> variables;  // the Variables that read_variable and assign_variable refer to
  std::string name = "function";    // of the traced function
  MadeOnce body;                    // its Body (body.hpp), if control flow runs it; not copied

  TANDEM_LAZY Ref<Graph> copy() const;
  const Spec& spec(ValueId value) const { return specs[value]; }
  const Variable& variable(VariableIndex i) const { return variables[i.index()]; }
  /// The id of one of this graph's nodes.
  NodeId id_of(const Node& node) const { return NodeId(&node - nodes.data()); }
  /// Appends an op and returns its first output.
  TANDEM_LAZY ValueId add(const OpDef& op, const Attrs& attrs, Span<const ValueId> in, Span<const Spec> out,
                          std::string name = {}, SourceLocation where = {});
  TANDEM_LAZY ValueId add_argument(const Spec& spec, std::string name = {});
  TANDEM_LAZY ValueId add_constant(const Tensor& value, std::string name = {});
  /// The index of v in `variables`; appends it if it is new.
  TANDEM_LAZY VariableIndex index_of(const Variable& v);

  /// For each value: the node that produces it, if any.
  TANDEM_LAZY ById<ValueId, NodeId> producers() const;
  /// For each value: the number of uses, by inputs of nodes and outputs of the graph.
  TANDEM_LAZY ById<ValueId, int> uses() const;
  /// Whether every dimension of every value is known.
  TANDEM_LAZY bool is_static() const;

 private:
  IdMap indices_;  // of variables: by id, as far as index_of() has seen them
  std::size_t indexed_ = 0;
};

/// Whether the op has side effects: assignments, prints, asserts, control flow with such a body. Such ops are never
/// pruned, merged or moved.
TANDEM_LAZY TANDEM_API bool has_effects(const Node& node);
/// Whether the op may read state: a Variable's value, or anything that a sub-graph reads.
TANDEM_LAZY TANDEM_API bool reads_state(const Node& node);
/// The graphs in a node's attributes (bodies of control flow).
TANDEM_LAZY TANDEM_API InlinedVector<const Graph*, 2> subgraphs(const Node& node);

/// A tensor as an attribute: the value of a constant op.
class TANDEM_API TensorBox final : public Opaque {
 public:
  explicit TensorBox(Tensor t) : value(std::move(t)) {}
  const char* kind() const override { return "tensor"; }
  const Tensor value;
};

namespace rules {
struct ConstantAttrs {
  Ref<TensorBox> value;  // symbolic where only the shape is known and needed
  TANDEM_ATTRS(ConstantAttrs, value);
};
/// The index of an argument, or of a Variable in Graph::variables.
struct PositionAttrs {
  i64 index;
  TANDEM_ATTRS(PositionAttrs, index);
};
}  // namespace rules

/// A read in a body of control flow may have an input that represents the Variable: the read's gradient flows there.
TANDEM_OPS(graph_ops, argument, constant, read_variable, assign_variable)

/// Whether the op is one of these four, whose specs are stored in the graph and not computed by a rule.
TANDEM_LAZY inline bool is_leaf(const Node& n) {
  return n.op == &argument_op || n.op == &constant_op || n.op == &read_variable_op || n.op == &assign_variable_op;
}
/// The argument that an argument op is.
TANDEM_LAZY inline ArgumentIndex argument_index(const Node& n) {
  return ArgumentIndex(n.attrs.get<rules::PositionAttrs>().index);
}
/// The Variable that an op reads or assigns.
TANDEM_LAZY inline VariableIndex variable_index(const Node& n) {
  return VariableIndex(n.attrs.get<rules::PositionAttrs>().index);
}
TANDEM_LAZY inline const Variable& variable_of(const Graph& g, const Node& n) { return g.variable(variable_index(n)); }
/// The value of a constant op; null for other ops.
TANDEM_LAZY TANDEM_API const Tensor* constant_of(const Node& node);

/// Raises InternalError unless each input is produced before its use, each value is produced once, each op's shape
/// rule agrees with the recorded specs, and a constant without data is read only for its shape; checks the graphs
/// that control flow runs as well. Debug builds and tests run it after each pass.
TANDEM_LAZY TANDEM_API void verify(const Graph& graph);
namespace detail {
/// What verify() has seen of a graph's values so far.
struct Verified {
  ById<ValueId, Tensor> known;     // the constant, or a symbol; unset before it is produced
  ById<ValueId, char> lacks_data;  // whether it is a constant of which only the spec is known
  explicit Verified(std::size_t values) : known(values), lacks_data(values) {}
  bool is_made(ValueId v) const { return known.contains(v) && known[v].is_set(); }
  /// Adds the values that a node produces, whose specs are known by now.
  TANDEM_LAZY void add(const Graph& graph, const Node& node);
};
/// verify() for one node whose inputs are produced: raises unless the node matches its op definition; returns the
/// specs of its outputs by its shape rule.
TANDEM_LAZY Specs verified_specs(const Graph& graph, const Node& node, const Verified& values);
}  // namespace detail
/// One line per op: "%3 = matmul(%0, %2) transpose_b=1 : float32[2,4]  # MatMul".
TANDEM_LAZY TANDEM_API std::string to_string(const Graph& graph);
/// The graph in Graphviz's DOT language.
TANDEM_LAZY TANDEM_API std::string to_dot(const Graph& graph);
namespace detail {
/// What distinguishes a node from others of its op, as text: its attributes, its Variable, or its value.
TANDEM_LAZY std::string describe(const Graph& graph, const Node& node);
}  // namespace detail

}  // namespace TANDEM_NS
