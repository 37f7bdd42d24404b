// Graph: what a traced function does, as ops in program order over numbered values, each made once. Not here: how it
// is traced (trace.hpp), rewritten (passes.hpp), planned and run (plan.hpp, program.hpp).
#pragma once
#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/id_map.hpp"
#include "tandem/core/op.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS {

/// One op of a graph. Its outputs are the values first_out, first_out + 1, ...
struct Node {
  const OpDef* op = nullptr;
  Attrs attrs;
  Small<int, 3> in;  // values
  int first_out = 0, outputs = 1;
  std::string name;  // "scope/MatMul_1"; unique in its graph, decides nothing
  Loc where;         // the user's line, where it is known
};

/// Something that is made of the object it stands in, once, by the thread that needs it first.
class TANDEM_API MadeOnce {
 public:
  MadeOnce() = default;
  MadeOnce(const MadeOnce&) = delete;
  ~MadeOnce();
  Opaque* get() const { return made_.load(std::memory_order_acquire); }
  /// Keeps it, unless another thread was faster; returns what is kept.
  Opaque* keep(Ref<Opaque> made) const;

 private:
  mutable std::atomic<Opaque*> made_{nullptr};
};

/// Ops in program order: an op's inputs are made by ops before it. Reads and assignments of Variables are ops too, so
/// effects keep their order. Passes may leave values that nobody makes; their numbers are never used again.
class TANDEM_API Graph : public Opaque {
 public:
  const char* kind() const override { return "graph"; }

  std::vector<Node> nodes;
  std::vector<Spec> specs;          // by value
  std::vector<int> arguments;       // values, each made by an argument op
  std::vector<int> outputs;         // values; one may occur several times
  std::vector<Variable> variables;  // what read_variable and assign_variable speak of
  std::string name = "function";    // of the function that was traced
  MadeOnce body;                    // its Body (body.hpp), where control flow runs it; not copied

  Ref<Graph> copy() const;
  const Spec& spec(int value) const { return specs[static_cast<std::size_t>(value)]; }
  /// Appends an op and returns its first output.
  int add(const OpDef& op, const Attrs& attrs, std::span<const int> in, std::span<const Spec> out,
          std::string name = {}, Loc where = {});
  int add_argument(const Spec& spec, std::string name = {});
  int add_constant(const Tensor& value, std::string name = {});
  /// The place of v in `variables`, which it joins if it is new.
  int index_of(const Variable& v);

  /// By value: the node that makes it, or -1.
  std::vector<int> makers() const;
  /// By value: how many inputs of nodes and outputs of the graph use it.
  std::vector<int> uses() const;
  /// Whether every dim of every value is known.
  bool is_static() const;

 private:
  IdMap places_;  // of variables: by their ids, as far as index_of() has seen them
  std::size_t placed_ = 0;
};

/// Whether running the op can be seen other than by its outputs: assignments, prints, asserts, control flow with such
/// a body. Never pruned, merged or moved.
TANDEM_API bool has_effects(const Node& node);
/// The same for what the op may read: a Variable's value, or anything that a sub-graph reads.
TANDEM_API bool reads_state(const Node& node);
/// The graphs that a node's attributes carry (bodies of control flow).
TANDEM_API Small<const Graph*, 2> subgraphs(const Node& node);

/// A tensor as an attribute: the value of a constant op.
class TANDEM_API TensorBox final : public Opaque {
 public:
  explicit TensorBox(Tensor t) : value(std::move(t)) {}
  const char* kind() const override { return "tensor"; }
  const Tensor value;
};

struct ConstantAttrs {
  Ref<TensorBox> value;  // symbolic where only the shape is known and needed
  static constexpr auto fields = field_list(field("value", &ConstantAttrs::value));
};
/// An argument's place, or a Variable's place in Graph::variables.
struct IndexAttrs {
  i64 index;
  static constexpr auto fields = field_list(field("index", &IndexAttrs::index));
};

/// A read in a body of control flow may have an input, which stands for the Variable: gradients to the read go there.
extern TANDEM_API const OpDef argument_op, constant_op, read_variable_op, assign_variable_op;
inline constexpr const OpDef* graph_ops[] = {&argument_op, &constant_op, &read_variable_op, &assign_variable_op};

/// Whether the op is one of these four, whose specs are data of the graph, not the result of a rule.
inline bool is_leaf(const Node& n) {
  return n.op == &argument_op || n.op == &constant_op || n.op == &read_variable_op || n.op == &assign_variable_op;
}
/// The value of a constant op; null for other ops.
TANDEM_API const Tensor* constant_of(const Node& node);

/// Raises InternalError unless each input is made before its use, each value once, each op's shape rule agrees with the
/// recorded specs, and a constant without data is read for its shape alone; the same of the graphs that control flow
/// runs. Passes are checked by it in debug builds and in tests.
TANDEM_API void verify(const Graph& graph);
namespace detail {
/// What verify() has seen of a graph's values so far.
struct Verified {
  std::vector<Tensor> known;     // by value: the constant, or a symbol; unset before it is made
  std::vector<char> lacks_data;  // by value: a constant of which there is only a spec
  explicit Verified(std::size_t values) : known(values), lacks_data(values) {}
  bool is_made(int v) const { return v >= 0 && static_cast<std::size_t>(v) < known.size() && known[at(v)].is_set(); }
  /// Enters the values that a node makes, whose specs are known by now.
  void add(const Graph& graph, const Node& node);
  static std::size_t at(int v) { return static_cast<std::size_t>(v); }
};
/// verify() for one node whose inputs are made: raises unless it is what its row says; returns the specs of its outputs
/// by its rule.
Specs verified_specs(const Graph& graph, const Node& node, const Verified& values);
}  // namespace detail
/// One line an op: "%3 = matmul(%0, %2) transpose_b=1 : float32[2,4]  # MatMul".
TANDEM_API std::string to_string(const Graph& graph);
/// For Graphviz.
TANDEM_API std::string to_dot(const Graph& graph);

}  // namespace TANDEM_NS
